package redissource

import (
	"iter"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// notice is what was pushed about a key since it was last read.
type notice struct {
	first, last time.Time // of the pushes
	floor       time.Time // the first push tells of something later than this: the sending of the last ping answered before it
	flush       bool      // the push named no key: everything was dropped
	events      []string  // what keyspace events told, in order
}

// prompt reports whether the pushes, and the answer of the look that came of them, are proved
// to have come within the tolerance of what they tell of.
func (n notice) prompt(got time.Time, tolerance time.Duration) bool {
	return !n.floor.IsZero() && n.last.Sub(n.floor) <= tolerance && got.Sub(n.first) <= tolerance
}

// mostEvents bounds notice.events of a key that is written faster than it is read.
const mostEvents = 16

// inbox collects notices until they are read. It is safe for concurrent use.
type inbox struct {
	wake chan struct{} // capacity 1

	mu      sync.Mutex
	order   []string // of the first notice
	notices map[string]*notice
	all     *notice // about every key; nil: none
	lost    bool    // there were too many
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
		old.first, old.floor = sources.Earlier(old.first, n.first), sources.Earlier(old.floor, n.floor) // a flush is spread late
		old.last, old.flush = sources.Later(old.last, n.last), old.flush || n.flush
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
	b.allLocked(n)
}

// allLocked notes n about every key.
func (b *inbox) allLocked(n notice) {
	if b.all == nil {
		b.all = &n
	} else {
		b.all.last, b.all.flush = n.last, b.all.flush || n.flush
	}
	b.poke()
}

// everything notes that any key may have been written to, also one that is not known.
func (b *inbox) everything(n notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = true
	b.allLocked(n)
}

// poke wakes the reader of wake, who may not be there yet.
func (b *inbox) poke() { spawn.Wake(b.wake) }

// spread turns what was pushed about every key, if anything was, into a notice for each of
// the known names.
func (b *inbox) spread(known iter.Seq[string]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		return
	}
	for name := range known {
		b.addLocked(name, *b.all, "")
	}
	b.all = nil
}

// drop forgets what waits.
func (b *inbox) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order, b.all, b.lost = nil, nil, false
	clear(b.notices)
}

// overflowed reports whether notices were lost since it was last called.
func (b *inbox) overflowed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := b.lost
	b.lost = false
	return lost
}

// take removes and returns at most limit names with their notices. Where more wait, first
// come those of wanted, then the oldest in a quarter of the places and the newest in the
// rest: what happens now does not wait until a burst is read, and nothing waits for ever.
func (b *inbox) take(limit int, wanted []string) (names []string, notices []notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit = min(limit, len(b.notices))
	pick := func(name string) {
		if n := b.notices[name]; n != nil && len(names) < limit {
			names, notices = append(names, name), append(notices, *n)
			delete(b.notices, name)
		}
	}
	if limit < len(b.notices) {
		for _, name := range wanted {
			pick(name)
		}
	}
	oldest := len(names) + (limit-len(names)+3)/4
	if limit == len(b.notices) {
		oldest = limit
	}
	for len(names) < oldest {
		pick(b.order[0])
		b.order = b.order[1:]
	}
	for len(names) < limit {
		last := len(b.order) - 1
		pick(b.order[last])
		b.order = b.order[:last]
	}
	b.tidyLocked()
	return names, notices
}

// tidyLocked drops places in the order whose names were read, as far as they stand first,
// and all of them where they are many.
func (b *inbox) tidyLocked() {
	for len(b.order) > 0 && b.notices[b.order[0]] == nil {
		b.order = b.order[1:]
	}
	if len(b.order) > 2*len(b.notices)+chunk {
		seen := make(map[string]bool, len(b.notices))
		b.order = slices.DeleteFunc(b.order, func(name string) bool {
			drop := seen[name] || b.notices[name] == nil
			seen[name] = true
			return drop
		})
	}
	if len(b.order) == 0 {
		b.order = nil
	}
}

// oldest is when the name that waits longest was pushed; zero: none waits.
func (b *inbox) oldest() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.order) == 0 {
		return time.Time{}
	}
	return b.notices[b.order[0]].first
}

// has reports whether name waits to be read.
func (b *inbox) has(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.notices[name] != nil || b.all != nil
}
