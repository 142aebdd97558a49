package coord_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// quota returns a semaphore one of three permits, which exists in either shape.
func (w *world) quota(s *coord.Session) *coord.Semaphore {
	w.Helper()
	m := s.Semaphore("quota", coord.SemaphoreOptions{Limit: 3})
	if s.Caps().OneFate && w.mem.Owners(coord.KindSemaphore, "quota") == nil {
		_ = m.Create(w.Context(), 3, nil) // refused where a test made it already
	}
	return m
}

func TestSemaphoreGivesAsManyPermitsAsThereAre(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		rival := w.rival()
		two, err := w.quota(w.s).Acquire(w.Context(), 2)
		w.want("Acquire", err, nil)
		if got := w.mem.Owners(coord.KindSemaphore, "quota"); len(got) != 1 || got[0].Permits != 2 || got[0].ID != two.Owner() {
			w.Errorf("the service has %+v, want %s with 2 permits", got, two.Owner())
		}
		_, ok, err := w.quota(rival).TryAcquire(w.Context(), 2)
		if ok || err != nil {
			w.Errorf("TryAcquire of more than is left: %v, %v", ok, err)
		}
		_, ok, err = w.quota(rival).TryAcquire(w.Context(), 0)
		if got := w.mem.Owners(coord.KindSemaphore, "quota"); !ok || err != nil || len(got) != 2 || got[1].Permits != 1 {
			w.Errorf("TryAcquire of what is left: %v, %v: %+v", ok, err, got)
		}
		_, err = w.quota(w.s).Acquire(w.Context(), 1)
		w.want("a second claim of the session", err, coord.ErrClaimed)
	})
}

func TestSemaphoreThatExistsIsMadeChangedAndRemoved(t *testing.T) {
	t.Parallel()
	inShape(t, coordtest.SessionRenews, func(w *world) {
		m := w.s.Semaphore("quota", coord.SemaphoreOptions{})
		_, err := m.Describe(w.Context())
		w.want("Describe before", err, coord.ErrNotFound)
		w.want("Create", m.Create(w.Context(), 7, []byte("a")), nil)
		w.want("Create again", m.Create(w.Context(), 7, nil), coord.ErrRefused)
		w.want("Update", m.Update(w.Context(), []byte("b")), nil)
		d, err := m.Describe(w.Context())
		w.want("Describe", err, nil)
		if d.Limit != 7 || string(d.Data) != "b" {
			w.Errorf("%+v", d)
		}
		_, err = m.Acquire(w.Context(), 1)
		w.want("Acquire", err, nil)
		w.want("Delete in use", m.Delete(w.Context(), false), coord.ErrRefused)
		w.want("Delete by force", m.Delete(w.Context(), true), nil)
		_, err = m.Describe(w.Context())
		w.want("Describe after", err, coord.ErrNotFound)
	})
}

func TestWatchYieldsEachStateThatDiffers(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		m := w.quota(w.s)
		rival := w.quota(w.rival())
		var taken []uint64
		steps := []func(){
			func() { _, _ = rival.Acquire(w.Context(), 2) },
			func() {}, // nothing happens, nothing is yielded
			func() { _, _ = m.Acquire(w.Context(), 1) },
		}
		ctx, cancel := context.WithCancel(w.Context())
		go func() {
			for _, step := range steps {
				time.Sleep(5 * time.Second)
				step()
			}
			time.Sleep(5 * time.Second)
			cancel()
		}()
		for d, err := range m.Watch(ctx) {
			w.want("Watch", err, nil)
			var n uint64
			for _, o := range d.Owners {
				n += o.Permits
			}
			taken = append(taken, n)
		}
		if !slices.Equal(taken, []uint64{0, 2, 3}) {
			w.Errorf("saw %v permits taken, want 0, 2, 3", taken)
		}
	})
}

func TestPolledWatchOutlivesALookThatFails(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		s := w.open(coordtest.Hide(w.mem.NewDriver(w.link), coordtest.CanWatch), options())
		m := w.quota(s)
		w.link.Set(coordtest.VerbDescribe, coordtest.Fail(nil), 3)
		for d, err := range m.Watch(w.Context()) {
			if err != nil || d.Name != "quota" {
				w.Errorf("%+v, %v", d, err)
			}
			break
		}
		w.link.Set(coordtest.VerbDescribe, coordtest.Fail(coord.ErrRefused), 0)
		n := 0
		for _, err := range m.Watch(w.Context()) {
			n++
			w.want("final error", err, coord.ErrRefused)
		}
		if n != 1 {
			w.Errorf("yielded %d times", n)
		}
	})
}

// queued takes a place for a permit that a rival has.
func queued(t *testing.T, o coord.SemaphoreOptions, f func(w *world, rival *coord.Lease, p *coord.QueuePlace)) {
	t.Helper()
	inShape(t, coordtest.SessionRenews, func(w *world) {
		all, err := w.quota(w.rival()).Acquire(w.Context(), 3)
		w.want("Acquire", err, nil)
		p, err := w.s.Semaphore("quota", o).Enqueue(w.Context(), 1)
		if err != nil {
			w.Fatalf("Enqueue: %v", err)
		}
		f(w, all, p)
	})
}

func (w *world) waiters() int { return len(w.mem.Waiters(coord.KindSemaphore, "quota")) }

func TestPlaceInTheQueueBecomesALease(t *testing.T) {
	t.Parallel()
	queued(t, coord.SemaphoreOptions{}, func(w *world, rival *coord.Lease, p *coord.QueuePlace) {
		_, err := w.quota(w.s).Acquire(w.Context(), 1)
		w.want("a second claim", err, coord.ErrClaimed)
		time.AfterFunc(time.Hour, func() { _ = rival.Release(context.Background()) })
		l, ok, err := p.Wait(w.Context())
		if !ok || err != nil {
			w.Fatalf("Wait: %v, %v", ok, err)
		}
		w.want("Check", l.Check(), nil)
		_, _, err = p.Wait(w.Context())
		w.want("Wait again", err, coord.ErrClosed)
		w.want("Leave of what became a lease", p.Leave(w.Context()), nil)
		w.want("Check after it", l.Check(), nil)
		w.want("Release", l.Release(w.Context()), nil)
		_, err = w.quota(w.s).Acquire(w.Context(), 1)
		w.want("the name is free", err, nil)
	})
}

func TestPlaceInTheQueueOfAMutexBecomesALease(t *testing.T) {
	t.Parallel()
	inShape(t, coordtest.SessionRenews, func(w *world) {
		rival, err := w.rival().Mutex("job", coord.MutexOptions{}).Lock(w.Context())
		w.want("Lock", err, nil)
		for _, o := range []coord.MutexOptions{{Wait: time.Second}, {}} {
			p, err := w.s.Mutex("job", o).Enqueue(w.Context())
			if err != nil {
				w.Fatalf("Enqueue: %v", err)
			}
			if o.Wait == 0 {
				time.AfterFunc(time.Hour, func() { _ = rival.Release(context.Background()) })
			}
			if _, ok, err := p.Wait(w.Context()); ok != (o.Wait == 0) || err != nil {
				w.Errorf("Wait of a place that waits %v: %v, %v", o.Wait, ok, err)
			}
		}
	})
}

func TestPlaceIsKeptWhenTheContextOfWaitEnds(t *testing.T) {
	t.Parallel()
	queued(t, coord.SemaphoreOptions{}, func(w *world, rival *coord.Lease, p *coord.QueuePlace) {
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, ok, err := p.Wait(ctx)
		w.want("Wait", err, context.DeadlineExceeded)
		if ok || w.waiters() != 1 {
			w.Errorf("ok %v, %d waiters", ok, w.waiters())
		}
		w.want("Release", rival.Release(w.Context()), nil)
		l, ok, err := p.Wait(w.Context())
		if !ok || err != nil || l.Check() != nil {
			w.Errorf("Wait again: %v, %v", ok, err)
		}
	})
}

func TestPlaceThatIsLeftIsGone(t *testing.T) {
	t.Parallel()
	queued(t, coord.SemaphoreOptions{}, func(w *world, _ *coord.Lease, p *coord.QueuePlace) {
		waited := make(chan error, 1)
		go func() {
			_, _, err := p.Wait(w.Context())
			waited <- err
		}()
		synctest.Wait()
		w.want("Leave", p.Leave(w.Context()), nil)
		w.want("the Wait under way", <-waited, coord.ErrClosed)
		w.want("Leave again", p.Leave(w.Context()), nil)
		if w.waiters() != 0 {
			w.Error("still in the queue")
		}
		_, err := w.s.Semaphore("quota", coord.SemaphoreOptions{Wait: time.Second}).Acquire(w.Context(), 1)
		w.want("the name is free", err, coord.ErrNotAcquired)
	})
}

func TestPlaceOfWhichAnAnswerIsLostLeavesTheNameFree(t *testing.T) {
	t.Parallel()
	inShape(t, coordtest.SessionRenews, func(w *world) {
		m := w.quota(w.s)
		w.link.Set(coordtest.VerbEnqueue, coordtest.LoseReply(), 1)
		_, err := m.Enqueue(w.Context(), 1)
		w.want("Enqueue", err, coordtest.ErrCut)
		p, err := m.Enqueue(w.Context(), 1)
		w.want("Enqueue again", err, nil)
		w.link.Set(coordtest.VerbWait, coordtest.LoseReply(), 1)
		_, _, err = p.Wait(w.Context())
		w.want("Wait", err, coordtest.ErrCut)
		w.link.Set(coordtest.VerbLeave, coordtest.LoseReply(), 1)
		w.want("Leave", p.Leave(w.Context()), coordtest.ErrCut)
		l, err := m.Acquire(w.Context(), 3)
		w.want("Acquire", err, nil)
		w.want("Check", l.Check(), nil)
	})
}

func TestPlaceIsGoneWhenItsWaitRunsOut(t *testing.T) {
	t.Parallel()
	queued(t, coord.SemaphoreOptions{Wait: 3 * time.Second}, func(w *world, _ *coord.Lease, p *coord.QueuePlace) {
		l, ok, err := p.Wait(w.Context())
		if l != nil || ok || err != nil {
			w.Errorf("Wait: %v, %v, %v, want neither a lease nor an error", l, ok, err)
		}
		_, _, err = p.Wait(w.Context())
		w.want("Wait again", err, coord.ErrClosed)
		if w.waiters() != 0 {
			w.Error("still in the queue")
		}
	})
}

func TestPlaceEndsWithItsSession(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]bool{"somebody waits": true, "nobody waits": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queued(t, coord.SemaphoreOptions{}, func(w *world, _ *coord.Lease, p *coord.QueuePlace) {
				waited := make(chan error, 1)
				if waits {
					go func() {
						_, _, err := p.Wait(w.Context())
						waited <- err
					}()
					synctest.Wait()
				}
				w.want("Close", w.s.Close(w.Context()), nil)
				if w.waiters() != 0 {
					w.Error("still in the queue")
				}
				if !waits {
					_, _, err := p.Wait(w.Context())
					waited <- err
				}
				w.want("Wait", <-waited, coord.ErrClosed)
			})
		})
	}
}

// queueing is a driver whose sessions keep a queue that serves everybody, after
// whatever a test wants to happen at that instant.
type queueing struct {
	*stub
	served func()
}

func (d *queueing) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.stub.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return struct {
		coord.DriverSession
		coord.Queuer
	}{s, servedPlace{d: d, s: s}}, nil
}

type servedPlace struct {
	d *queueing
	s coord.DriverSession
	c coord.Claim
}

func (p servedPlace) Enqueue(_ context.Context, c coord.Claim) (coord.Place, error) {
	return servedPlace{p.d, p.s, c}, nil
}

func (p servedPlace) Wait(ctx context.Context) (coord.Grant, bool, error) {
	p.d.served()
	return p.s.Acquire(ctx, p.c)
}

func (p servedPlace) Leave(context.Context) error { return nil }

func TestLeaseThatCameAsTheContextOfWaitEndedIsNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &queueing{stub: grantStub()}
		d.caps.Semaphore = true
		s, err := coord.Open(t.Context(), d, options())
		noError(t, err)
		defer s.Abandon()
		p, err := s.Semaphore("quota", coord.SemaphoreOptions{}).Enqueue(t.Context(), 1)
		noError(t, err)
		time.Sleep(time.Hour) // in the queue
		ctx, cancel := context.WithCancel(t.Context())
		d.served = cancel
		l, ok, err := p.Wait(ctx)
		if err != nil || !ok || l.Check() != nil {
			t.Fatalf("Wait: %v, %v, %v", l, ok, err)
		}
		if err := l.Release(t.Context()); err != nil || d.releases.Load() != 1 {
			t.Errorf("Release: %v, sent %d times", err, d.releases.Load())
		}
	})
}
