package sqlite

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// BenchmarkThin thins three minutes of 10,000 leaders that renew each ten seconds, in groups as the
// recorder writes them, and goes to instants before and after that.
func BenchmarkThin(b *testing.B) {
	o := Options{Path: b.TempDir() + "/state/history.db", Ours: true}
	w, err := Begin(b.Context(), o, history.Run{Span: history.Span{From: t0}})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	const seconds = 180
	recordRenewals(b, w, seconds)
	s := NewReader(o.Path)
	defer s.Close()
	show := func(what string) {
		var bytes int64
		if err := s.ask(b.Context(), func(q *query) error {
			q.each(b.Context(), "select (select sum(length(body)) from gop) + (select coalesce(sum(length(body)), 0) from chunk) + (select coalesce(sum(length(body)), 0) from tail)", nil, []any{&bytes}, func() {})
			return q.err
		}); err != nil {
			b.Fatal(err)
		}
		began := cpu(b)
		const seeks = 5
		for i := range seeks {
			seek(b, s, t0.Add(time.Duration(i+1)*seconds/(seeks+1)*time.Second))
		}
		b.Logf("%s: %d kB with the first listing; going to an instant takes %v of CPU", what, bytes>>10, (cpu(b)-began)/seeks)
	}
	show("whole")
	var steps int
	var longest, all time.Duration
	for did := true; did; steps++ {
		began := cpu(b)
		if did, err = w.thin(t0.Add(h), 0); err != nil {
			b.Fatal(err)
		}
		longest, all = max(longest, cpu(b)-began), all+cpu(b)-began
	}
	show("thin")
	b.Logf("%d steps, the longest took %v of CPU; %v of CPU for each 20,000 inputs: %.2f %% of a core", steps, longest, all*20/seconds, 100*all.Seconds()/seconds)
}

// recordRenewals writes so many seconds.
func recordRenewals(b *testing.B, w *Writer, seconds int) {
	b.Helper()
	const rows, every = 10_000, time.Millisecond
	random := rand.New(rand.NewPCG(1, 1))
	limits := sources.DefaultThresholds()
	r, e := sources.NewReplayer(sources.HubOptions{Events: 1}), sources.NewEncoder(sources.EncoderOptions{})
	var seq uint64
	var group *history.Batch
	add := func(at time.Duration, in sources.Input) {
		seq++
		in.Seq, in.At = seq, sources.Instant{Wall: after(at), Mono: at}
		if group == nil {
			k := r.Hub().Keyframe()
			group = &history.Batch{Keyframe: e.Keyframe(nil, k), Seq: [2]uint64{k.Seq()}, Span: history.Span{From: after(at)}}
		}
		group.Inputs, group.Count, group.Span.To = e.Input(group.Inputs, &in), group.Count+1, after(at)
		if err := r.Apply(in); err != nil {
			b.Fatal(err)
		}
		if group.Count == 20_000 {
			if err := w.Write(group); err != nil {
				b.Fatal(err)
			}
			group = nil
		}
	}
	leader := func(i int, at time.Duration) *sources.Primitive {
		asked := at - time.Duration(random.IntN(1e6))
		ends := asked + 15*time.Second - time.Duration(random.IntN(5e6))
		return &sources.Primitive{Ref: ref(fmt.Sprintf("team-%d:leader:service-%d", i%40, i)), Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: 1, At: after(at),
			Owners: []sources.Owner{{ID: fmt.Sprintf("host-%d:%d", i%200, i), Label: fmt.Sprintf("host-%d", i%200), Fence: 1, Lease: 15 * time.Second,
				Expires: sources.StampBetween(after(ends-time.Millisecond), after(ends), sources.Told)}}}
	}
	all := sources.Change{Relists: true, Synced: true, Alive: []string{""}, At: after(0)}
	for i := range rows {
		all.Set = append(all.Set, leader(i, 0))
	}
	add(0, sources.Input{Kind: sources.InputStarted, Thresholds: &limits})
	add(0, sources.Input{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "leases", Type: "redis"}}})
	add(0, sources.Input{Kind: sources.InputChange, Source: "leases", Change: all})
	for n := 1; n <= seconds*int(time.Second/every); n++ {
		at := time.Duration(n)*every + time.Duration(random.IntN(int(every)))
		add(at, sources.Input{Kind: sources.InputChange, Source: "leases", Change: sources.Change{Alive: []string{""}, At: after(at), After: after(at - every), Set: []*sources.Primitive{leader(n%rows, at)}}})
		if n%100 == 0 {
			add(at, sources.Input{Kind: sources.InputPublished})
		}
	}
}

// seek makes the state at an instant.
func seek(b *testing.B, s *Reader, at time.Time) {
	b.Helper()
	c, err := s.Cursor(b.Context(), 0, at)
	if err != nil {
		b.Fatal(err)
	}
	var r *sources.Replayer
	for {
		p, err := c.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if p.Keyframe != nil {
			r = sources.NewReplayerAt(p.Keyframe, sources.HubOptions{})
		}
		for _, in := range p.Inputs {
			if in.At.Wall.After(at) {
				return
			}
			if err := r.Apply(in); err != nil {
				b.Fatal(err)
			}
		}
		if p.Empty() {
			return
		}
	}
}
