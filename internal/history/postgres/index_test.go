package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// TestLanesAndTotalsAreThoseOfAFile writes the same to a file and to a store: two days, most of which are in blocks, with
// terms that began before any day that has rows, terms whose cause is told late, some of them when they are in a block,
// and a clock that was set back.
func TestLanesAndTotalsAreThoseOfAFile(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	w := begun(t, o, 0)
	file := sqlite.Options{Path: t.TempDir() + "/state/history.db", Ours: true}
	f, err := sqlite.Begin(t.Context(), file, history.Run{Span: history.Span{From: storetest.T0}, Host: "here", PID: 1, Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, seed))
	const lanes, batches = 60, 48
	var refs []sources.Ref
	var all []randomLane
	for i := range lanes {
		refs, all = append(refs, storetest.Ref(fmt.Sprint("lane ", i))), append(all, randomLane{Rand: r, number: i})
	}
	for n := range batches {
		b := storetest.BatchOf(time.Duration(n)*h, time.Duration(n+1)*h)
		for i := range all {
			if c := all[i].change(n); i%10 != 1 || n <= batches/3 { // the last terms of these are in an old block
				c.Ref = refs[i]
				b.Lanes = append(b.Lanes, c)
			}
		}
		if err := f.Write(b); err != nil {
			t.Fatal(err)
		}
		storetest.Write(t, w, b)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil { // a run that is silent for long counts as ended
		t.Fatal(err)
	}
	inStore, inFile := NewReader(o), sqlite.NewReader(file.Path)
	defer inStore.Close()
	defer inFile.Close()
	for n := range 60 {
		from := time.Duration(r.Int64N(int64(50*h))) - h
		span := storetest.Span(from, from+time.Duration(1+r.Int64N(int64(30*h))))
		first := r.IntN(lanes)
		some := refs[first : first+1+r.IntN(lanes-first)]
		got, err := inStore.Lanes(t.Context(), some, span)
		if err != nil {
			t.Fatal(err)
		}
		want, err := inFile.Lanes(t.Context(), some, span)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if !all[first+i].odd() && (!storetest.Equal(got[i].Terms, want[i].Terms) || (got[i].Before == nil) != (want[i].Before == nil) || got[i].Before != nil && !storetest.Equal(*got[i].Before, *want[i].Before)) {
				t.Fatalf("seed %d, %v to %v: the store has of %s\n%+v, before %+v\nthe file has\n%+v, before %+v", seed, span.From, span.To, some[i].Name, got[i].Terms, got[i].Before, want[i].Terms, want[i].Before)
			}
		}
		if n%10 == 0 {
			sameTotals(t, fmt.Sprintf("seed %d, the store", seed), inStore, span)
			sameTotals(t, fmt.Sprintf("seed %d, the file", seed), inFile, span)
		}
	}
}

// randomLane is a lane with random terms.
type randomLane struct {
	*rand.Rand
	number  int
	running *sources.Term // nil: nobody owns it
	ended   []sources.Term
}

// odd reports whether the terms of the lane do not come in order. The last term before a window is not always found then.
func (l *randomLane) odd() bool { return l.number%5 == 0 }

// change returns what happens in the hour n.
func (l *randomLane) change(n int) history.LaneChange {
	c := history.LaneChange{Kind: sources.KindMutex + sources.Kind(l.number%2), Scope: "s"}
	if l.number%10 == 9 {
		c.Kind = sources.KindSemaphore
	}
	if l.odd() && len(l.ended) > 0 && l.IntN(20) == 0 {
		one := l.ended[l.IntN(len(l.ended))]
		one.Cause, one.End = sources.CauseEvicted, storetest.Seen(one.End.At.Sub(storetest.T0)-time.Second)
		c.Terms = append(c.Terms, one)
	}
	at := time.Duration(n) * h
	if l.odd() && l.IntN(40) == 0 {
		at -= 20 * m
	}
	for range l.IntN(12) {
		at += time.Duration(1 + l.Int64N(int64(5*m)))
		if l.running != nil {
			one := *l.running
			one.End, one.Cause, one.How = storetest.Seen(at), sources.CauseReleased, sources.Inferred
			c.Terms, l.ended = append(c.Terms, one), append(l.ended, one)
			if l.running = nil; l.IntN(4) == 0 {
				one.Cause, one.Every = sources.CauseExpired, time.Duration(l.IntN(1000))
				c.Terms = append(c.Terms, one)
			}
			continue
		}
		one := storetest.Term(fmt.Sprintf("host-%d:\\%d", l.IntN(4), l.number), at, 0)
		if one.Program = sources.Program(l.IntN(3)); l.IntN(9) == 0 {
			one.Start = sources.StampBetween(storetest.After(at-time.Duration(l.IntN(1000))), storetest.After(at), sources.Told)
		}
		if n == 0 {
			one.Start = sources.Stamp{At: storetest.After(-40 * day), How: sources.Told}
		}
		l.running = &one
		c.Terms = append(c.Terms, one)
	}
	return c
}

// sameTotals compares the sums of all lanes with those of their terms.
func sameTotals(t *testing.T, what string, r history.Reader, span history.Span) {
	t.Helper()
	totals, err := r.Totals(t.Context(), span)
	if err != nil {
		t.Fatal(err)
	}
	lanes, err := r.Lanes(t.Context(), nil, span)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[sources.Ref]lane.Sum{}
	for i := range lanes {
		l := &lanes[i]
		tally, changes := lane.NewTally(span, l.Since, l.Dark), 0
		if l.Before != nil {
			tally.Add(l.Before)
		}
		for i := range l.Terms {
			tally.Add(&l.Terms[i])
			if start := l.Terms[i].Start; start.Happened() && !start.At.Before(span.From) && start.At.Before(span.To) {
				changes++
			}
		}
		if sums[l.Ref] = tally.Sum(); l.Kind == sources.KindSemaphore {
			sums[l.Ref] = lane.Sum{Changes: changes}
		}
	}
	for _, got := range totals {
		want := sums[got.Ref]
		if want.Owned, want.Unseen = 0, got.Unseen; got.Sum != want {
			t.Fatalf("%s, %v to %v: the total of %s is %+v, its terms have %+v", what, span.From, span.To, got.Ref.Name, got.Sum, want)
		}
	}
}
