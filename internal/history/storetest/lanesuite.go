package storetest

import (
	"slices"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// found is a term that was running when its run first looked.
func found(owner string, at time.Duration) sources.Term {
	return sources.Term{Owner: sources.OwnerRef{ID: owner}, Start: sources.Stamp{At: After(at), How: sources.AtLeast}}
}

// changeOf is what a run says of the primitive "x".
func changeOf(kind sources.Kind, terms ...sources.Term) history.LaneChange {
	return history.LaneChange{Ref: Ref("x"), Kind: kind, Scope: "s", Terms: terms}
}

func aTermThatEndedLongAgoIsNotTakenUpAgain(t *testing.T, open Open) {
	t.Parallel()
	mutex, many := sources.KindMutex, sources.KindSemaphore
	again := found("a", 5*m+sec)
	again.End = sources.Stamp{At: After(5*m + 2*sec), How: sources.Seen}
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
			o := open(t, 0)
			changes := append([]history.LaneChange{changeOf(tt.last.Kind, found("a", sec))}, append(tt.between, tt.last)...)
			for i, c := range changes {
				from := time.Duration(2*i) * m
				w := Begun(t, o, from)
				Write(t, w, BatchOf(from, from+m, c))
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var of []sources.Term
			for _, term := range LaneOf(t, Store(t, o), "x", Span(0, h)).Terms {
				if term.Owner.ID == "a" {
					of = append(of, term)
				}
			}
			if len(of) != tt.want || tt.want == 2 && len(tt.between) > 0 && !Equal(of[0].End, sources.Stamp{At: After(m), How: sources.Bound}) {
				t.Errorf("terms %+v, want %d, an earlier one up to the end of its run", of, tt.want)
			}
		})
	}
}

func aRunWritesNoDarknessOfOthers(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	stretch := func(from, to time.Duration) history.DarkChange {
		d := history.DarkChange{Source: "leases", Scope: "s", Dark: sources.Dark{From: After(from)}}
		if to != 0 {
			d.Dark.To = After(to)
		}
		return d
	}
	for i, dark := range []history.DarkChange{stretch(m, 0), stretch(m, m+sec), stretch(m, m)} {
		from := time.Duration(i) * 2 * m
		w := Begun(t, o, from)
		b := BatchOf(from, from+90*sec, changeOf(sources.KindMutex, found("a", sec)))
		b.Dark = []history.DarkChange{dark}
		Write(t, w, b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := []sources.Dark{{From: After(m), To: After(2 * m)}, {From: After(3*m + 30*sec), To: After(4 * m)}, {From: After(5*m + 30*sec)}}
	if l := LaneOf(t, Store(t, o), "x", Span(0, h)); !Equal(l.Dark, want) {
		t.Errorf("dark %+v, want %+v: as the first run said it", l.Dark, want)
	}
}

func whatWasObservedIsWhatTheRunsHaveWritten(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	first := Begun(t, o, 0)
	Write(t, first, BatchOf(0, 10*m, changeOf(sources.KindMutex, found("a", sec))))
	s := Store(t, o)
	if l := LaneOf(t, s, "x", Span(0, h)); !Equal(l.Dark, []sources.Dark{{From: After(10*m + 2*sec)}}) {
		t.Errorf("dark %+v: want what a run that writes no more has not written", l.Dark)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := Term("a", 5*m+sec, 0)
	again.Owner.Fence = 0
	second := Begun(t, o, 5*m) // the clock was set back
	gone := history.LaneChange{Ref: Ref("gone"), Kind: sources.KindMutex, Scope: "s"}
	Write(t, second, BatchOf(5*m, 6*m, changeOf(sources.KindMutex, again), gone))
	second.(interface{ Forget() }).Forget() // as after an error
	gone.Gone, gone.At = true, After(6*m+sec)
	b := BatchOf(6*m, 7*m, gone)
	b.Events = []sources.Event{{Seq: 1, Kind: sources.EventDeleted, Ref: gone.Ref, At: gone.At, After: After(6 * m)}}
	Write(t, second, b)
	if events, err := s.Events(t.Context(), After(0), 0, 10, history.EventFilter{}); err != nil || len(events) != 1 {
		t.Errorf("events %+v, %v: want the end of what is gone", events, err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	l := LaneOf(t, s, "x", Span(0, h))
	if !Equal(l.Dark, []sources.Dark{{From: After(10 * m)}}) || len(l.Terms) != 2 {
		t.Errorf("dark %+v, terms %+v: want none before the last end of a run, and a term that began in the second", l.Dark, l.Terms)
	}
}

// lanesOfAScopeShareWhatWasNotObserved keeps ten thousand lanes with a thousand outages from
// having a list of these each.
func lanesOfAScopeShareWhatWasNotObserved(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	b := BatchOf(0, h)
	for _, name := range []string{"b", "a", "own"} {
		b.Lanes = append(b.Lanes, history.LaneChange{Ref: Ref(name), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{Term(name, sec, m)}})
	}
	outage := func(from, to time.Duration, of sources.Ref) {
		b.Dark = append(b.Dark, history.DarkChange{Source: "leases", Scope: "s", Ref: of, Dark: sources.Dark{From: After(from), To: After(to)}})
	}
	outage(m, 2*m, sources.Ref{})
	outage(5*m, 6*m, Ref("own"))
	Write(t, w, b)
	s := Store(t, o)
	for _, refs := range [][]sources.Ref{nil, {Ref("own"), Ref("a"), Ref("never"), Ref("a"), Ref("a"), Ref("b")}} {
		lanes, err := s.Lanes(t.Context(), refs, Span(0, 10*m))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var shared *sources.Dark
		for i := range lanes {
			l := &lanes[i]
			names = append(names, l.Ref.Name)
			want := []sources.Dark{{From: After(m), To: After(2 * m)}}
			switch l.Ref.Name {
			case "never":
				if !Equal(*l, history.Lane{Ref: Ref("never"), Holes: lanes[0].Holes}) || len(l.Holes) == 0 {
					t.Errorf("of what was never recorded there is %+v", l)
				}
				continue
			case "own":
				want = append(want, sources.Dark{From: After(5 * m), To: After(6 * m)})
			default:
				if shared == nil {
					shared = &l.Dark[0]
				}
				if shared != &l.Dark[0] || cap(l.Dark) != len(l.Dark) {
					t.Errorf("%s has a list of its own, or one that can be appended to", l.Ref.Name)
				}
			}
			if !Equal(l.Dark, want) || len(l.Terms) != 1 || l.Terms[0].Owner.ID != l.Ref.Name {
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

func aPrimitiveThatARunDoesNotWatchIsNotObserved(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	others := func(at time.Duration) history.LaneChange {
		return history.LaneChange{Ref: Ref("y"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{found("b", at)}}
	}
	for i, lanes := range [][]history.LaneChange{
		{changeOf(sources.KindMutex, Term("a", sec, 30*sec)), others(sec)},
		{others(2*m + sec)},
		{others(4*m + sec)},
		{changeOf(sources.KindMutex, found("a", 6*m+sec)), others(6*m + sec)},
		{others(8*m + sec)},
	} {
		from := time.Duration(2*i) * m
		w := Begun(t, o, from)
		b := BatchOf(from+sec, from+m, lanes...)
		b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Dark: sources.Dark{From: After(from), To: After(from + sec)}}}
		Write(t, w, b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := Store(t, o)
	if l, want := LaneOf(t, s, "x", Span(0, 9*m)), []sources.Dark{{From: After(0), To: After(sec)}, {From: After(m), To: After(6*m + sec)}, {From: After(7 * m)}}; !Equal(l.Dark, want) {
		t.Errorf("dark %+v, want all but the two runs that watched it", l.Dark)
	}
	totals, err := s.Totals(t.Context(), Span(0, 9*m))
	if err != nil || totals[0].Nobody.Min != 30*sec || totals[0].Unseen != 7*m+2*sec {
		t.Errorf("%+v, %v: want 30 s without an owner, and the rest not observed", totals[0], err)
	}
}

func aLaneHasTheKindThatItsPrimitiveHasNow(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	b := BatchOf(0, m)
	b.Dark = []history.DarkChange{{Source: "leases", Scope: "s", Ref: Ref("x"), Dark: sources.Dark{From: After(0), To: After(sec)}}}
	Write(t, w, b) // of which nothing says what it is
	s := Store(t, o)
	for i, c := range []struct{ told, want sources.Kind }{
		{sources.KindMutex, sources.KindMutex}, {sources.KindUnknown, sources.KindMutex}, {sources.KindSemaphore, sources.KindSemaphore},
	} {
		Write(t, w, BatchOf(time.Duration(i+1)*m, time.Duration(i+2)*m, changeOf(c.told)))
		if l := LaneOf(t, s, "x", Span(0, h)); l.Kind != c.want {
			t.Errorf("after %v it is a %v, want a %v", c.told, l.Kind, c.want)
		}
	}
}
