package coord_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// diary records the events of a candidate, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) is(t testing.TB, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.lines, want) {
		t.Errorf("what happened: %q, want %q", d.lines, want)
	}
}

func why(err error) string {
	for _, c := range []error{coord.ErrLost, coord.ErrExpired, coord.ErrReleased, coord.ErrClosed} {
		if errors.Is(err, c) {
			return c.Error()
		}
	}
	return fmt.Sprint(err)
}

// keep makes a candidate's options write a diary.
func (d *diary) keep() coord.LeadOptions {
	return coord.LeadOptions{
		OnElected: func(context.Context, *coord.Term) error { d.add("elected"); return nil },
		OnLost:    func(cause error) { d.add("lost: " + why(cause)) },
		OnError:   func(err error) { d.add("error") },
	}
}

// run runs a candidate until the test ends or stop is called, which waits for it.
func (w *world) run(c *coord.Candidate) (stop func() error) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	w.Cleanup(func() { _ = stop() })
	synctest.Wait()
	return stop
}

func (w *world) candidate(o coord.LeadOptions) *coord.Candidate {
	return coord.NewCandidate(w.mem.NewDriver(w.link), options(), "boss", o)
}

func (w *world) led() bool { return len(w.mem.Owners(coord.KindElection, "boss")) > 0 }

func TestCandidateLeadsStopsAndTellsSo(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		o := d.keep()
		lost := o.OnLost
		o.OnLost = func(cause error) {
			if !w.led() {
				w.Error("another may lead before OnLost was called")
			}
			lost(cause)
		}
		c := w.candidate(o)
		stop := w.run(c)
		term, ok := c.Leading()
		if !ok || term.Lease().Check() != nil {
			w.Fatal("does not lead")
		}
		time.Sleep(time.Hour)
		if again, _ := c.Leading(); again != term {
			w.Error("the term did not last")
		}
		w.want("Run", stop(), context.Canceled)
		if _, ok := c.Leading(); ok || w.led() {
			w.Error("still leads")
		}
		d.is(w, "elected", "lost: released")
	})
}

func TestStopEndsRunWithoutAnErrorAndIsHarmlessTwice(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		c := w.candidate(d.keep())
		c.Stop() // not running yet
		done := make(chan error, 1)
		for range 2 { // it can be run again
			go func() { done <- c.Run(w.Context()) }()
			synctest.Wait()
			c.Stop()
			if w.led() {
				w.Error("Stop returned while it led")
			}
			c.Stop()
			w.want("Run", <-done, nil)
		}
		d.is(w, "elected", "lost: released", "elected", "lost: released")
	})
}

func TestSecondRunIsRefusedWhileTheFirstLasts(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		c := w.candidate(d.keep())
		stop := w.run(c)
		w.want("second Run", c.Run(w.Context()), coord.ErrStarted)
		if _, ok := c.Leading(); !ok {
			w.Error("the second Run ended the leadership of the first")
		}
		_ = stop()
		d.is(w, "elected", "lost: released")
	})
}

func TestCandidateCampaignsAgainAfterALoss(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		stop := w.run(w.candidate(d.keep()))
		w.mem.Expire(coord.KindElection, "boss")
		time.Sleep(ttl)
		w.link.Set(coordtest.VerbRenew, coordtest.Drop(), 0)
		time.Sleep(ttl)
		w.link.Clear()
		time.Sleep(2 * ttl)
		_ = stop()
		d.is(w, "elected", "lost: lost", "elected", "lost: expired", "elected", "lost: released")
	})
}

func TestLeadingIsFalseTheInstantTrustIsOver(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		c := w.candidate(coord.LeadOptions{})
		w.run(c)
		term, _ := c.Leading()
		w.link.Set(coordtest.VerbRenew, coordtest.Drop(), 0)
		time.Sleep(time.Until(term.Lease().TrustedUntil()))
		if _, ok := c.Leading(); ok {
			w.Error("leads at the deadline")
		}
	})
}

func TestErrorOfOnElectedDoesNotEndTheLeadership(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		o := d.keep()
		own := errors.New("own")
		o.OnElected = func(context.Context, *coord.Term) error { d.add("elected"); return own }
		o.OnError = func(err error) {
			w.want("what OnError is told", err, own)
			d.add("error")
		}
		c := w.candidate(o)
		stop := w.run(c)
		time.Sleep(time.Hour)
		if _, ok := c.Leading(); !ok {
			w.Error("does not lead any more")
		}
		_ = stop()
		d.is(w, "elected", "error", "lost: released")
	})
}

func TestErrorOfOnElectedEndsTheCandidateIfAskedTo(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		o := d.keep()
		own := errors.New("own")
		o.OnElected = func(context.Context, *coord.Term) error { d.add("elected"); return own }
		o.EndOnError = true
		w.want("Run", w.candidate(o).Run(w.Context()), own)
		if w.led() {
			w.Error("it abdicated without releasing")
		}
		d.is(w, "elected", "lost: released")
	})
}

func TestCandidateGivesUpWhatCannotSucceed(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		c := w.candidate(coord.LeadOptions{Data: make([]byte, 5000)})
		w.want("Run", c.Run(w.Context()), coord.ErrDataTooLong)
		w.link.Set(coordtest.VerbOpen, coordtest.Fail(coord.ErrRefused), 0)
		w.want("Run", w.candidate(coord.LeadOptions{}).Run(w.Context()), coord.ErrRefused)
	})
}

func TestCandidateTriesAgainWhatMayPass(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		w.link.Set(coordtest.VerbAcquire, coordtest.Fail(nil), 3)
		c := w.candidate(d.keep())
		stop := w.run(c)
		time.Sleep(ttl)
		_ = stop()
		d.is(w, "error", "error", "error", "elected", "lost: released")
	})
}

func TestResignationThatDidNotArriveIsTold(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		o := d.keep()
		o.OnError = func(err error) {
			w.want("what OnError is told", err, coordtest.ErrCut)
			d.add("error")
		}
		stop := w.run(w.candidate(o))
		w.link.Set(coordtest.VerbRelease, coordtest.Fail(nil), 0)
		_ = stop()
		d.is(w, "elected", "lost: released", "error")
	})
}

func TestCampaignsThatFailAreSpaced(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var last time.Time
		o := coord.LeadOptions{OnError: func(error) {
			if gap := time.Since(last); gap < 50*time.Millisecond {
				w.Errorf("failed again after %v", gap)
			}
			last = time.Now()
		}}
		w.link.Set(coordtest.VerbAcquire, coordtest.Fail(nil), 30)
		c := w.candidate(o)
		stop := w.run(c)
		time.Sleep(time.Hour)
		if _, ok := c.Leading(); !ok {
			w.Error("gave up")
		}
		_ = stop()
	})
}

func TestTermsThatAreLostAtOnceAreSpaced(t *testing.T) {
	t.Parallel()
	inShape(t, coordtest.GrantRenews, func(w *world) {
		var last time.Time
		n := 0
		stop := w.run(w.candidate(coord.LeadOptions{OnElected: func(context.Context, *coord.Term) error {
			if gap := time.Since(last); gap < 50*time.Millisecond {
				w.Errorf("elected again after %v", gap)
			}
			last = time.Now()
			if n++; n < 10 {
				w.mem.Expire(coord.KindElection, "boss")
			}
			return nil
		}}))
		time.Sleep(time.Hour)
		_ = stop()
		if n != 10 {
			w.Errorf("%d terms, want 10", n)
		}
	})
}

func TestTermsThatEndAtOnceAreSpaced(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var elected []time.Time
		stop := w.run(w.candidate(coord.LeadOptions{OnElected: func(ctx context.Context, t *coord.Term) error {
			if elected = append(elected, time.Now()); len(elected) < 10 {
				return t.Resign(ctx)
			}
			return nil
		}}))
		time.Sleep(time.Hour)
		_ = stop()
		if len(elected) != 10 {
			w.Fatalf("%d terms, want 10", len(elected))
		}
		for i := range elected[1:] {
			if gap := elected[i+1].Sub(elected[i]); gap < 50*time.Millisecond {
				w.Errorf("term %d began %v after the one before", i+2, gap)
			}
		}
	})
}
