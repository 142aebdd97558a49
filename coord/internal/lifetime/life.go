package lifetime

import "sync"

// Life is the life of a session or grant: its methods Done and Err are those of
// coord.DriverSession and coord.Grant.
type Life struct {
	done chan struct{}

	mu    sync.Mutex
	cause error
}

// NewLife begins a life.
func NewLife() *Life { return &Life{done: make(chan struct{})} }

// Done is closed when the life has ended.
func (l *Life) Done() <-chan struct{} { return l.done }

// Err is why it ended; nil before.
func (l *Life) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Finish ends the life. It reports whether this call did: the first cause stays.
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
