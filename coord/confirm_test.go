package coord_test

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

func TestConfirmFindsALossBeforeTheNextRenewal(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		time.Sleep(ttl / 10)
		synctest.Wait()
		w.link.Set(coordtest.VerbRenew, coordtest.Expire(), 0)
		asked := time.Now()
		l.Confirm()
		at, cause := w.ended(l)
		w.want("cause", cause, coord.ErrLost)
		if !at.Equal(asked) {
			w.Errorf("the loss was found %v after it was asked about, want at once", at.Sub(asked))
		}
		l.Confirm() // after the end it does nothing
	})
}

func TestConfirmDoesNotEndALeaseThatTheServiceConfirms(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				first := d.renewals.Load()
				time.Sleep(time.Second)
				l.Confirm()
				synctest.Wait()
				if got := d.renewals.Load() - first; got != 1 {
					t.Errorf("%d renewals were sent at once, want 1", got)
				}
				if err := l.Check(); err != nil {
					t.Errorf("Check %v, want none: the service confirmed it", err)
				}
			})
		})
	}
}

// A watch that never stops to show another owner must not turn into a storm of requests.
func TestConfirmIsPacedHoweverOftenItIsCalled(t *testing.T) {
	t.Parallel()
	for name, d := range stubs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := lockStub(t, openStub(t, d, options()), "job")
				first := d.renewals.Load()
				for range 6000 { // a minute
					l.Confirm()
					time.Sleep(10 * time.Millisecond)
				}
				got := d.renewals.Load() - first
				if got < 18 || got > 60 { // 18 come without Confirm
					t.Errorf("%d renewals in a minute", got)
				}
				time.Sleep(3 * ttl)
				for first = d.renewals.Load(); d.renewals.Load() == first; {
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(time.Second) // after each answer nothing is sent for a short time
				synctest.Wait()
				first = d.renewals.Load()
				l.Confirm()
				synctest.Wait()
				if got := d.renewals.Load() - first; got != 1 {
					t.Errorf("after a calm time %d renewals were sent at once, want 1", got)
				}
			})
		})
	}
}

// What was asked before the news came says nothing about it.
func TestConfirmDuringARenewalAsksOnceMore(t *testing.T) {
	t.Parallel()
	inShape(t, coordtest.GrantRenews, func(w *world) {
		l := w.lock(w.s, "job")
		w.link.Set(coordtest.VerbRenew, coordtest.DelayReply(time.Second), 1)
		before := w.link.Calls(coordtest.VerbRenew)
		if err := w.link.Await(w.Context(), coordtest.VerbRenew, before+1); err != nil {
			w.Fatal(err)
		}
		l.Confirm()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := w.link.Calls(coordtest.VerbRenew) - before; got != 2 {
			w.Errorf("%d renewals, want the one under way and one more", got)
		}
	})
}
