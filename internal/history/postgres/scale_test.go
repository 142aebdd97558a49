package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/history/tables"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// The store that is measured has a month of primitives that have a million terms a day.
const (
	scaleLanes  = 50_000
	scaleWindow = 3 * m // the time after which the Writer makes blocks at this pace
)

// scaleDays is the length of the recording; COORDTOP_BENCH_DAYS=30 is the size that `coordtop help team` names.
func scaleDays() int {
	n, err := strconv.Atoi(os.Getenv("COORDTOP_BENCH_DAYS"))
	if err != nil {
		return 1
	}
	return n
}

// BenchmarkStoreScale measures the questions of the screens. COORDTOP_BENCH_STORE names a folder for the server that
// stays, so that a second run need not fill it again.
func BenchmarkStoreScale(b *testing.B) {
	server, err := localserver.StartPostgres(b.Context(), localserver.PostgresOptions{Dir: os.Getenv("COORDTOP_BENCH_STORE"),
		Config: []string{"shared_buffers = 1GB", "fsync = off", "synchronous_commit = off", "full_page_writes = off", "wal_level = minimal", "max_wal_senders = 0", "max_wal_size = 2GB"}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = server.Stop(context.Background()) }()
	o := Options{Address: server.URL()}
	r := NewReader(o)
	defer r.Close()
	runs, err := r.Runs(b.Context())
	if errors.Is(err, history.ErrNothing) {
		fillStore(b, o, time.Now().UTC().Truncate(time.Hour).Add(-time.Duration(scaleDays())*day))
		runs, err = r.Runs(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	all := runs[0].Span
	var visible []sources.Ref
	for i := range 45 {
		visible = append(visible, scaleRef(i*977))
	}
	for _, q := range []struct {
		name string
		ask  func() (int, error)
	}{
		{"45 lanes of all days", func() (int, error) { return terms(r.Lanes(b.Context(), visible, all)) }},
		{"45 lanes of a day", func() (int, error) {
			return terms(r.Lanes(b.Context(), visible, history.Span{From: all.To.Add(-day), To: all.To}))
		}},
		{"45 lanes of an hour", func() (int, error) {
			return terms(r.Lanes(b.Context(), visible, history.Span{From: all.To.Add(-h), To: all.To}))
		}},
		{"100 events", func() (int, error) {
			e, err := r.Events(b.Context(), all.To.Add(-10*h), 50, 50, history.EventFilter{})
			return len(e), err
		}},
		{"100 events of one", func() (int, error) {
			e, err := r.Events(b.Context(), all.To.Add(-10*h), 50, 50, history.EventFilter{Refs: visible[:1]})
			return len(e), err
		}},
		{"owners of all at an instant", func() (int, error) {
			at := all.To.Add(-10 * h)
			return terms(r.Lanes(b.Context(), nil, history.Span{From: at, To: at.Add(1)}))
		}},
		{"totals of an hour", func() (int, error) {
			t, err := r.Totals(b.Context(), history.Span{From: all.To.Add(-h), To: all.To})
			return len(t), err
		}},
		{"totals of all days", func() (int, error) { t, err := r.Totals(b.Context(), all); return len(t), err }},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				n, err := q.ask()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n), "found")
			}
		})
	}
}

func terms(lanes []history.Lane, err error) (n int, _ error) {
	for i := range lanes {
		n += len(lanes[i].Terms)
	}
	return n, err
}

func scaleRef(i int) sources.Ref {
	return sources.Ref{Source: fmt.Sprintf("source-%d", i%200), Space: "0", Name: fmt.Sprintf("team-%d/service-%d", i%40, i)}
}

// scaleMean is the mean time of a term: 1 lane in 100 has 400 a day, 1 in 10 has 60, the others 11.
func scaleMean(i int) time.Duration {
	switch {
	case i%100 == 7:
		return day / 400
	case i%10 == 3:
		return day / 60
	}
	return day / 11
}

// fillStore writes the recording as the Writer would have, in blocks.
func fillStore(b *testing.B, o Options, t0 time.Time) {
	began := time.Now()
	w, err := Begin(b.Context(), o, history.Run{Span: history.Span{From: t0, To: t0}, Host: "here"})
	if err != nil {
		b.Fatal(err)
	}
	windows := scaleDays() * int(day/scaleWindow)
	due := make([][]int32, windows+1) // the lanes whose terms end in a window
	type state struct {
		from, to time.Duration
		owner    int
	}
	r := rand.New(rand.NewPCG(1, 1))
	lanes := make([]state, scaleLanes)
	first := storetest.BatchOf(0, 0)
	first.Span = history.Span{From: t0, To: t0.Add(sec)}
	for i := range lanes {
		lanes[i].to = time.Duration(r.Int64N(int64(scaleMean(i))))
		due[lanes[i].to/scaleWindow] = append(due[lanes[i].to/scaleWindow], int32(i))
		first.Lanes = append(first.Lanes, history.LaneChange{Ref: scaleRef(i), Kind: sources.KindElection, Scope: fmt.Sprintf("source-%d", i%200)})
	}
	if err := w.Write(first); err != nil {
		b.Fatal(err)
	}
	total, seq := 0, uint64(0)
	copies, err := o.connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer copies.Close(context.Background())
	made := map[string]bool{}
	for n := range windows {
		var ended []tape.TermFact
		var events []tape.EventFact
		until := time.Duration(n+1) * scaleWindow
		for _, i := range due[n] {
			s, mean := &lanes[i], scaleMean(int(i))
			for s.to < until {
				f := tape.TermFact{Lane: uint64(i) + 1, Run: 1, Term: sources.Term{Owner: sources.OwnerRef{ID: fmt.Sprintf("host-%d:%d", s.owner, 4000+i), Label: fmt.Sprintf("host-%d", i%200)},
					Start: stampAt(t0, s.from), End: stampAt(t0, s.to), Cause: sources.CauseReleased, How: sources.Inferred, Hue: uint8(s.owner)}}
				ended = append(ended, f)
				if s.from = s.to; r.IntN(10) < 4 {
					seq++
					s.from += 100*time.Millisecond + time.Duration(r.Int64N(int64(10*m)))
					events = append(events, tape.EventFact{Lane: f.Lane, Run: 1, Event: sources.Event{Seq: seq, At: f.End.At, Kind: sources.EventReleased, RefKind: sources.KindElection, Cause: sources.CauseReleased, How: sources.Seen, Previous: f.Owner, Held: f.Held()}})
				}
				seq++
				s.to, s.owner = s.from+mean/2+time.Duration(r.Int64N(int64(mean))), r.IntN(4)
				events = append(events, tape.EventFact{Lane: f.Lane, Run: 1, Event: sources.Event{Seq: seq, At: t0.Add(s.from), Kind: sources.EventAcquired, RefKind: sources.KindElection, How: sources.Seen, Owner: f.Owner, Last: f.Owner}})
			}
			next := min(int(s.to/scaleWindow), windows)
			due[next] = append(due[next], i)
		}
		due[n], total = nil, total+len(ended)
		copyTerms(b, w, copies, made, ended)
		slices.SortFunc(ended, func(x, y tape.TermFact) int {
			return cmp.Or(cmp.Compare(x.Lane, y.Lane), x.Start.At.Compare(y.Start.At))
		})
		slices.SortStableFunc(events, func(x, y tape.EventFact) int { return cmp.Compare(x.Lane, y.Lane) })
		err := w.Tx(func(t *tables.Tx) error { writeBlocks(t, ended, events); return t.Err })
		if err != nil {
			b.Fatal(err)
		}
	}
	attachCopies(b, copies, made)
	last := storetest.BatchOf(0, 0)
	last.Span = history.Span{From: t0.Add(time.Duration(windows) * scaleWindow), To: t0.Add(time.Duration(windows)*scaleWindow + sec)}
	if err := errors.Join(w.Write(last), w.Close()); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d terms and %d events of %d days in %v", total, seq, scaleDays(), time.Since(began))
}

func stampAt(t0 time.Time, d time.Duration) sources.Stamp {
	return sources.Stamp{At: t0.Add(d), How: sources.Seen}
}

// copyTerms stores terms as rows, faster than the Writer.
func copyTerms(b *testing.B, w *Writer, conn *pgconn.PgConn, made map[string]bool, terms []tape.TermFact) {
	b.Helper()
	days := map[string]*bytes.Buffer{}
	for i := range terms {
		f := &terms[i]
		name := f.Start.At.Format(dayFormat)
		if days[name] == nil {
			days[name] = &bytes.Buffer{}
		}
		rest := *f
		rest.Lane, rest.Owner.ID, rest.Owner.Label = 0, "", ""
		fmt.Fprintf(days[name], "%d\t%s\t%d\t%s\t%s\t0\t%s\tseen\tseen\t0\t0\treleased\t1\t\\\\x%x\n", f.Lane, f.Start.At.Format("2006-01-02T15:04:05.999999Z"), hashed(f.Owner.ID), f.Owner.ID, f.Owner.Label,
			f.End.At.Format("2006-01-02T15:04:05.999999Z"), w.encoder.Terms(nil, []tape.TermFact{rest}))
	}
	for name, rows := range days {
		if !made[name] {
			made[name] = true
			if _, err := conn.Exec(b.Context(), fmt.Sprintf("create table coordtop.copied_%s (like coordtop.term)", name)).ReadAll(); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := conn.CopyFrom(b.Context(), rows, "copy coordtop.copied_"+name+" from stdin"); err != nil {
			b.Fatal(err)
		}
	}
}

// writeBlocks cuts terms and events as the Writer does.
func writeBlocks(t *tables.Tx, ended []tape.TermFact, events []tape.EventFact) {
	const each = 4000
	for len(ended)+len(events) > 0 {
		k, l := 0, 0
		for k+l < each && (k < len(ended) || l < len(events)) {
			lane := ^uint64(0)
			if k < len(ended) {
				lane = ended[k].Lane
			}
			if l < len(events) {
				lane = min(lane, events[l].Lane)
			}
			for ; k < len(ended) && ended[k].Lane == lane; k++ {
			}
			for ; l < len(events) && events[l].Lane == lane; l++ {
			}
		}
		t.WriteBlock(ended[:k], events[:l])
		ended, events = ended[k:], events[l:]
	}
}

func attachCopies(b *testing.B, copies *pgconn.PgConn, made map[string]bool) {
	b.Helper()
	for name := range made {
		from, err := time.Parse(dayFormat, name)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := copies.Exec(b.Context(), fmt.Sprintf("set search_path = coordtop; drop table if exists term_%[1]s; alter table copied_%[1]s rename to term_%[1]s; alter table term_%[1]s add primary key(lane, start, key); create index on term_%[1]s(until); analyze term_%[1]s; alter table term attach partition term_%[1]s for values from ('%[2]s') to ('%[3]s')",
			name, from.Format(time.RFC3339), from.Add(day).Format(time.RFC3339))).ReadAll(); err != nil {
			b.Fatal(err)
		}
	}
}
