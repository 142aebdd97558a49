package rediscoord

import (
	"sync"

	"github.com/redis/go-redis/v9"
)

// Refusals remembers which optional commands a user has no right to, so that they are not
// asked for again: each refusal is an entry in the server's ACL LOG. One belongs to one
// user of one server and outlives its connections. The zero value is ready, nil remembers
// nothing; it is safe for concurrent use.
type Refusals struct {
	mu      sync.Mutex
	refused map[string]error
}

// Once calls ask and returns its result. If the user was refused the right to what before, it returns
// that refusal without calling ask. what names the command.
func Once[T any](r *Refusals, what string, ask func() (T, error)) (value T, err error) {
	if err = r.Refused(what); err == nil {
		value, err = ask()
		r.Note(what, err)
	}
	return value, err
}

// Refused returns the error with which the right to what was refused; nil: it was not.
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

// Forget lets everything be asked for again, because rights may have changed.
func (r *Refusals) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = nil
}
