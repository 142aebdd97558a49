package pgsource

import (
	"maps"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
)

// notifications are what arrived on channels. They are safe for concurrent use.
type notifications struct {
	channels []string
	wake     chan struct{} // capacity 1: something arrived, or listening began or ended

	mu   sync.Mutex
	open bool
	why  error                // not open; nil: it was not tried yet
	data map[uint32]announced // by the process that announced
}

// announced is the data that a session announced last.
type announced struct {
	key  string
	data []byte // never changed
}

// announcedKept is how many sessions' data is remembered.
const announcedKept = 1000

func newNotifications(channels []string) *notifications {
	list := []string{pgcoord.Channel}
	for _, c := range channels {
		if c != pgcoord.Channel {
			list = append(list, c)
		}
	}
	return &notifications{channels: list, wake: make(chan struct{}, 1), data: map[uint32]announced{}}
}

func (n *notifications) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// receive keeps what one notification says; joiner belongs to the connection that it came on.
// It is a hint, whoever sent it: the look that follows is the truth.
func (n *notifications) receive(note *pgconn.Notification, joiner *pgcoord.Joiner) {
	defer n.wakeUp()
	if note.Channel != pgcoord.Channel {
		return
	}
	a, whole, err := joiner.Join(note.PID, note.Payload)
	if err != nil || !whole || a.Event == pgcoord.Ask {
		return // not ours, or the rest is to come, or a question to owners
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.Event == pgcoord.Released {
		delete(n.data, note.PID)
		return
	}
	if len(n.data) >= announcedKept {
		clear(n.data)
	}
	n.data[note.PID] = announced{key: a.Key, data: a.Data}
}

// list returns the data that sessions announced, by process.
func (n *notifications) list() map[uint32]announced {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.data)
}

// listening reports whether notifications arrive, and if not, why.
func (n *notifications) listening() (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.open, n.why
}

func (n *notifications) set(open bool, why error) {
	n.mu.Lock()
	changed := n.open != open || (n.why == nil) != (why == nil)
	n.open, n.why = open, why
	n.mu.Unlock()
	if changed {
		n.wakeUp()
	}
}
