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
	why  error // not open; nil: it was not tried yet
	data pgcoord.Announced
}

func newNotifications(channels []string) *notifications {
	list := []string{pgcoord.Channel}
	for _, c := range channels {
		if c != pgcoord.Channel {
			list = append(list, c)
		}
	}
	return &notifications{channels: list, wake: make(chan struct{}, 1), data: pgcoord.Announced{}}
}

func (n *notifications) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// receive stores the content of one notification; joiner belongs to the connection that it came
// on. Anybody may have sent it, so it is only a hint: the look that follows decides.
func (n *notifications) receive(note *pgconn.Notification, joiner *pgcoord.Joiner) {
	defer n.wakeUp()
	a, ok := joiner.Read(note)
	if !ok || a.Event == pgcoord.Ask {
		return // not ours, or the rest is to come, or a question to owners
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.data.Note(note.PID, a)
}

// announced returns a copy of what sessions announced.
func (n *notifications) announced() pgcoord.Announced {
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
