package sqlite

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// filler is so much that blocks are made.
func filler(from time.Duration) history.LaneChange {
	c := history.LaneChange{Ref: ref("filler"), Kind: sources.KindMutex, Scope: "s"}
	for i := range 4100 {
		f := from + time.Duration(i)*time.Millisecond
		c.Terms = append(c.Terms, term(fmt.Sprint("f", i), f, f+time.Millisecond/2))
	}
	return c
}

// blockUp makes all that is recent blocks.
func blockUp(t *testing.T, w *Writer, at time.Duration) {
	t.Helper()
	write(t, w, batchOf(at, at+10*time.Second, filler(at)))
	if len(w.recent.terms) > 0 {
		write(t, w, batchOf(at+10*time.Second, at+2*time.Minute))
	}
	if len(w.recent.terms) > 0 {
		t.Fatalf("no block was made: %d", len(w.recent.terms))
	}
}

func show(l history.Lane) (s string) {
	if l.Before != nil {
		s += fmt.Sprintf("before: %s %v..%v(%v) ", l.Before.Owner.ID, l.Before.Start.At.Sub(t0), l.Before.End.At.Sub(t0), l.Before.End.How)
	}
	for _, x := range l.Terms {
		if x.End.How == sources.Unknown {
			s += fmt.Sprintf("%s(%d) %v..running ", x.Owner.ID, x.Owner.Fence, x.Start.At.Sub(t0))
		} else {
			s += fmt.Sprintf("%s(%d) %v..%v(%v) ", x.Owner.ID, x.Owner.Fence, x.Start.At.Sub(t0), x.End.At.Sub(t0), x.End.How)
		}
	}
	return s
}

func TestASemaphoreThatWasGivenBackIsFreeInAnyWindow(t *testing.T) {
	t.Parallel()
	for _, block := range []bool{false, true} {
		o := place(t)
		w := begun(t, o, 0)
		write(t, w, batchOf(0, 1*sec, changeOf(sources.KindSemaphore, term("a", sec/2, 0))))
		at := time.Duration(0)
		if block {
			at = m
			blockUp(t, w, at)
		}
		at += 3 * m
		write(t, w, batchOf(at, at+sec, changeOf(sources.KindSemaphore, term("a", sec/2, at))))
		write(t, w, batchOf(at+sec, at+20*sec))
		s := store(t, o)
		if l := laneOf(t, s, "x", span(at+10*sec, at+20*sec)); len(l.Terms) > 0 {
			t.Errorf("block %v: a, which ended at %v, in [%v, %v): %s", block, at, at+10*sec, at+20*sec, show(l))
		}
		if block { // an hour of quiet later
			write(t, w, batchOf(at+20*sec, at+h))
			write(t, w, batchOf(at+h, at+2*h))
			if l := laneOf(t, s, "x", span(at+h, at+2*h)); len(l.Terms) > 0 {
				t.Errorf("block %v: an hour later still: %s", block, show(l))
			}
		}
	}
}

func TestWithinAMinuteASemaphoreThatWasGivenBackIsFree(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, 1*sec, changeOf(sources.KindSemaphore, term("a", sec/2, 0))))
	write(t, w, batchOf(1*sec, 4*sec, changeOf(sources.KindSemaphore, term("a", sec/2, 3*sec))))
	write(t, w, batchOf(4*sec, 20*sec))
	if l := laneOf(t, store(t, o), "x", span(10*sec, 20*sec)); len(l.Terms) > 0 {
		t.Errorf("ended at 3s, in [10s,20s): %s", show(l))
	}
}

func TestWhatWasGivenBackBeforeWhatIsKeptDoesNotRun(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits.Keep = 24 * h
	w := begun(t, o, 0)
	write(t, w, batchOf(0, 1*sec, changeOf(sources.KindMutex, term("a", sec/2, 0))))
	blockUp(t, w, m)
	write(t, w, batchOf(4*m, 5*m, changeOf(sources.KindMutex, term("a", sec/2, 4*m+sec))))
	day := 24 * h
	write(t, w, batchOf(5*m, 3*day))
	s := store(t, o)
	tidied(t, w, after(3*day))
	if l := laneOf(t, s, "x", span(3*day-h, 3*day)); len(l.Terms) > 0 {
		t.Errorf("ended three days ago: %s", show(l))
	}
}

func TestAnotherGrantStandsBesideTheFirstAlsoInBlocks(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	old := found("a", sec)
	old.Owner.Fence = 5
	write(t, w, batchOf(0, 5*m, changeOf(sources.KindElection, old)))
	w.Close()
	w = begun(t, o, 10*m)
	again := found("a", 10*m+sec)
	again.Owner.Fence = 6
	write(t, w, batchOf(10*m, 11*m, changeOf(sources.KindElection, again)))
	s := store(t, o)
	before := show(laneOf(t, s, "x", span(0, h)))
	blockUp(t, w, 12*m)
	if got := show(laneOf(t, s, "x", span(0, h))); got != before {
		t.Errorf("before the block: %s\nafter the block: %s", before, got)
	}
}

func TestACauseThatIsToldLateMakesNoOtherTerm(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, 5*m, changeOf(sources.KindMutex, found("a", sec))))
	w.Close()
	w = begun(t, o, 6*m)
	x := found("a", 6*m+sec)
	write(t, w, batchOf(6*m, 7*m, changeOf(sources.KindMutex, x)))
	x.End, x.Cause, x.How = seen(7*m+sec), sources.CauseUnknown, sources.Inferred
	write(t, w, batchOf(7*m, 7*m+2*sec, changeOf(sources.KindMutex, x)))
	x.Cause, x.How = sources.CauseEvicted, sources.Ours // the action is told late
	write(t, w, batchOf(7*m+2*sec, 7*m+3*sec, changeOf(sources.KindMutex, x)))
	if l := laneOf(t, store(t, o), "x", span(0, h)); len(l.Terms) != 1 {
		t.Errorf("doubled: %s", show(l))
	}
}

func TestWhatTwoRecordersTellIsOneTerm(t *testing.T) {
	t.Parallel()
	o := place(t)
	w := begun(t, o, 0)
	write(t, w, batchOf(0, 60*sec, changeOf(sources.KindMutex, term("a", 50*sec, 55*sec))))
	w.Close()
	w = begun(t, o, 60*sec)
	write(t, w, batchOf(60*sec, 61*sec, changeOf(sources.KindMutex, term("a", 50*sec+3*time.Millisecond, 55*sec+2*time.Millisecond))))
	if l := laneOf(t, store(t, o), "x", span(0, 61*sec)); len(l.Terms) != 1 {
		t.Errorf("%s", show(l))
	}
}

func TestANewPrimitiveHasNoTermsOfADroppedOne(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits.Keep = 24 * h
	w := begun(t, o, 0)
	stays := history.LaneChange{Ref: ref("stays"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{found("z", sec)}}
	write(t, w, batchOf(0, m, stays, changeOf(sources.KindMutex, found("owner-of-x", sec))))
	w.Close()
	stays.Terms[0].Start.At = after(5 * m)
	w = begun(t, o, 4*m)
	day := 24 * h
	write(t, w, batchOf(4*m, 6*m, stays))
	write(t, w, batchOf(6*m, 3*day, stays))
	tidied(t, w, after(3*day))
	s := store(t, o)
	write(t, w, batchOf(3*day, 3*day+m, history.LaneChange{Ref: ref("new"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{term("n", 3*day+sec, 0)}}))
	if l := laneOf(t, s, "new", span(3*day, 3*day+m)); l.Before != nil || len(l.Terms) != 1 {
		t.Errorf("a primitive that is new: %s", show(l))
	}
	write(t, w, batchOf(3*day+m, 3*day+2*m, history.LaneChange{Ref: ref("new"), Kind: sources.KindMutex, Scope: "s"}))
	if l := laneOf(t, s, "new", span(0, 4*day)); len(l.Terms) != 1 {
		t.Errorf("a primitive that is new: %s", show(l))
	}
}

func TestANewSemaphoreHasNoLevelsOfADroppedOne(t *testing.T) {
	t.Parallel()
	o := place(t)
	o.Limits.Keep = 24 * h
	w := begun(t, o, 0)
	stays := history.LaneChange{Ref: ref("stays"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{found("z", sec)}}
	x := history.LaneChange{Ref: ref("x"), Kind: sources.KindSemaphore, Scope: "s", Levels: []sources.Level{{At: after(sec), Taken: 7, High: 9}}}
	write(t, w, batchOf(0, m, stays, x))
	write(t, w, batchOf(m, 2*m, history.LaneChange{Ref: ref("x"), Kind: sources.KindSemaphore, Scope: "s", Gone: true, At: after(m + sec)}))
	day := 24 * h
	write(t, w, batchOf(2*m, 3*day, stays))
	tidied(t, w, after(3*day))
	write(t, w, batchOf(3*day, 3*day+m, history.LaneChange{Ref: ref("new"), Kind: sources.KindSemaphore, Scope: "s", Levels: []sources.Level{{At: after(3*day + sec), Taken: 1, High: 1}}}))
	if l := laneOf(t, store(t, o), "new", span(0, 4*day)); len(l.Levels) != 1 || l.Levels[0].Taken != 1 {
		t.Errorf("levels of a new semaphore: %+v", l.Levels)
	}
}
