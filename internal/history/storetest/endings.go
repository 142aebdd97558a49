package storetest

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// filler is so much that blocks are made.
func filler(from time.Duration) history.LaneChange {
	c := history.LaneChange{Ref: Ref("filler"), Kind: sources.KindMutex, Scope: "s"}
	for i := range 4100 {
		f := from + time.Duration(i)*time.Millisecond
		c.Terms = append(c.Terms, Term(fmt.Sprint("f", i), f, f+time.Millisecond/2))
	}
	return c
}

// blockUp makes all that is recent blocks.
func blockUp(t *testing.T, w Writer, at time.Duration) {
	t.Helper()
	Write(t, w, BatchOf(at, at+10*time.Second, filler(at)))
	Write(t, w, BatchOf(at+10*time.Second, at+2*time.Minute))
}

func show(l history.Lane) (s string) {
	if l.Before != nil {
		s += fmt.Sprintf("before: %s %v..%v(%v) ", l.Before.Owner.ID, l.Before.Start.At.Sub(T0), l.Before.End.At.Sub(T0), l.Before.End.How)
	}
	for _, x := range l.Terms {
		if x.End.How == sources.Unknown {
			s += fmt.Sprintf("%s(%d) %v..running ", x.Owner.ID, x.Owner.Fence, x.Start.At.Sub(T0))
		} else {
			s += fmt.Sprintf("%s(%d) %v..%v(%v) ", x.Owner.ID, x.Owner.Fence, x.Start.At.Sub(T0), x.End.At.Sub(T0), x.End.How)
		}
	}
	return s
}

func aSemaphoreThatWasGivenBackIsFreeInAnyWindow(t *testing.T, open Open) {
	t.Parallel()
	for _, block := range []bool{false, true} {
		o := open(t, 0)
		w := Begun(t, o, 0)
		Write(t, w, BatchOf(0, 1*sec, changeOf(sources.KindSemaphore, Term("a", sec/2, 0))))
		at := time.Duration(0)
		if block {
			at = m
			blockUp(t, w, at)
		}
		at += 3 * m
		Write(t, w, BatchOf(at, at+sec, changeOf(sources.KindSemaphore, Term("a", sec/2, at))))
		Write(t, w, BatchOf(at+sec, at+20*sec))
		s := Store(t, o)
		if l := LaneOf(t, s, "x", Span(at+10*sec, at+20*sec)); len(l.Terms) > 0 {
			t.Errorf("block %v: a, which ended at %v, in [%v, %v): %s", block, at, at+10*sec, at+20*sec, show(l))
		}
		if block { // an hour of quiet later
			Write(t, w, BatchOf(at+20*sec, at+h))
			Write(t, w, BatchOf(at+h, at+2*h))
			if l := LaneOf(t, s, "x", Span(at+h, at+2*h)); len(l.Terms) > 0 {
				t.Errorf("block %v: an hour later still: %s", block, show(l))
			}
		}
	}
}

func withinAMinuteASemaphoreThatWasGivenBackIsFree(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	Write(t, w, BatchOf(0, 1*sec, changeOf(sources.KindSemaphore, Term("a", sec/2, 0))))
	Write(t, w, BatchOf(1*sec, 4*sec, changeOf(sources.KindSemaphore, Term("a", sec/2, 3*sec))))
	Write(t, w, BatchOf(4*sec, 20*sec))
	if l := LaneOf(t, Store(t, o), "x", Span(10*sec, 20*sec)); len(l.Terms) > 0 {
		t.Errorf("ended at 3s, in [10s,20s): %s", show(l))
	}
}

func whatWasGivenBackBeforeWhatIsKeptDoesNotRun(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 24*h)
	w := Begun(t, o, 0)
	Write(t, w, BatchOf(0, 1*sec, changeOf(sources.KindMutex, Term("a", sec/2, 0))))
	blockUp(t, w, m)
	Write(t, w, BatchOf(4*m, 5*m, changeOf(sources.KindMutex, Term("a", sec/2, 4*m+sec))))
	day := 24 * h
	Write(t, w, BatchOf(5*m, 3*day))
	s := Store(t, o)
	Tidied(t, w, After(3*day))
	if l := LaneOf(t, s, "x", Span(3*day-h, 3*day)); len(l.Terms) > 0 {
		t.Errorf("ended three days ago: %s", show(l))
	}
}

func anotherGrantStandsBesideTheFirstAlsoInBlocks(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	old := found("a", sec)
	old.Owner.Fence = 5
	Write(t, w, BatchOf(0, 5*m, changeOf(sources.KindElection, old)))
	w.Close()
	w = Begun(t, o, 10*m)
	again := found("a", 10*m+sec)
	again.Owner.Fence = 6
	Write(t, w, BatchOf(10*m, 11*m, changeOf(sources.KindElection, again)))
	s := Store(t, o)
	before := show(LaneOf(t, s, "x", Span(0, h)))
	blockUp(t, w, 12*m)
	if got := show(LaneOf(t, s, "x", Span(0, h))); got != before {
		t.Errorf("before the block: %s\nafter the block: %s", before, got)
	}
}

func aCauseThatIsToldLateMakesNoOtherTerm(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	Write(t, w, BatchOf(0, 5*m, changeOf(sources.KindMutex, found("a", sec))))
	w.Close()
	w = Begun(t, o, 6*m)
	x := found("a", 6*m+sec)
	Write(t, w, BatchOf(6*m, 7*m, changeOf(sources.KindMutex, x)))
	x.End, x.Cause, x.How = Seen(7*m+sec), sources.CauseUnknown, sources.Inferred
	Write(t, w, BatchOf(7*m, 7*m+2*sec, changeOf(sources.KindMutex, x)))
	x.Cause, x.How = sources.CauseEvicted, sources.Ours // the action is told late
	Write(t, w, BatchOf(7*m+2*sec, 7*m+3*sec, changeOf(sources.KindMutex, x)))
	if l := LaneOf(t, Store(t, o), "x", Span(0, h)); len(l.Terms) != 1 {
		t.Errorf("doubled: %s", show(l))
	}
}

func whatTwoRecordersTellIsOneTerm(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 0)
	w := Begun(t, o, 0)
	Write(t, w, BatchOf(0, 60*sec, changeOf(sources.KindMutex, Term("a", 50*sec, 55*sec))))
	w.Close()
	w = Begun(t, o, 60*sec)
	Write(t, w, BatchOf(60*sec, 61*sec, changeOf(sources.KindMutex, Term("a", 50*sec+3*time.Millisecond, 55*sec+2*time.Millisecond))))
	if l := LaneOf(t, Store(t, o), "x", Span(0, 61*sec)); len(l.Terms) != 1 {
		t.Errorf("%s", show(l))
	}
}

func aNewPrimitiveHasNoTermsOfADroppedOne(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 24*h)
	w := Begun(t, o, 0)
	stays := history.LaneChange{Ref: Ref("stays"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{found("z", sec)}}
	Write(t, w, BatchOf(0, m, stays, changeOf(sources.KindMutex, found("owner-of-x", sec))))
	w.Close()
	stays.Terms[0].Start.At = After(5 * m)
	w = Begun(t, o, 4*m)
	day := 24 * h
	Write(t, w, BatchOf(4*m, 6*m, stays))
	Write(t, w, BatchOf(6*m, 3*day, stays))
	Tidied(t, w, After(3*day))
	s := Store(t, o)
	Write(t, w, BatchOf(3*day, 3*day+m, history.LaneChange{Ref: Ref("new"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{Term("n", 3*day+sec, 0)}}))
	if l := LaneOf(t, s, "new", Span(3*day, 3*day+m)); l.Before != nil || len(l.Terms) != 1 {
		t.Errorf("a primitive that is new: %s", show(l))
	}
	Write(t, w, BatchOf(3*day+m, 3*day+2*m, history.LaneChange{Ref: Ref("new"), Kind: sources.KindMutex, Scope: "s"}))
	if l := LaneOf(t, s, "new", Span(0, 4*day)); len(l.Terms) != 1 {
		t.Errorf("a primitive that is new: %s", show(l))
	}
}

func aNewSemaphoreHasNoLevelsOfADroppedOne(t *testing.T, open Open) {
	t.Parallel()
	o := open(t, 24*h)
	w := Begun(t, o, 0)
	stays := history.LaneChange{Ref: Ref("stays"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{found("z", sec)}}
	x := history.LaneChange{Ref: Ref("x"), Kind: sources.KindSemaphore, Scope: "s", Levels: []sources.Level{{At: After(sec), Taken: 7, High: 9}}}
	Write(t, w, BatchOf(0, m, stays, x))
	Write(t, w, BatchOf(m, 2*m, history.LaneChange{Ref: Ref("x"), Kind: sources.KindSemaphore, Scope: "s", Gone: true, At: After(m + sec)}))
	day := 24 * h
	Write(t, w, BatchOf(2*m, 3*day, stays))
	Tidied(t, w, After(3*day))
	Write(t, w, BatchOf(3*day, 3*day+m, history.LaneChange{Ref: Ref("new"), Kind: sources.KindSemaphore, Scope: "s", Levels: []sources.Level{{At: After(3*day + sec), Taken: 1, High: 1}}}))
	if l := LaneOf(t, Store(t, o), "new", Span(0, 4*day)); len(l.Levels) != 1 || l.Levels[0].Taken != 1 {
		t.Errorf("levels of a new semaphore: %+v", l.Levels)
	}
}
