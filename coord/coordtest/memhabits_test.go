package coordtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// What the service in memory does that hurts, because the services that it stands for
// do it too.

func TestSecondClaimOfASessionIsGrantedSilentlyWhereTheSessionRenews(t *testing.T) {
	t.Parallel()
	m := coordtest.NewMem(coordtest.SessionRenews, coordtest.MemOptions{})
	s := open(t, m.NewDriver(nil))
	first, _ := acquire(t, s)
	second, _ := acquire(t, s)
	if a, b := first.Info().Fence, second.Info().Fence; a != b {
		t.Errorf("fences %d and %d, want one for both", a, b)
	}
	if err := first.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 1 {
		t.Errorf("the release of the old claim left %d owners, want the new one", len(o))
	}
	if err := second.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 0 {
		t.Errorf("the release left the owners %+v", o)
	}
}

func TestSecondClaimOfASessionMissesWhereEachGrantRenews(t *testing.T) {
	t.Parallel()
	s := open(t, coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}).NewDriver(nil))
	acquire(t, s)
	if _, ok, err := s.Acquire(t.Context(), mutex); ok || err != nil {
		t.Errorf("ok %v, %v, want a miss", ok, err)
	}
}

func TestFirstToComeSetsTheLimitWhereEachGrantRenews(t *testing.T) {
	t.Parallel()
	s := open(t, coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}).NewDriver(nil))
	for _, c := range []struct {
		limit uint64
		want  error
	}{{0, coord.ErrRefused}, {2, nil}, {3, coord.ErrRefused}, {2, nil}} {
		_, _, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindSemaphore, Name: "s", Limit: c.limit})
		if !errors.Is(err, c.want) {
			t.Errorf("with a limit of %d: %v, want %v", c.limit, err, c.want)
		}
	}
}

func TestDeletedSemaphoreEndsTheWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := coordtest.NewMem(coordtest.SessionRenews, coordtest.MemOptions{Push: true})
		owner, waiter := open(t, m.NewDriver(nil)), open(t, m.NewDriver(nil))
		p := owner.(coord.Provisioner)
		if err := p.Create(t.Context(), "s", 1, nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Create(t.Context(), "s", 1, nil); !errors.Is(err, coord.ErrRefused) {
			t.Errorf("creating it twice: %v, want ErrRefused", err)
		}
		c := coord.Claim{Kind: coord.KindSemaphore, Name: "s", Wait: coord.Forever}
		g, _, err := owner.Acquire(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, _, err := waiter.Acquire(t.Context(), c)
			got <- err
		}()
		synctest.Wait()
		if w := m.Waiters(c.Kind, c.Name); len(w) != 1 {
			t.Errorf("%d waiters, want one", len(w))
		}
		if err := p.Delete(t.Context(), "s", true); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, coord.ErrNotFound) {
			t.Errorf("the waiter: %v, want ErrNotFound", err)
		}
		<-g.Done()
		if err := g.Err(); !errors.Is(err, coord.ErrLost) {
			t.Errorf("the owner: %v, want ErrLost", err)
		}
		for _, s := range []coord.DriverSession{owner, waiter} {
			if s.Err() != nil {
				t.Errorf("a session ended with the semaphore: %v", s.Err())
			}
		}
	})
}

func TestLostAnswersAboutPlacesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	faulty(t, func(t *testing.T, m *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
		s := open(t, d)
		q, ok := s.(coord.Queuer)
		if !ok {
			t.Skip("there is no queue in this shape")
		}
		f.Set(coordtest.VerbEnqueue, coordtest.LoseReply(), 1)
		if _, err := q.Enqueue(t.Context(), mutex); !errors.Is(err, coordtest.ErrCut) {
			t.Errorf("enqueueing: %v, want ErrCut", err)
		}
		if o := m.Owners(mutex.Kind, mutex.Name); len(o) != 0 {
			t.Errorf("the service was left with the owners %+v", o)
		}
		p, err := q.Enqueue(t.Context(), mutex)
		if err != nil {
			t.Fatal(err)
		}
		f.Set(coordtest.VerbLeave, coordtest.Fail(nil), 1)
		if err := p.Leave(t.Context()); !errors.Is(err, coordtest.ErrCut) {
			t.Errorf("leaving: %v, want ErrCut", err)
		}
		if _, err := s.(coord.Renewer).Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d, below := d.(*coordtest.MemDriver); below && len(m.Owners(mutex.Kind, mutex.Name)) != 0 {
			t.Errorf("%s does not tell with its next renewal that it left", d.Name())
		}
	})
}

// Below the driver a watch goes on; above it the fault is the watch's end.
func TestFaultOfAWatch(t *testing.T) {
	t.Parallel()
	faulty(t, func(t *testing.T, _ *coordtest.Mem, f *coordtest.Faults, d coord.Driver) {
		s := open(t, d)
		_, below := d.(*coordtest.MemDriver)
		f.Set(coordtest.VerbWatch, coordtest.Fail(nil), 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var states, errs int
		for _, err := range s.(coord.Watcher).Watch(ctx, mutex.Kind, mutex.Name) {
			if err != nil {
				errs++
				continue
			}
			states++
			cancel()
		}
		if below && (states != 1 || errs != 0) || !below && (states != 0 || errs != 1) {
			t.Errorf("%d states and %d errors", states, errs)
		}
	})
}
