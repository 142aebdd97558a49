package coord_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coordtop/coord"
)

func TestWorkEndsBeforeTheLeadershipIsGivenUp(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		var d diary
		var c *coord.Candidate
		o := d.keep()
		o.OnElected = func(ctx context.Context, term *coord.Term) error {
			d.add("elected")
			<-ctx.Done()
			time.Sleep(time.Second) // winds up
			if _, ok := c.Leading(); ok {
				w.Error("leads while it gives up")
			}
			w.want("the cause of the work's end", context.Cause(ctx), coord.ErrReleased)
			w.want("Check while winding up", term.Lease().Check(), nil)
			if !w.led() {
				w.Error("another may lead while we still work")
			}
			d.add("done")
			return ctx.Err()
		}
		o.EndOnError = true // the context's own error is not one
		c = w.candidate(o)
		stop := w.run(c)
		w.want("Run", stop(), context.Canceled)
		d.is(w, "elected", "done", "lost: released")
	})
}

func TestWorkThatDoesNotEndKeepsTheLeadershipForTwoSecondsOnly(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		release := make(chan struct{})
		var d diary
		o := d.keep()
		o.OnElected = func(context.Context, *coord.Term) error { <-release; return nil }
		stop := w.run(w.candidate(o))
		go func() { _ = stop() }()
		time.Sleep(2*time.Second - 1)
		if !w.led() {
			w.Error("resigned too early")
		}
		time.Sleep(time.Second)
		if w.led() {
			w.Error("still leads")
		}
		d.is(w)
		close(release)
		_ = stop()
		d.is(w, "lost: released")
	})
}

func TestNoCampaignBeginsWhileTheWorkOfTheLastTermGoesOn(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		working := 0
		terms := 0
		o := coord.LeadOptions{OnElected: func(ctx context.Context, _ *coord.Term) error {
			if working++; working > 1 {
				w.Error("two terms at work")
			}
			terms++
			<-ctx.Done()
			time.Sleep(time.Minute)
			working--
			return nil
		}}
		stop := w.run(w.candidate(o))
		for range 5 {
			w.mem.Expire(coord.KindElection, "boss")
			time.Sleep(2 * time.Minute)
		}
		_ = stop()
		if terms < 4 {
			w.Errorf("%d terms", terms)
		}
	})
}

func TestLeadReturnsWhatTheWorkReturned(t *testing.T) {
	t.Parallel()
	own := errors.New("own")
	inBothShapes(t, func(w *world) {
		lead := func(ctx context.Context, f func(context.Context, *coord.Term) error) error {
			return coord.Lead(ctx, w.mem.NewDriver(nil), options(), "boss", coord.LeadOptions{}, f)
		}
		for _, want := range []error{nil, own} {
			w.want("Lead", lead(w.Context(), func(_ context.Context, term *coord.Term) error {
				w.want("Check", term.Lease().Check(), nil)
				return want
			}), want)
			if w.led() {
				w.Error("it abdicated without releasing")
			}
		}
		calls := 0
		w.want("Lead over two terms", lead(w.Context(), func(ctx context.Context, _ *coord.Term) error {
			if calls++; calls == 1 {
				w.mem.Expire(coord.KindElection, "boss")
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}), nil)
		if calls != 2 {
			w.Errorf("called %d times, want 2: its first term was lost", calls)
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		w.want("Lead until its context ends", lead(ctx, func(ctx context.Context, _ *coord.Term) error {
			<-ctx.Done()
			return nil
		}), context.DeadlineExceeded)
	})
}
