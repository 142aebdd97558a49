package sqlite

import (
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// found is a term that was running when its run first looked.
func found(owner string, at time.Duration) sources.Term {
	return sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: after(at), How: sources.AtLeast}}
}

// changeOf is what a run says of the primitive "x".
func changeOf(kind sources.Kind, terms ...sources.Term) history.LaneChange {
	return history.LaneChange{Ref: ref("x"), Kind: kind, Scope: "s", Terms: terms}
}

func TestATermThatEndedLongAgoIsNotTakenUpAgain(t *testing.T) {
	t.Parallel()
	mutex, many := sources.KindMutex, sources.KindSemaphore
	again := found("a", 5*m+sec)
	again.End = sources.Stamp{At: after(5*m + 2*sec), How: sources.Seen}
	for name, tt := range map[string]struct {
		between []history.LaneChange // of a run each
		last    history.LaneChange
		want    int // terms of a
	}{
		"another owned it":               {[]history.LaneChange{changeOf(mutex, found("b", 2*m))}, changeOf(mutex, found("a", 5*m)), 2},
		"it was free":                    {[]history.LaneChange{changeOf(mutex)}, changeOf(mutex, found("a", 5*m)), 2},
		"others owned it together":       {[]history.LaneChange{changeOf(many, found("b", 2*m))}, changeOf(many, found("a", 5*m)), 2},
		"it went on":                     {[]history.LaneChange{changeOf(mutex, found("a", 2*m))}, changeOf(mutex, found("a", 5*m)), 1},
		"nobody looked":                  {nil, changeOf(mutex, found("a", 5*m)), 1},
		"it went on and began once more": {nil, changeOf(mutex, again, found("a", 5*m+3*sec)), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := place(t)
			changes := append([]history.LaneChange{changeOf(tt.last.Kind, found("a", sec))}, append(tt.between, tt.last)...)
			for i, c := range changes {
				from := time.Duration(2*i) * m
				w := begun(t, o, from)
				write(t, w, batchOf(from, from+m, c))
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var of []sources.Term
			for _, term := range laneOf(t, store(t, o), "x", span(0, h)).Terms {
				if term.Owner.ID == "a" {
					of = append(of, term)
				}
			}
			if len(of) != tt.want || tt.want == 2 && len(tt.between) > 0 && !equal(of[0].End, sources.Stamp{At: after(m), How: sources.Bound}) {
				t.Errorf("terms %+v, want %d, an earlier one up to the end of its run", of, tt.want)
			}
		})
	}
}

func TestARunWritesNoDarknessOfOthers(t *testing.T) {
	t.Parallel()
	o := place(t)
	stretch := func(from, to time.Duration) history.DarkChange {
		d := history.DarkChange{Source: "leases", Scope: "s", Dark: sources.Dark{From: after(from)}}
		if to != 0 {
			d.Dark.To = after(to)
		}
		return d
	}
	for i, dark := range []history.DarkChange{stretch(m, 0), stretch(m, m+sec), stretch(m, m)} {
		from := time.Duration(i) * 2 * m
		w := begun(t, o, from)
		b := batchOf(from, from+90*sec, changeOf(sources.KindMutex, found("a", sec)))
		b.Dark = []history.DarkChange{dark}
		write(t, w, b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := []sources.Dark{{From: after(m), To: after(2 * m)}, {From: after(3*m + 30*sec), To: after(4 * m)}, {From: after(5*m + 30*sec)}}
	if l := laneOf(t, store(t, o), "x", span(0, h)); !equal(l.Dark, want) {
		t.Errorf("dark %+v, want %+v: as the first run said it", l.Dark, want)
	}
}

func TestWhatWasObservedIsWhatTheRunsHaveWritten(t *testing.T) {
	t.Parallel()
	o := place(t)
	first := begun(t, o, 0)
	write(t, first, batchOf(0, 10*m, changeOf(sources.KindMutex, found("a", sec))))
	s := store(t, o)
	if l := laneOf(t, s, "x", span(0, h)); !equal(l.Dark, []sources.Dark{{From: after(10*m + silent)}}) {
		t.Errorf("dark %+v: want what a run that writes no more has not written", l.Dark)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := term("a", 5*m+sec, 0)
	again.Owner.Fence = 0
	second := begun(t, o, 5*m) // the clock was set back
	write(t, second, batchOf(5*m, 6*m, changeOf(sources.KindMutex, again)))
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	l := laneOf(t, s, "x", span(0, h))
	if !equal(l.Dark, []sources.Dark{{From: after(10 * m)}}) || len(l.Terms) != 2 {
		t.Errorf("dark %+v, terms %+v: want none before the last end of a run, and a term that began in the second", l.Dark, l.Terms)
	}
}

// TestLanesOfAScopeShareWhatWasNotObserved keeps ten thousand lanes with a thousand outages from
// having a list of these each.
func TestLanesOfAScopeShareWhatWasNotObserved(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	b := batchOf(0, h)
	for _, name := range []string{"b", "a", "own"} {
		b.Lanes = append(b.Lanes, history.LaneChange{Ref: ref(name), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{term(name, sec, m)}})
	}
	outage := func(from, to time.Duration, of sources.Ref) {
		b.Dark = append(b.Dark, history.DarkChange{Source: "leases", Scope: "s", Ref: of, Dark: sources.Dark{From: after(from), To: after(to)}})
	}
	outage(m, 2*m, sources.Ref{})
	outage(5*m, 6*m, ref("own"))
	write(t, w, b)
	s := store(t, o)
	for _, refs := range [][]sources.Ref{nil, {ref("own"), ref("a"), ref("never"), ref("a"), ref("a"), ref("b")}} {
		lanes, err := s.Lanes(t.Context(), refs, span(0, 10*m))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var shared *sources.Dark
		for i := range lanes {
			l := &lanes[i]
			names = append(names, l.Ref.Name)
			want := []sources.Dark{{From: after(m), To: after(2 * m)}}
			switch l.Ref.Name {
			case "never":
				if !equal(*l, history.Lane{Ref: ref("never"), Holes: lanes[0].Holes}) || len(l.Holes) == 0 {
					t.Errorf("of what was never recorded there is %+v", l)
				}
				continue
			case "own":
				want = append(want, sources.Dark{From: after(5 * m), To: after(6 * m)})
			default:
				if shared == nil {
					shared = &l.Dark[0]
				}
				if shared != &l.Dark[0] || cap(l.Dark) != len(l.Dark) {
					t.Errorf("%s has a list of its own, or one that can be appended to", l.Ref.Name)
				}
			}
			if !equal(l.Dark, want) || len(l.Terms) != 1 || l.Terms[0].Owner.ID != l.Ref.Name {
				t.Errorf("%+v, want dark %+v and one term", l, want)
			}
		}
		want := []string{"a", "b", "own"}
		if refs != nil {
			want = []string{"own", "a", "never", "a", "a", "b"}
		}
		if !slices.Equal(names, want) {
			t.Errorf("lanes %q, want %q", names, want)
		}
	}
}

func TestAPrimitiveThatARunDoesNotWatchIsNotObserved(t *testing.T) {
	t.Parallel()
	o := place(t)
	others := func(at time.Duration) history.LaneChange {
		return history.LaneChange{Ref: ref("y"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{found("b", at)}}
	}
	for i, lanes := range [][]history.LaneChange{
		{changeOf(sources.KindMutex, term("a", sec, 30*sec)), others(sec)},
		{others(2*m + sec)},
		{others(4*m + sec)},
		{changeOf(sources.KindMutex, found("a", 6*m+sec)), others(6*m + sec)},
		{others(8*m + sec)},
	} {
		from := time.Duration(2*i) * m
		w := begun(t, o, from)
		b := batchOf(from+sec, from+m, lanes...)
		b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Dark: sources.Dark{From: after(from), To: after(from + sec)}}}
		write(t, w, b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := store(t, o)
	if l, want := laneOf(t, s, "x", span(0, 9*m)), []sources.Dark{{From: after(0), To: after(sec)}, {From: after(m), To: after(6*m + sec)}, {From: after(7 * m)}}; !equal(l.Dark, want) {
		t.Errorf("dark %+v, want all but the two runs that watched it", l.Dark)
	}
	totals, err := s.Totals(t.Context(), span(0, 9*m))
	if err != nil || totals[0].Nobody.Min != 30*sec || totals[0].Unseen != 7*m+2*sec {
		t.Errorf("%+v, %v: want 30 s without an owner, and the rest not observed", totals[0], err)
	}
}

func TestALaneHasTheKindThatItsPrimitiveHasNow(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	b := batchOf(0, m)
	b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Ref: ref("x"), Dark: sources.Dark{From: after(0), To: after(sec)}}}
	write(t, w, b) // of which nothing says what it is
	s := store(t, o)
	for i, c := range []struct{ told, want sources.Kind }{
		{sources.KindMutex, sources.KindMutex}, {sources.KindUnknown, sources.KindMutex}, {sources.KindSemaphore, sources.KindSemaphore},
	} {
		write(t, w, batchOf(time.Duration(i+1)*m, time.Duration(i+2)*m, changeOf(c.told)))
		if l := laneOf(t, s, "x", span(0, h)); l.Kind != c.want {
			t.Errorf("after %v it is a %v, want a %v", c.told, l.Kind, c.want)
		}
	}
}
