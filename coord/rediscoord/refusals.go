package rediscoord

import (
	"sync"

	"github.com/redis/go-redis/v9"
)

// Refusals remembers which optional commands a user may not send, so that they are not sent again, because each refusal
// adds an entry to the server's ACL LOG. A Refusals belongs to one user of one server and outlives connections. The
// zero value is ready to use; nil remembers nothing. It is safe for concurrent use.
type Refusals struct {
	mu      sync.Mutex
	refused map[string]error
}

// Once calls ask and returns its result. The argument what names the command. If the server has refused this command
// before, Once returns that error without calling ask.
func Once[T any](r *Refusals, what string, ask func() (T, error)) (value T, err error) {
	if err = r.Refused(what); err == nil {
		value, err = ask()
		r.Note(what, err)
	}
	return value, err
}

// Refused returns the error with which the server refused the command what, or nil.
func (r *Refusals) Refused(what string) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused[what]
}

// Note remembers err if it refuses a right.
func (r *Refusals) Note(what string, err error) {
	if r == nil || !redis.IsPermissionError(err) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = make(map[string]error)
	}
	r.refused[what] = err
}

// Forget forgets all refusals, because rights may have changed.
func (r *Refusals) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = nil
}
