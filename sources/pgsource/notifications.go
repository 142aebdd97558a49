package pgsource

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/spawn"
)

// notifications holds what was received on channels. It is safe for concurrent use.
type notifications struct {
	channels []string
	wake     chan struct{} // capacity 1: receives after a notification, or when listening began or ended

	mu   sync.Mutex
	open bool
	why  error // why it is not open; nil before the first try
	// evicted is the last announcement that an ownership of a key, or a wait for it, was ended, by key.
	evicted map[evictedKey]eviction
}

// evictedKey is a key in the database with that oid.
type evictedKey struct{ database, key string }

type eviction struct {
	by      string
	pid     uint32 // whose ownership or wait it was; 0: unknown
	waiting bool
	at      time.Time // when it was received
}

const (
	// evictedFor is the time for which an eviction is shown.
	evictedFor    = time.Minute
	mostEvictions = 1000
)

func newNotifications(channels []string) *notifications {
	others := slices.DeleteFunc(slices.Clone(channels), func(c string) bool { return c == pgcoord.Channel })
	return &notifications{channels: append([]string{pgcoord.Channel}, others...), wake: make(chan struct{}, 1), evicted: map[evictedKey]eviction{}}
}

// receive handles one notification. Anybody may have sent it, so that it only causes a look, which decides.
func (n *notifications) receive(note *pgconn.Notification) {
	defer spawn.Wake(n.wake)
	a, ok := pgcoord.ReadAnnouncement(note)
	if !ok || a.Event != pgcoord.Evicted {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.evicted) >= mostEvictions {
		clear(n.evicted)
	}
	n.evicted[evictedKey{a.Database, a.Key}] = eviction{a.By, a.PID, a.Waiting, time.Now()}
}

// evictions returns a copy of the evictions that were announced recently.
func (n *notifications) evictions() map[evictedKey]eviction {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.evicted, func(_ evictedKey, e eviction) bool { return time.Since(e.at) > evictedFor })
	return maps.Clone(n.evicted)
}

// listening reports whether notifications arrive. If not, the error is the reason.
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
		spawn.Wake(n.wake)
	}
}
