package coord

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// SemaphoreOptions configure a semaphore. The zero value is usable if the service knows the limit.
type SemaphoreOptions struct {
	// Limit is the number of permits that exist, for services that receive it with every claim.
	Limit uint64
	// Ephemeral makes the semaphore exist only while somebody owns permits. It needs Caps.Ephemeral.
	Ephemeral bool
	// TTL, Data and Wait mean the same as in MutexOptions.
	TTL  time.Duration
	Data []byte
	Wait time.Duration
	// Poll is the pause between two reads of Watch if the service does not report changes. 0: 1 s.
	Poll time.Duration
}

// Semaphore is one name whose permits, up to its limit, several owners can have. It is a value of a session and holds
// no state. Its methods are safe for concurrent use.
type Semaphore struct {
	s    *Session
	name string
	o    SemaphoreOptions
}

// Semaphore returns the semaphore of that name. It sends nothing to the service.
func (s *Session) Semaphore(name string, o SemaphoreOptions) *Semaphore {
	return &Semaphore{s: s, name: name, o: o}
}

// Acquire blocks until n permits are ours; 0 means 1. It ends early for the same reasons as Mutex.Lock. All permits of
// a session on one name are one claim, so that a second claim returns ErrClaimed.
func (m *Semaphore) Acquire(ctx context.Context, n uint64) (*Lease, error) {
	return m.s.acquireOrFail(ctx, m.claim(n), m.o.Wait)
}

// WithPermits is like WithLock, with n permits of a semaphore; 0 means 1.
func WithPermits(
	ctx context.Context, d Driver, so SessionOptions, name string, o SemaphoreOptions, n uint64,
	f func(context.Context, *Lease) error,
) error {
	return WithSession(ctx, d, so, func(ctx context.Context, s *Session) error {
		l, err := s.Semaphore(name, o).Acquire(ctx, n)
		return l.with(ctx, err, f)
	})
}

// TryAcquire sends one claim for n permits; 0 means 1. If there are not enough, ok is false and err is nil.
func (m *Semaphore) TryAcquire(ctx context.Context, n uint64) (l *Lease, ok bool, err error) {
	return m.s.acquire(ctx, m.claim(n))
}

// Enqueue takes a place in the queue for n permits (0 means 1) without waiting for them. It returns ErrUnsupported if
// the service keeps no such queue. The name counts as claimed until the place or its lease is over.
func (m *Semaphore) Enqueue(ctx context.Context, n uint64) (*QueuePlace, error) {
	return m.s.enqueue(ctx, m.claim(n), m.o.Wait)
}

func (m *Semaphore) claim(n uint64) Claim {
	return Claim{
		Kind: KindSemaphore, Name: m.name, Permits: n, Limit: m.o.Limit, Ephemeral: m.o.Ephemeral,
		TTL: m.o.TTL, Data: m.o.Data,
	}
}

// Describe reads the semaphore now. It returns ErrUnsupported if the service cannot report it, and ErrNotFound if
// semaphores must be created and this one was not.
func (m *Semaphore) Describe(ctx context.Context) (Description, error) {
	return m.s.describe(ctx, KindSemaphore, m.name)
}

// Watch yields the present state, then each later state that differs. If the service reports changes, each arrives as
// it happens; else the semaphore is read every Poll, and a change between two reads may be missed. An error is yielded
// once and ends the sequence. The sequence ends without an error when ctx or the session does.
func (m *Semaphore) Watch(ctx context.Context) iter.Seq2[Description, error] {
	return m.s.watch(ctx, KindSemaphore, m.name, m.o.Poll)
}

// Create makes the semaphore with a limit of permits and data of its own. It returns ErrUnsupported if semaphores need
// not be created on this backend.
func (m *Semaphore) Create(ctx context.Context, limit uint64, data []byte) error {
	return m.provision(ctx, "create", func(ctx context.Context, p Provisioner) error {
		return p.Create(ctx, m.name, limit, data)
	})
}

// Update replaces the semaphore's own data. It returns ErrUnsupported in the same case as Create.
func (m *Semaphore) Update(ctx context.Context, data []byte) error {
	return m.provision(ctx, "update", func(ctx context.Context, p Provisioner) error {
		return p.Update(ctx, m.name, data)
	})
}

// Delete removes the semaphore. Without force the service refuses while it is in use; with force owners lose their
// permits and waiters their places. It returns ErrUnsupported in the same case as Create.
func (m *Semaphore) Delete(ctx context.Context, force bool) error {
	return m.provision(ctx, "delete", func(ctx context.Context, p Provisioner) error {
		return p.Delete(ctx, m.name, force)
	})
}

func (m *Semaphore) provision(ctx context.Context, op string, do func(context.Context, Provisioner) error) error {
	err := m.s.over()
	if err == nil {
		both, cancel := m.s.under(ctx)
		defer cancel()
		if p, ok := m.s.ds.(Provisioner); !ok {
			err = fmt.Errorf("semaphores exist by themselves: %w", ErrUnsupported)
		} else if err = do(both, p); err != nil {
			err = withCause(ctx, m.s.keeper.ctx, err)
		}
	}
	return m.s.claimError(op, Claim{Kind: KindSemaphore, Name: m.name}, err)
}
