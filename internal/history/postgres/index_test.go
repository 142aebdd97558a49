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
)

// TestLanesAreThoseOfAFile writes the same to a file and to a store: two days, most of which are in blocks, with terms
// that began before any day that has rows, and terms whose cause is told late.
func TestLanesAreThoseOfAFile(t *testing.T) {
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
	running := map[int]sources.Term{}
	for i := range lanes {
		refs = append(refs, storetest.Ref(fmt.Sprint("lane ", i)))
	}
	for n := range batches {
		from := time.Duration(n) * h
		b := storetest.BatchOf(from, from+h)
		for i := range lanes {
			c := history.LaneChange{Ref: refs[i], Kind: sources.KindMutex + sources.Kind(i%2), Scope: "s"}
			at := from
			for range r.IntN(12) {
				at += time.Duration(1 + r.Int64N(int64(5*m)))
				if one, runs := running[i]; runs {
					one.End, one.Cause, one.How = storetest.Seen(at), sources.CauseReleased, sources.Inferred
					c.Terms = append(c.Terms, one)
					if delete(running, i); r.IntN(4) == 0 {
						one.Cause, one.Every = sources.CauseExpired, time.Duration(r.IntN(1000))
						c.Terms = append(c.Terms, one)
					}
					continue
				}
				one := storetest.Term(fmt.Sprintf("host-%d:\\%d", r.IntN(4), i), at, 0)
				if one.Program = sources.Program(r.IntN(3)); r.IntN(9) == 0 {
					one.Start = sources.StampBetween(storetest.After(at-time.Duration(r.IntN(1000))), storetest.After(at), sources.Told)
				}
				if n == 0 {
					one.Start = sources.Stamp{At: storetest.After(-40 * day), How: sources.Told}
				}
				running[i] = one
				c.Terms = append(c.Terms, one)
			}
			b.Lanes = append(b.Lanes, c)
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
	for range 60 {
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
			if !storetest.Equal(got[i].Terms, want[i].Terms) || (got[i].Before == nil) != (want[i].Before == nil) || got[i].Before != nil && !storetest.Equal(*got[i].Before, *want[i].Before) {
				t.Fatalf("seed %d, %v to %v: the store has of %s\n%+v, before %+v\nthe file has\n%+v, before %+v", seed, span.From, span.To, some[i].Name, got[i].Terms, got[i].Before, want[i].Terms, want[i].Before)
			}
		}
	}
}
