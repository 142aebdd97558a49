package pgsource

import (
	"bytes"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
)

// ears keep what was heard on channels. They are safe for concurrent use.
type ears struct {
	channels []string
	wake     chan struct{} // capacity 1: something arrived, or listening began or ended

	mu    sync.Mutex
	open  bool
	why   error            // not open; nil: it was not tried yet
	heard map[uint32]heard // by the process that announced
}

// heard is the data that a session announced last.
type heard struct {
	key  string
	data []byte
}

// heardKept is how many sessions' data is remembered.
const heardKept = 1000

func newEars(channels []string) *ears {
	list := []string{pgcoord.Channel}
	for _, c := range channels {
		if c != pgcoord.Channel {
			list = append(list, c)
		}
	}
	return &ears{channels: list, wake: make(chan struct{}, 1), heard: map[uint32]heard{}}
}

func (e *ears) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// hear takes one notification in; joiner belongs to the connection that it came on. What it
// says is a hint, whoever sent it: the look that follows is the truth.
func (e *ears) hear(n *pgconn.Notification, joiner *pgcoord.Joiner) {
	defer e.rouse()
	if n.Channel != pgcoord.Channel {
		return
	}
	a, whole, err := joiner.Join(n.PID, n.Payload)
	if err != nil || !whole || a.Event == pgcoord.Ask {
		return // not ours, or the rest is to come, or a question to owners
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.Event == pgcoord.Released {
		delete(e.heard, n.PID)
		return
	}
	if len(e.heard) >= heardKept {
		clear(e.heard)
	}
	e.heard[n.PID] = heard{key: a.Key, data: a.Data}
}

// data is what a session announced about a lock, if its name is what that shortens to: the
// name is seen in every look, so data that it contradicts is old.
func (e *ears) data(pid uint32, key pgcoord.Key, application string) ([]byte, bool) {
	e.mu.Lock()
	h, ok := e.heard[pid]
	e.mu.Unlock()
	if !ok || h.key != key.String() {
		return nil, false
	}
	who, _, _ := pgcoord.ParseApplicationName(application)
	if pgcoord.ApplicationName(who, h.data) != application {
		return nil, false
	}
	return bytes.Clone(h.data), true
}

// listening reports whether notifications arrive, and if not, why.
func (e *ears) listening() (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open, e.why
}

func (e *ears) set(open bool, why error) {
	e.mu.Lock()
	changed := e.open != open || (e.why == nil) != (why == nil)
	e.open, e.why = open, why
	e.mu.Unlock()
	if changed {
		e.rouse()
	}
}
