package coordtest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
)

// coreCases returns the cases for what the core promises its users, on this driver.
func coreCases() []testCase {
	mutex := func(c coord.Caps) bool { return c.Mutex }
	return []testCase{
		{"Lease/KeptBeyondItsTTL", mutex, leaseIsKept},
		{"Lease/ContendersExcludeEachOther", mutex, contenders},
		{"Lease/SecondClaimIsRefused", mutex, claimedOnce},
		{"Lease/EndsWithItsRelease", mutex, leaseReleased},
		{"Lease/EndsWithItsSession", mutex, leaseClosed},
		{"Lease/SessionReleasesNewestFirst", mutex, leasesNewestFirst},
		{"Lease/EndsWhenTakenAway", mutex, leaseTakenAway},
		{"Lease/EndsBeforeASilentServiceGivesItAway", mutex, silentService},
		{"Permits/AreCountedAndDescribed", hasSemaphore, permits},
		{"Claim/WaitingIsTold", mutex, waitingIsTold},
		{"Claim/WaitingOutlivesWhatPasses", mutex, waitingOutlives},
		{"Claim/ThatASilentServiceMayGrantIsUncertain", mutex, uncertainClaim},
		{"Claim/TooMuchDataIsNotSent", func(c coord.Caps) bool { return c.Election }, tooLong},
		{"Claim/OfAnUnsupportedKindIsRefused", nil, unsupported},
	}
}

// core opens a session of the core with a client of its own.
func (s *suite) core() *coord.Session {
	s.Helper()
	return s.coreOn(s.driver(), s.options())
}

func (s *suite) coreOn(d coord.Driver, o coord.SessionOptions) *coord.Session {
	s.Helper()
	session, err := coord.Open(s.ctx, d, o)
	s.noError("opening a session", err)
	s.atEnd(func(ctx context.Context) { _ = session.Close(ctx) }) // a session that the case broke may have nothing left to close
	return session
}

func (s *suite) lock(session *coord.Session, name string) *coord.Lease {
	s.Helper()
	l, err := session.Mutex(name, coord.MutexOptions{}).Lock(s.ctx)
	s.noError("locking", err)
	return l
}

// noError fails and ends the case if err is not nil.
func (s *suite) noError(doing string, err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%s: %v", doing, err)
	}
}

// is checks that err wraps the wanted error.
func (s *suite) is(what string, err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Errorf("%s: %v, want %v", what, err, want)
	}
}

func leaseIsKept(s *suite) {
	name := s.fresh(coord.KindMutex)
	owner, rival := s.core(), s.core()
	l := s.lock(owner, name)
	long, cancel := context.WithTimeout(s.ctx, 2*s.h.TTL+s.h.TTL/2)
	defer cancel()
	_, err := rival.Mutex(name, coord.MutexOptions{}).Lock(long)
	s.is("locking what is owned", err, context.DeadlineExceeded)
	s.is("the owner's Check", l.Check(), nil)
	if !l.TrustedUntil().After(time.Now()) {
		s.Errorf("trusted until %v, which is past", l.TrustedUntil())
	}
	if l.Owner() == "" && s.caps.OneFate {
		s.Error("the owner does not know its own identity")
	}
}

func contenders(s *suite) {
	name := s.fresh(coord.KindMutex)
	const clients, rounds = 4, 4
	var inside atomic.Int32
	var all sync.WaitGroup
	var fence atomic.Uint64
	for range clients {
		session := s.core()
		all.Go(func() {
			for range rounds {
				l, err := session.Mutex(name, coord.MutexOptions{}).Lock(s.ctx)
				if err != nil {
					s.Errorf("locking: %v", err)
					return
				}
				if n := inside.Add(1); n != 1 {
					s.Errorf("%d owners at once", n)
				}
				if f := l.Fence(); s.caps.Fence && fence.Swap(f) >= f {
					s.Errorf("the fence fell to %d", f)
				}
				s.pause(s.h.TTL / 50) // long enough for another to start
				s.is("checking", l.Check(), nil)
				inside.Add(-1)
				s.is("releasing", l.Release(s.ctx), nil)
			}
		})
	}
	all.Wait()
}

// pause waits for d, or the end of the case.
func (s *suite) pause(d time.Duration) {
	_ = backoff.Sleep(s.ctx, d) // the next call fails if the case is over
}

func claimedOnce(s *suite) {
	name := s.fresh(coord.KindMutex)
	session := s.core()
	l := s.lock(session, name)
	_, err := session.Mutex(name, coord.MutexOptions{}).Lock(s.ctx)
	s.is("a second Lock", err, coord.ErrClaimed)
	_, _, err = session.Mutex(name, coord.MutexOptions{}).TryLock(s.ctx)
	s.is("a TryLock of what is ours", err, coord.ErrClaimed)
	s.noError("releasing", l.Release(s.ctx))
	s.lock(session, name)
}

func leaseReleased(s *suite) {
	name := s.fresh(coord.KindMutex)
	session := s.core()
	l := s.lock(session, name)
	s.noError("releasing", l.Release(s.ctx))
	s.is("Check", l.Check(), coord.ErrReleased)
	s.is("cause", context.Cause(l.Context()), coord.ErrReleased)
	s.is("releasing twice", l.Release(s.ctx), nil)
	isFree(s, name)
}

// isFree checks that a mutex can be locked at once.
func isFree(s *suite, name string) {
	s.Helper()
	if _, ok, err := s.core().Mutex(name, coord.MutexOptions{}).TryLock(s.ctx); !ok || err != nil {
		s.Errorf("locking what is free: ok %v, %v", ok, err)
	}
}

func leaseClosed(s *suite) {
	name := s.fresh(coord.KindMutex)
	session := s.core()
	l := s.lock(session, name)
	s.noError("closing", session.Close(s.ctx))
	s.is("Check", l.Check(), coord.ErrClosed)
	s.is("the session's cause", context.Cause(session.Context()), coord.ErrClosed)
	_, err := session.Mutex(name, coord.MutexOptions{}).Lock(s.ctx)
	s.is("locking in a closed session", err, coord.ErrClosed)
	isFree(s, name)
}

func leasesNewestFirst(s *suite) {
	if s.h.Endings == nil {
		s.Skip("the harness does not see the order of endings")
	}
	session := s.core()
	var want []string
	for range 3 {
		name := s.fresh(coord.KindMutex)
		s.lock(session, name)
		want = append([]string{name}, want...)
	}
	recorded := s.h.Endings(s)
	s.noError("closing", session.Close(s.ctx))
	s.released(recorded, want)
}

func leaseTakenAway(s *suite) {
	if s.h.Expire == nil {
		s.Skip("the harness cannot take anything away")
	}
	name := s.fresh(coord.KindMutex)
	session, rival := s.core(), s.core()
	l := s.lock(session, name)
	other := s.lock(session, s.fresh(coord.KindMutex))
	s.h.Expire(s, coord.KindMutex, name)
	taken := s.lock(rival, name)
	await(s, l.Context().Done(), "the lease did not end")
	wantCause(s, "lease that was taken away", l.Check(), coord.ErrLost, coord.ErrExpired)
	s.is("releasing what was taken away", l.Release(s.ctx), nil)
	s.is("the new owner's Check", taken.Check(), nil)
	if s.caps.OneFate {
		wantCause(s, "another lease of the session", other.Check(), coord.ErrLost, coord.ErrExpired)
	} else {
		s.is("another lease of the session", other.Check(), nil)
	}
}

func silentService(s *suite) {
	if s.h.Freezer == nil {
		s.Skip("the harness cannot freeze a service")
	}
	d, freeze := s.h.Freezer(s)
	l := s.lock(s.coreOn(d, s.options()), s.fresh(coord.KindMutex))
	freeze()
	frozen := time.Now()
	await(s, l.Context().Done(), "the lease did not end")
	s.is("cause", context.Cause(l.Context()), coord.ErrExpired)
	s.is("Check", l.Check(), coord.ErrExpired)
	if until := l.TrustedUntil(); until.After(frozen.Add(s.h.TTL)) {
		s.Errorf("trusted until %v after the service fell silent, the TTL is %v", until.Sub(frozen), s.h.TTL)
	}
}

func tooLong(s *suite) {
	d := &partDriver{Driver: s.driver()}
	session := s.coreOn(d, s.options())
	name := s.fresh(coord.KindElection)
	_, err := session.Election(name, coord.ElectionOptions{}).Campaign(s.ctx, make([]byte, s.caps.MaxData+1))
	s.is("campaigning with too much data", err, coord.ErrDataTooLong)
	if n := d.acquires.Load(); n != 0 {
		s.Errorf("the driver was asked %d times", n)
	}
	if _, ok, err := session.Election(name, coord.ElectionOptions{}).TryCampaign(s.ctx, bytes.Repeat([]byte("x"), s.caps.MaxData)); !ok || err != nil {
		s.Errorf("with as much as there may be: ok %v, %v", ok, err)
	}
}

func unsupported(s *suite) {
	d := &partDriver{Driver: s.driver()}
	session := s.coreOn(d, s.options())
	if !s.caps.Mutex {
		_, err := session.Mutex(s.fresh(coord.KindMutex), coord.MutexOptions{}).Lock(s.ctx)
		s.is("a mutex", err, coord.ErrUnsupported)
	}
	if !s.caps.Shared {
		o := coord.MutexOptions{Mode: coord.Shared}
		_, _, err := session.Mutex(s.fresh(coord.KindMutex), o).TryLock(s.ctx)
		s.is("a shared mutex", err, coord.ErrUnsupported)
	}
	if !s.caps.Semaphore {
		_, err := session.Semaphore(s.fresh(coord.KindSemaphore), coord.SemaphoreOptions{}).Acquire(s.ctx, 1)
		s.is("a semaphore", err, coord.ErrUnsupported)
	}
	if !s.caps.Ephemeral {
		o := coord.SemaphoreOptions{Ephemeral: true}
		_, err := session.Semaphore(s.fresh(coord.KindSemaphore), o).Acquire(s.ctx, 1)
		s.is("an ephemeral semaphore", err, coord.ErrUnsupported)
	}
	if !s.caps.Election {
		_, err := session.Election(s.fresh(coord.KindElection), coord.ElectionOptions{}).Campaign(s.ctx, nil)
		s.is("an election", err, coord.ErrUnsupported)
	}
	if n := d.acquires.Load(); n != 0 {
		s.Errorf("the driver was asked %d times", n)
	}
}

func permits(s *suite) {
	c := s.semaphore(3)
	o := coord.SemaphoreOptions{Limit: c.Limit}
	one, two := s.core().Semaphore(c.Name, o), s.core().Semaphore(c.Name, o)
	l, err := one.Acquire(s.ctx, 2)
	s.noError("acquiring 2 of 3", err)
	if _, ok, err := two.TryAcquire(s.ctx, 2); ok || err != nil {
		s.Errorf("trying for 2 more: ok %v, %v, want neither", ok, err)
	}
	if SessionAbilities(s.open())&CanDescribe != 0 {
		d, err := two.Describe(s.ctx)
		if err != nil || d.Limit != 3 || d.Taken != 2 {
			s.Errorf("described with %d of %d permits taken, %v, want 2 of 3", d.Taken, d.Limit, err)
		}
	}
	switch p, err := two.Enqueue(s.ctx, 2); {
	case errors.Is(err, coord.ErrUnsupported) && SessionAbilities(s.open())&CanQueue == 0:
	case err != nil:
		s.Errorf("enqueueing: %v", err)
	default:
		s.is("releasing", l.Release(s.ctx), nil)
		next, ok, err := p.Wait(s.ctx)
		if err != nil || !ok {
			s.Fatalf("waiting in the queue: ok %v, %v", ok, err)
		}
		s.is("Check of the lease from the queue", next.Check(), nil)
	}
	s.is("releasing", l.Release(s.ctx), nil)
}
