package redissource

import (
	"sync"
	"time"
)

// notice is what was pushed about a key since it was last read.
type notice struct {
	first, last time.Time // of the pushes
	floor       time.Time // the first push tells of something later than this; used where the link was not prompt
	late        bool      // the link was not prompt when one of them came
	flush       bool      // the push named no key: everything was dropped
	events      []string  // what keyspace events told, in order
}

// mostEvents bounds notice.events of a key that is written faster than it is read.
const mostEvents = 16

// inbox collects notices until they are read. It is safe for concurrent use.
type inbox struct {
	wake chan struct{} // capacity 1

	mu      sync.Mutex
	order   []string // of the first notice
	notices map[string]*notice
	flushed *notice
	lost    bool // there were too many
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), notices: make(map[string]*notice)}
}

// add notes that name was written to. event is what a keyspace event told, else "".
func (b *inbox) add(name string, n notice, event string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addLocked(name, n, event)
	b.poke()
}

func (b *inbox) addLocked(name string, n notice, event string) {
	old := b.notices[name]
	if old == nil && len(b.notices) >= mostNotices {
		b.lost = true
		return
	}
	if old == nil {
		old = &n
		b.notices[name] = old
		b.order = append(b.order, name)
	} else {
		old.last, old.late, old.flush = n.last, old.late || n.late, old.flush || n.flush
	}
	if event != "" && len(old.events) < mostEvents {
		old.events = append(old.events, event)
	}
}

// flush notes that everything was dropped.
func (b *inbox) flush(n notice) {
	n.flush = true
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flushed = &n
	b.poke()
}

// poke wakes the reader of wake, who may not be there yet.
func (b *inbox) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// spread turns a flush into a notice for each of the known names, if one came.
func (b *inbox) spread(known func(yield func(name string) bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.flushed == nil {
		return
	}
	for name := range known {
		b.addLocked(name, *b.flushed, "")
	}
	b.flushed = nil
}

// overflowed reports whether notices were lost since it was last called.
func (b *inbox) overflowed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := b.lost
	b.lost = false
	return lost
}

// take removes and returns at most limit names with their notices, oldest
// first.
func (b *inbox) take(limit int) (names []string, notices []notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(limit, len(b.order))
	for _, name := range b.order[:n] {
		names = append(names, name)
		notices = append(notices, *b.notices[name])
		delete(b.notices, name)
	}
	b.order = b.order[n:]
	if len(b.order) == 0 {
		b.order = nil
	}
	return names, notices
}
