package lifetime

import (
	"context"
	"slices"
	"sync"

	"coordtop/internal/ground/spawn"
)

// Session holds the calls, goroutines and grants of a driver's session. After Shut it admits no more of them. The
// driver ends the session's Life when all of them are over.
type Session[G comparable] struct {
	*Life
	open  context.Context // ended by Shut
	shut  context.CancelCauseFunc
	tasks sync.WaitGroup

	mu     sync.Mutex
	grants []G // oldest first
}

// NewSession returns an open session. The end of ctx does not end it.
func NewSession[G comparable](ctx context.Context) *Session[G] {
	s := &Session[G]{Life: NewLife()}
	s.open, s.shut = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

// Open returns a context that ends when the session is shut, with the cause that Shut received.
func (s *Session[G]) Open() context.Context { return s.open }

// Over returns the cause with which the session was shut; nil before that.
func (s *Session[G]) Over() error { return context.Cause(s.open) }

// Enter begins a call. The context of the call ends with ctx or when the session is shut. The caller must call leave.
// If the session is shut, over is its cause.
func (s *Session[G]) Enter(ctx context.Context) (call context.Context, leave func(), over error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if over := s.Over(); over != nil {
		return nil, nil, over
	}
	s.tasks.Add(1)
	call, cancel := context.WithCancelCause(ctx)
	stop := spawn.OnDone(s.open, func() { cancel(s.Over()) })
	return call, func() {
		stop()
		cancel(nil)
		s.tasks.Done()
	}, nil
}

// Start runs f in a goroutine; the caller is within a call.
func (s *Session[G]) Start(ctx context.Context, f func()) { spawn.Go(ctx, &s.tasks, f) }

// Wait waits for the calls and goroutines.
func (s *Session[G]) Wait() { s.tasks.Wait() }

// Add adds a grant. It returns false if the session is shut.
func (s *Session[G]) Add(g G) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Over() != nil {
		return false
	}
	s.grants = append(s.grants, g)
	return true
}

// Remove removes a grant.
func (s *Session[G]) Remove(g G) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants = slices.DeleteFunc(s.grants, func(o G) bool { return o == g })
}

// Shut shuts the session: nothing is admitted any more. It ends the contexts of calls with cause and returns the
// grants, newest first. first is false if the session was shut before.
func (s *Session[G]) Shut(cause error) (grants []G, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Over() != nil {
		return nil, false
	}
	s.shut(cause)
	grants = slices.Clone(s.grants)
	slices.Reverse(grants)
	return grants, true
}

// Life is the life of a session or grant. Its methods Done and Err implement those of
// coord.DriverSession and coord.Grant.
type Life struct {
	done chan struct{}

	mu    sync.Mutex
	cause error
}

// NewLife returns a life that has not ended.
func NewLife() *Life { return &Life{done: make(chan struct{})} }

// Done returns a channel that is closed when the life has ended.
func (l *Life) Done() <-chan struct{} { return l.done }

// Err returns the reason for the end; nil before the end.
func (l *Life) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Finish ends the life. It reports whether this call ended it; only the first cause counts.
func (l *Life) Finish(cause error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return false
	}
	l.cause = cause
	close(l.done)
	return true
}
