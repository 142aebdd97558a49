package redissource

import (
	"iter"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// notice sums up the pushes about a key since it was last read.
type notice struct {
	first, last time.Time // of the pushes
	floor       time.Time // the first pushed change is later than this, which is when the last ping was sent that was answered before the push
	flush       bool      // the push named no key, because all keys were dropped
	events      []string  // names of keyspace events, in order
}

// prompt reports whether it is proved that the pushes, and the answer of the look that they caused, arrived within the
// tolerance after the change.
func (n notice) prompt(got time.Time, tolerance time.Duration) bool {
	return !n.floor.IsZero() && n.last.Sub(n.floor) <= tolerance && got.Sub(n.first) <= tolerance
}

// mostEvents bounds notice.events of a key that is written faster than it is read.
const mostEvents = 16

// inbox collects notices until the watcher takes them. It is safe for concurrent use.
type inbox struct {
	wake chan struct{} // capacity 1

	mu      sync.Mutex
	order   []string // names by their first notice
	notices map[string]*notice
	all     *notice // about every key; may be nil
	lost    bool    // some were dropped, or may be about unknown keys
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), notices: make(map[string]*notice)}
}

// add notes that name was written to. event is the name of a keyspace event, else "".
func (b *inbox) add(name string, n notice, event string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addLocked(name, n, event)
	spawn.Wake(b.wake)
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
		old.first, old.floor = sources.Earlier(old.first, n.first), sources.Earlier(old.floor, n.floor) // a flush may be spread later
		old.last, old.flush = sources.Later(old.last, n.last), old.flush || n.flush
	}
	if event != "" && len(old.events) < mostEvents {
		old.events = append(old.events, event)
	}
}

// everything notes that any key may have been written to: if flush is set, all were dropped; else unknown keys may also
// have been written to.
func (b *inbox) everything(n notice, flush bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n.flush = flush; !flush {
		b.lost = true
	}
	if b.all == nil {
		b.all = &n
	} else {
		b.all.last, b.all.flush = n.last, b.all.flush || flush
	}
	spawn.Wake(b.wake)
}

// spread turns a notice about every key, if there is one, into a notice for each of
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

// drop forgets all notices.
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

// take removes and returns at most limit names with their notices. If more wait, it takes the names in wanted first,
// then fills a quarter of the rest with the oldest and three quarters with the newest. So a new change need not wait
// until a burst is read, and no name waits endlessly.
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

// tidyLocked drops names without a notice from the front of order, and rebuilds order if it has many such names.
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

// oldest returns the time of the first push about the name that waits longest, or zero if none waits.
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
