package sources_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/sources"
)

// shared is a semaphore of 1,000 permits read now, with the owners given.
func shared(owners ...sources.Owner) *sources.Primitive {
	p := election("pool", owners...)
	p.Kind, p.Limit = sources.KindSemaphore, 1000
	return p
}

// permits are owners without a lease.
func permits(ids ...string) []sources.Owner {
	list := make([]sources.Owner, len(ids))
	for i, id := range ids {
		list[i] = sources.Owner{ID: id, Label: id}
	}
	return list
}

// ownerTerms writes the terms of owners as "a0 1s-3s released", the hue behind the name, in
// seconds since the test began.
func ownerTerms(r *sources.Row, began time.Time) string {
	var lines []string
	for _, t := range r.OwnerTerms() {
		s := fmt.Sprintf("%s%d %v-", t.Owner.Label, t.Hue, t.Start.At.Sub(began))
		if !t.End.At.IsZero() {
			s += fmt.Sprintf("%v", t.End.At.Sub(began))
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, ", ")
}

func TestEachOwnerOfASemaphoreHasTermsOfItsOwn(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		began := time.Now()
		w.start()
		w.list(shared(permits("a", "b")...), election("led", leased("x", time.Hour)))
		then := w.row("pool")
		look := func(p *sources.Primitive) {
			time.Sleep(time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{p}})
		}
		look(shared(permits("b", "c")...))
		look(shared(permits("c", "b")...)) // only their order is another
		look(shared(permits("a", "b", "c")...))
		fenced := permits("a", "b", "c")
		fenced[2].Label, fenced[2].Fence = "see", 7
		look(shared(fenced...))
		unknown := shared()
		unknown.OwnersHow = sources.Unknown
		look(unknown)
		look(shared(fenced[:2]...))
		for _, c := range []struct {
			what string
			row  *sources.Row
			want string
		}{
			{"the row now", w.row("pool"), "a0 0s-1s, see2 1s-6s, b1 0s-, a0 3s-"},
			{"the row published at first", then, "a0 0s-, b1 0s-"},
			{"an election", w.row("led"), ""},
		} {
			if got := ownerTerms(c.row, began); got != c.want {
				t.Errorf("%s has the terms %q, want %q", c.what, got, c.want)
			}
		}
		gone := shared()
		gone.Absent = true
		look(gone)
		if got, want := ownerTerms(w.row("pool"), began), "a0 0s-1s, see2 1s-6s, a0 3s-7s, b1 0s-7s"; got != want {
			t.Errorf("after it was deleted: %q, want %q", got, want)
		}
		alone := shared(permits("z")...)
		alone.Limit = 1
		look(alone)
		if got := w.row("pool").OwnerTerms(); got != nil {
			t.Errorf("a row that one alone can own has %v", got)
		}
	})
}

func TestTermsOfOwnersAreBoundedAndSayFromWhenOnTheyAreWhole(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(shared(permits("stays")...))
		for i := range 200 {
			time.Sleep(time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{shared(permits("stays", fmt.Sprint("n", i))...)}, Alive: []string{"main"}})
		}
		row := w.row("pool")
		terms := row.OwnerTerms()
		since := row.OwnerTermsSince(w.hub.State())
		if len(terms) != sources.MaxTerms || since.IsZero() || terms[0].End.At.Before(since) || time.Since(since) > 70*time.Second {
			t.Errorf("%d terms are kept, whole since %v ago; the first ended %v ago", len(terms), time.Since(since), time.Since(terms[0].End.At))
		}
		var many []string
		for i := range 500 {
			many = append(many, fmt.Sprint("m", i))
		}
		time.Sleep(time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{shared(permits(many...)...)}})
		if got := w.row("pool").OwnerTerms(); len(got) != sources.MaxTerms || !got[0].End.At.IsZero() {
			t.Errorf("of 500 owners %d have terms", len(got))
		}
		time.Sleep(time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{shared(permits("back")...)}})
		if got := w.row("pool").OwnerTerms(); len(got) != sources.MaxTerms || got[len(got)-1].Owner.ID != "back" {
			t.Errorf("%d terms are kept after all left, the last is %+v", len(got), got[len(got)-1])
		}
	})
}
