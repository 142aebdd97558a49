package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// The recording that is measured: a million terms of ten thousand primitives.
const (
	scaleLanes = 10_000
	scaleDays  = 30
)

// BenchmarkScale measures the questions of the screens. Making the recording takes half a
// minute; -bench=Scale/lane and the like measure one.
func BenchmarkScale(b *testing.B) {
	o := Options{Path: b.TempDir() + "/state/history.db", Ours: true}
	w, err := Begin(b.Context(), o, history.Run{Span: history.Span{From: t0}})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	terms, events := fill(b, w)
	end := t0.Add(scaleDays * 24 * h)
	info, err := os.Stat(o.Path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d terms, %d events, %d MB", terms, events, info.Size()>>20)
	s := NewReader(o.Path)
	defer s.Close()
	month := history.Span{From: t0, To: end}
	var visible []sources.Ref
	for i := range 45 {
		visible = append(visible, scaleRef(i*97))
	}
	var everyLane []sources.Ref
	for i := range scaleLanes {
		everyLane = append(everyLane, scaleRef(i))
	}
	monthly, err := objective.Parse("*", "99.95 % led over 30 days")
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"45 lanes of 30 days", func() error { _, err := s.Lanes(b.Context(), visible, month); return err }},
		{"lane of a day", func() error {
			_, err := s.Lanes(b.Context(), visible[:1], history.Span{From: end.Add(-48 * h), To: end.Add(-24 * h)})
			return err
		}},
		{"all lanes of a day", func() error {
			_, err := s.Lanes(b.Context(), nil, history.Span{From: end.Add(-24 * h), To: end})
			return err
		}},
		{"totals of 30 days", func() error { _, err := s.Totals(b.Context(), month); return err }},
		{"objectives of 30 days", func() error {
			_, _, err := objective.Judge(b.Context(), s, objective.Input{Objectives: []objective.Objective{monthly}, Now: end})
			return err
		}},
		{"totals of any 29 days", func() error {
			_, err := s.Totals(b.Context(), history.Span{From: t0.Add(7*h + 13*m), To: end.Add(-5 * h)})
			return err
		}},
		{"totals of a quarter of an hour", func() error {
			_, err := s.Totals(b.Context(), history.Span{From: end.Add(-15 * m), To: end})
			return err
		}},
		{"100 events", func() error {
			_, err := s.Events(b.Context(), end.Add(-100*h), 50, 50, history.EventFilter{})
			return err
		}},
		{"10 notes", func() error {
			_, err := s.Events(b.Context(), end, 10, 0, history.EventFilter{Kinds: []sources.EventKind{sources.EventNote, sources.EventAction}})
			return err
		}},
		{"the change before of any of all lanes", func() error {
			_, err := s.Events(b.Context(), end.Add(-100*h), 1, 0, history.EventFilter{Refs: everyLane, Kinds: []sources.EventKind{sources.EventAcquired, sources.EventReleased}})
			return err
		}},
		{"100 events of one", func() error {
			_, err := s.Events(b.Context(), end.Add(-100*h), 50, 50, history.EventFilter{Refs: visible[:1]})
			return err
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			began := cpu(b)
			for b.Loop() {
				if err := q.ask(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-began)/float64(b.N)/1e6, "cpu-ms/op")
		})
	}
}

// cpu is what this process has used, which a busy machine does not change as it does the time.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func scaleRef(i int) sources.Ref {
	return sources.Ref{Source: "leases", Space: "0", Name: fmt.Sprintf("team-%d/service-%d", i%40, i)}
}

// fill writes the recording: 1 lane in 10 has 300 terms, 1 in 100 has 2,000, the others 56; 4
// in 10 are followed by a gap.
func fill(b *testing.B, w *Writer) (terms, events int) {
	r := rand.New(rand.NewPCG(1, 1))
	length := scaleDays * 24 * h
	seq := uint64(0)
	hours := make([]history.Batch, scaleDays*24+1)
	tell := func(e sources.Event) {
		hour := &hours[e.At.Sub(t0)/h]
		hour.Events = append(hour.Events, e)
		seq++
	}
	for i := range scaleLanes {
		each := 56
		switch {
		case i%100 == 7:
			each = 2000
		case i%10 == 3:
			each = 300
		}
		ref := scaleRef(i)
		mean := length / time.Duration(each)
		for from := time.Duration(r.Int64N(int64(mean))); from < length; terms++ {
			to := from + mean/2 + time.Duration(r.Int64N(int64(mean)))
			one := term(fmt.Sprintf("host-%d:%d", r.IntN(4), 4000+i), from, min(to, length-sec))
			one.Owner.Label = fmt.Sprintf("host-%d", i%200)
			hour := &hours[one.End.At.Sub(t0)/h]
			hour.Lanes = append(hour.Lanes, history.LaneChange{Ref: ref, Kind: sources.KindElection, Scope: "leases:6379", Terms: []sources.Term{one}})
			tell(sources.Event{At: one.Start.At, Kind: sources.EventAcquired, RefKind: sources.KindElection, How: sources.Seen, Ref: ref, Owner: one.Owner, Last: one.Owner})
			if from = to; r.IntN(10) < 4 {
				from += 100*time.Millisecond + time.Duration(r.Int64N(int64(10*m)))
				tell(sources.Event{At: one.End.At, Kind: sources.EventReleased, RefKind: sources.KindElection, Cause: sources.CauseReleased, How: sources.Seen, Ref: ref, Previous: one.Owner, Held: one.Held()})
			}
		}
	}
	seq = 0
	for n := range hours {
		hour := &hours[n]
		slices.SortFunc(hour.Events, func(a, b sources.Event) int { return a.At.Compare(b.At) })
		for i := range hour.Events {
			seq++
			hour.Events[i].Seq = seq
		}
		hour.Span = span(time.Duration(n)*h, time.Duration(n+1)*h)
		if n == 0 {
			hour.Keyframe, hour.Inputs, hour.Count = []byte("key"), []byte("inputs"), 1
		}
		if err := w.Write(hour); err != nil {
			b.Fatal(err)
		}
	}
	return terms, int(seq)
}

// parameters is how many a statement has, which may be numbered.
func parameters(text string) int {
	for n := 4; n > 0; n-- {
		if strings.Contains(text, fmt.Sprint("?", n)) {
			return n
		}
	}
	return strings.Count(text, "?")
}

// TestQuestionsAreAnsweredByTheirIndices keeps a change of the planner from reading a whole table.
func TestQuestionsAreAnsweredByTheirIndices(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, m))
	for text, want := range map[string]string{
		rowsOfOne:    "SEARCH term USING PRIMARY KEY (lane=? AND start>? AND start<?)",
		rowsOfMany:   "SEARCH term USING PRIMARY KEY (lane=? AND start<?)",
		eventsBefore: "SEARCH event USING INDEX event_at (at<?)",
		eventsAfter:  "SEARCH event USING INDEX event_at (at>?)",
		kindBefore:   "SEARCH event USING INDEX event_kind (kind=? AND at<?)",
		kindAfter:    "SEARCH event USING INDEX event_kind (kind=? AND at>?)",
		laneBefore:   "SEARCH event USING INDEX event_lane (lane=? AND at<?)",
		laneAfter:    "SEARCH event USING INDEX event_lane (lane=? AND at>?)",
	} {
		plan := ""
		err := w.Query(func(ctx context.Context, q *tables.Query) error {
			var id, parent, unused int64
			var line string
			q.Each(ctx, "explain query plan "+text, []any{1, 2, 3, 4}[:parameters(text)], []any{&id, &parent, &unused, &line}, func() { plan += line + "\n" })
			return q.Err
		})
		if err != nil || !strings.Contains(plan, want) || strings.Contains(plan, "SCAN term") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis answered by\n%s, %v\nwant %s", text, plan, err, want)
		}
	}
}
