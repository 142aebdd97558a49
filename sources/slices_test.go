package sources

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// large is a Change of many rows, of which the first half was told before.
func large(rows int, at time.Time) Change {
	c := Change{Scope: "main", After: at.Add(-time.Second), At: at, Alive: []string{"main"}}
	for i := range rows {
		p := &Primitive{Ref: Ref{Source: "s", Name: fmt.Sprint("k", i)}, Kind: KindMutex, Limit: 1, LimitHow: Told, OwnersHow: Told, At: at}
		if at.Second()%2 == 1 || i%3 == 0 {
			p.Owners = []Owner{{ID: fmt.Sprint("o", at.Second())}}
		}
		c.Set = append(c.Set, p)
		if i%7 == 0 {
			c.Ended = append(c.Ended, Ending{Ref: p.Ref, Owner: fmt.Sprint("o", at.Second()-1), Cause: CauseSession, How: Told})
			c.Unseen = append(c.Unseen, Unseen{Ref: p.Ref, From: c.After, To: at})
		}
	}
	return c
}

// TestSlicesOfAChangeSayWhatItSays compares the events and rows of two Hubs, one of which is told
// large Changes whole and the other in slices.
func TestSlicesOfAChangeSayWhatItSays(t *testing.T) {
	t.Parallel()
	const rows = 3*sliceRows + 7
	began := time.Unix(1_700_000_000, 0)
	listing, next, again := large(rows, began), large(rows, began.Add(time.Second)), large(rows/2, began.Add(4*time.Second))
	listing.Relists, listing.Synced, listing.About = true, true, &About{Mode: "polling", Sampling: time.Second}
	for _, p := range next.Set[rows-sliceRows:] {
		next.Gone = append(next.Gone, p.Ref)
	}
	next.Set = next.Set[:rows-sliceRows]
	again.Relists, again.Synced = true, true // half of the rows are gone
	var told [2][]Event
	var states [2]*State
	for i := range told {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub(t.Context(), HubOptions{})
			feeds, err := h.add([]Spec{{Name: "s"}})
			if err != nil {
				t.Fatal(err)
			}
			r := &runner{hub: h, source: feeds[0]}
			r.beside = true
			for _, c := range []Change{listing, next, again} {
				if i == 0 {
					h.apply(feeds[0], c)
				} else {
					r.apply(t.Context(), c)
				}
			}
			told[i], _ = h.Subscribe(0).Events(0)
			h.Close()
			states[i] = h.State()
		})
		for j := range told[i] {
			told[i][j].Mono = 0
		}
	}
	seen := map[string]int{}
	for _, list := range told {
		for _, e := range list {
			e.Seq = 0
			if e.Kind == EventSourceUp {
				e.At = time.Time{} // this machine's
			}
			seen[fmt.Sprintf("%+v", e)]++
		}
	}
	for e, n := range seen {
		if n != 2 {
			t.Errorf("told %d times: %s", n, e)
		}
	}
	if len(told[0]) != len(told[1]) || len(states[0].Scopes) != len(states[1].Scopes) {
		t.Errorf("%d events whole, %d in slices", len(told[0]), len(told[1]))
	}
	was, is := map[Ref][]Term{}, map[Ref][]Term{}
	for i, terms := range []map[Ref][]Term{was, is} {
		for _, row := range states[i].Rows {
			if row != nil {
				terms[row.Ref] = row.Terms
			}
		}
	}
	if !reflect.DeepEqual(was, is) {
		t.Error("the terms of the rows differ")
	}
}

func TestNoSliceIsLargerThanItsBound(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, sliceRows, sliceRows + 1, 10*sliceRows - 1} {
		c := large(rows, time.Unix(1, 0))
		c.Relists, c.Synced, c.Down = true, true, ErrSilent
		parts := c.slices()
		n := 0
		for i, p := range parts {
			n += len(p.Set)
			if len(p.Set)+len(p.Gone) > sliceRows || p.Relists != (i == 0) || p.Synced != (i == len(parts)-1) || (p.Down != nil) != p.Synced || (len(p.Alive) > 0) != (i == 0) {
				t.Errorf("of %d rows, slice %d: %d rows, relists %v, synced %v, down %v, alive %v", rows, i, len(p.Set), p.Relists, p.Synced, p.Down, p.Alive)
			}
		}
		if n != rows {
			t.Errorf("%d rows of %d", n, rows)
		}
	}
}
