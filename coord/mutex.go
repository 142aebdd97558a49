package coord

import (
	"context"
	"time"
)

// MutexOptions configure a mutex. The zero value is usable.
type MutexOptions struct {
	// Mode is Exclusive, or Shared if Caps.Shared.
	Mode Mode
	// TTL is the time for which the service keeps the grant after the last renewal, if each grant has a time of its
	// own. 0: the session's.
	TTL time.Duration
	// Data is shown to others beside the owner; at most Caps.MaxData bytes.
	Data []byte
	// Wait bounds the wait of Lock. 0: no limit but the context.
	Wait time.Duration
}

// Mutex is one name that one owner at a time can have. It is a value of a session and
// holds no state: two of them with one name are the same mutex. Its methods are safe
// for concurrent use.
type Mutex struct {
	s    *Session
	name string
	o    MutexOptions
}

// Mutex returns the mutex of that name. It sends nothing to the service.
func (s *Session) Mutex(name string, o MutexOptions) *Mutex {
	return &Mutex{s: s, name: name, o: o}
}

// Lock blocks until the mutex is ours. It returns an error when ctx ends (its error is joined), when the session ends
// (its cause is wrapped), when Wait runs out (ErrNotAcquired), and at once if this session already claims or owns the
// name (ErrClaimed). Then nothing is left behind at the service if that can be reached.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) {
	return m.s.acquireOrFail(ctx, m.claim(), m.o.Wait)
}

// WithLock opens a session, locks the mutex, and calls f with a context that ends with the lease or with ctx. When f has
// returned or panicked, it releases the mutex and closes the session. It returns the error of opening or of Lock, which
// is ErrNotAcquired if o.Wait ran out. Otherwise it returns the error of f, joined with the cause if the lease ended
// before f did; f that returns nil too late therefore gives ErrLost or ErrExpired, because another owner may have
// worked at the same time. If there is neither, it returns the error of the release (the grant then expires by itself)
// or of closing. The end of ctx alone is no error if f returns nil.
func WithLock(ctx context.Context, d Driver, so SessionOptions, name string, o MutexOptions, f func(context.Context, *Lease) error) error {
	return WithSession(ctx, d, so, func(ctx context.Context, s *Session) error {
		l, err := s.Mutex(name, o).Lock(ctx)
		return l.with(ctx, err, f)
	})
}

// TryLock sends one claim. If another has the mutex, ok is false and err is nil.
func (m *Mutex) TryLock(ctx context.Context) (l *Lease, ok bool, err error) {
	return m.s.acquire(ctx, m.claim())
}

// Enqueue takes a place in the queue without waiting for the mutex. It returns ErrUnsupported if the service keeps no
// such queue. The name counts as claimed until the place or its lease is over.
func (m *Mutex) Enqueue(ctx context.Context) (*QueuePlace, error) {
	return m.s.enqueue(ctx, m.claim(), m.o.Wait)
}

func (m *Mutex) claim() Claim {
	return Claim{Kind: KindMutex, Name: m.name, Mode: m.o.Mode, TTL: m.o.TTL, Data: m.o.Data}
}
