package dflocksource

import (
	"time"

	"coordtop/internal/dflockwire"
)

// use is the use of a key, as a listing says.
type use struct {
	semaphore      bool
	limit          int // 0: not told, of a semaphore that nobody uses
	taken, waiters int
	owner          uint64 // of a lock; 0: nobody
}

// listed is one key in a listing.
type listed struct {
	use
	here bool          // it is in the listing
	left time.Duration // of the owner's lease
	idle time.Duration // how long nobody has used it
}

// list notes in the rows what a listing says of them, and makes rows of keys that are new.
func (t *table) list(s *dflockwire.Stats) {
	t.strays, t.untaken = 0, 0
	for _, e := range s.Locks {
		t.add(e.Key, listed{use: use{limit: 1, taken: int(min(e.Owner, 1)), waiters: e.Waiters, owner: e.Owner}, left: e.Left()})
	}
	for _, e := range s.IdleLocks {
		t.add(e.Key, listed{use: use{limit: 1}, idle: idleFor(e)})
	}
	for _, e := range s.Semaphores {
		t.add(e.Key, listed{use: use{semaphore: true, limit: e.Limit, taken: e.Owners, waiters: e.Waiters}})
	}
	for _, e := range s.IdleSemaphores {
		t.add(e.Key, listed{use: use{semaphore: true}, idle: idleFor(e)})
	}
}

func (t *table) add(key string, l listed) {
	name := t.nameOf(key, l.semaphore)
	r := t.rows[name]
	if r == nil {
		rule, exact, ok := t.o.find(key)
		if !ok || (dflockwire.Key{Name: key}).Check() != nil {
			return
		}
		r = &row{name: name, rule: rule, exact: exact, use: use{semaphore: l.semaphore}}
		if len(t.rows) < mostKeys {
			t.rows[name] = r
		} else {
			t.untaken++
		}
	}
	if t.o.home(key) != t.space {
		t.strays++
		t.stray = key
	}
	if l.limit == 0 && r.semaphore {
		l.limit = r.limit
	}
	l.here = true
	r.next = l
}

func idleFor(e dflockwire.Idle) time.Duration {
	return time.Duration(max(0, min(e.Seconds, 1e9)) * float64(time.Second))
}

// nameOf is the name under which a key is shown. Since version 1.14 a key can be a lock and a
// semaphore at once: the semaphore's name gets a suffix with a blank, which no key contains.
func (t *table) nameOf(key string, semaphore bool) string {
	if !semaphore {
		return key
	}
	apart := key + " (semaphore)"
	if r := t.rows[key]; t.rows[apart] != nil || r != nil && r.next.here && !r.next.semaphore {
		return apart
	}
	return key
}
