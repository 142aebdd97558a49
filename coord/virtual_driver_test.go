package coord_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// This file is about drivers that are worse than they should be, or have habits that
// the service in memory lacks.

// habit is a difference of a sabotaged driver from a right one.
type habit uint8

const (
	deaf  habit = iota // ignores the context of renewals and acquisitions
	mute               // tells nothing by Done
	stale              // counts a grant from the beginning of the wait for it, as one does who waits in a queue
)

// bent is a driver with a habit. It has none of the optional interfaces but Renewer.
type bent struct {
	coord.Driver
	habit habit
}

func (d bent) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	b := bentSession{s, d.habit}
	if r, ok := s.(coord.Renewer); ok {
		return struct {
			bentSession
			coord.Renewer
		}{b, &bentRenewer{r: r, habit: d.habit}}, nil
	}
	return b, nil
}

type bentSession struct {
	coord.DriverSession
	habit habit
}

func (s bentSession) Done() <-chan struct{} {
	if s.habit == mute {
		return nil
	}
	return s.DriverSession.Done()
}

func (s bentSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	asked := time.Now()
	if s.habit == deaf {
		ctx = context.WithoutCancel(ctx)
	}
	g, ok, err := s.DriverSession.Acquire(ctx, c)
	if !ok || err != nil {
		return nil, false, err
	}
	b := &bentGrant{Grant: g, habit: s.habit, asked: asked}
	if r, ok := g.(coord.Renewer); ok {
		return struct {
			*bentGrant
			coord.Renewer
		}{b, &bentRenewer{r, s.habit}}, true, nil
	}
	return b, true, nil
}

type bentGrant struct {
	coord.Grant
	habit habit
	asked time.Time
}

func (g *bentGrant) Done() <-chan struct{} {
	if g.habit == mute {
		return nil
	}
	return g.Grant.Done()
}

func (g *bentGrant) Info() coord.GrantInfo {
	i := g.Grant.Info()
	if g.habit == stale {
		i.Asked = g.asked
	}
	return i
}

type bentRenewer struct {
	r     coord.Renewer
	habit habit
}

func (r *bentRenewer) Renew(ctx context.Context) (coord.Window, error) {
	if r.habit == deaf {
		ctx = context.WithoutCancel(ctx)
	}
	return r.r.Renew(ctx)
}

// A driver that ignores the context of a renewal answers when trust is over. The
// answer is true of the service, but the lease has been given up and stays so.
func TestLateAnswerDoesNotReviveALease(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		s := w.open(bent{w.mem.NewDriver(w.link), deaf}, options())
		l := w.lock(s, "job")
		n := w.link.Calls(coordtest.VerbRenew)
		w.link.Set(coordtest.VerbRenew, coordtest.HangReply(), 0)
		if err := w.link.Await(w.Context(), coordtest.VerbRenew, n+1); err != nil {
			w.Fatal(err)
		}
		_, cause := w.ended(l)
		w.want("cause", cause, coord.ErrExpired)
		w.link.Clear(coordtest.VerbRenew) // now it answers: renewed
		synctest.Wait()
		w.want("Check after the late answer", l.Check(), coord.ErrExpired)
		if l.TrustedUntil().After(time.Now()) {
			w.Errorf("trusted until %v after it ended", l.TrustedUntil())
		}
	})
}

// What a driver grants after the claim's context has ended is given back.
func TestGrantThatComesAfterTheCancelIsGivenBack(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		s := w.open(bent{w.mem.NewDriver(w.link), deaf}, options())
		w.link.Set(coordtest.VerbAcquire, coordtest.DelayReply(ttl/4), 1)
		l, err := mutex(s, "job").Lock(w.within(ttl / 8))
		w.want("locking", err, context.DeadlineExceeded)
		if l != nil {
			w.Error("there is a lease after the end of the claim's context")
		}
		if ids := w.owners("job"); len(ids) != 0 {
			w.Errorf("the service was left with the owners %q", ids)
		}
		w.lock(s, "job")
	})
}

// The verdict of a renewal is enough, whatever Done says.
func TestVerdictEndsTheLeaseOfADriverThatTellsNothing(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		link := &coordtest.Faults{} // where w.s asks nothing
		l := w.lock(w.open(bent{w.mem.NewDriver(link), mute}, options()), "job")
		time.Sleep(ttl)
		w.mem.Expire(coord.KindMutex, "job")
		w.must("awaiting", link.Await(w.Context(), coordtest.VerbRenew, link.Calls(coordtest.VerbRenew)+1))
		synctest.Wait()
		w.want("Check", l.Check(), coord.ErrLost)
	})
}

// The window of a grant that was waited for in a queue is long over when it comes. It
// is renewed before it is anybody's.
func TestGrantWhoseWindowIsOldIsConfirmedFirst(t *testing.T) {
	t.Parallel()
	inShapes(t, coordtest.MemOptions{}, func(w *world) {
		s := w.open(bent{w.mem.NewDriver(w.link), stale}, options())
		other := w.lock(w.rival(), "job")
		time.AfterFunc(3*ttl, func() { _ = other.Release(w.Context()) })
		l := w.lock(s, "job")
		w.want("Check", l.Check(), nil)
		if left := time.Until(l.TrustedUntil()); left <= 0 {
			w.Errorf("trusted for %v when given", left)
		}
		if n := w.link.Calls(coordtest.VerbRenew); n != 1 {
			w.Errorf("confirmed by %d renewals, want one", n)
		}
		time.Sleep(5 * ttl)
		w.want("Check five TTLs later", l.Check(), nil)
	}, coordtest.GrantRenews)
}

// When the confirmation cannot be had, there is no lease, and nothing is left behind.
func TestGrantThatCannotBeConfirmedIsGivenBack(t *testing.T) {
	t.Parallel()
	for _, fault := range []coordtest.Fault{coordtest.Fail(nil), coordtest.LoseReply(), coordtest.Drop(), coordtest.Expire()} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			inShapes(t, coordtest.MemOptions{}, func(w *world) {
				s := w.open(bent{w.mem.NewDriver(w.link), stale}, options())
				other := w.lock(w.rival(), "job")
				time.AfterFunc(3*ttl, func() { _ = other.Release(w.Context()) })
				w.link.Set(coordtest.VerbRenew, fault, 0)
				start := time.Now()
				l, err := s.Mutex("job", coord.MutexOptions{Wait: 3*ttl + 10*time.Millisecond}).Lock(w.Context())
				if err == nil {
					w.Fatalf("there is a lease without a confirmation, trusted until %v", l.TrustedUntil())
				}
				if took := time.Since(start); took > 5*ttl {
					w.Errorf("it took %v to give up, the window is %v", took, ttl)
				}
				if ids := w.owners("job"); len(ids) != 0 {
					w.Errorf("the service was left with the owners %q", ids)
				}
				w.link.Clear()
				w.lock(s, "job")
			}, coordtest.GrantRenews)
		})
	}
}

// A term whose trust ran out writes nothing more, although the service would still
// take it.
func TestProclaimAfterTheEndOfTrustIsNotSent(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		term, err := w.s.Election("top", coord.ElectionOptions{}).Campaign(w.Context(), []byte("first"))
		w.must("campaigning", err)
		w.link.Set(coordtest.VerbRenew, coordtest.HangReply(), 0) // the service keeps it
		w.link.Set(coordtest.VerbRelease, coordtest.Drop(), 0)
		_, cause := w.ended(term.Lease())
		w.want("cause", cause, coord.ErrExpired)
		w.want("proclaiming", term.Proclaim(w.Context(), []byte("late")), coord.ErrExpired)
		if n := w.link.Calls(coordtest.VerbPublish); n != 0 {
			w.Errorf("%d publications were sent", n)
		}
		if o := w.mem.Owners(coord.KindElection, "top"); len(o) != 1 || string(o[0].Data) != "first" {
			w.Errorf("the service has %+v, want us and the first data", o)
		}
	})
}
