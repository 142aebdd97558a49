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

// listed sorts a listing by the names under which its keys are shown, and makes rows of keys
// that are new.
func (t *table) listed(s *dflockwire.Stats) map[string]listed {
	now := make(map[string]listed, len(s.Locks)+len(s.Semaphores)+len(s.IdleLocks)+len(s.IdleSemaphores))
	t.strays, t.untaken = 0, 0
	add := func(key string, l listed) {
		rule, exact, ok := t.o.find(key)
		if !ok || (dflockwire.Key{Name: key}).Check() != nil {
			return
		}
		if t.o.home(key) != t.space {
			t.strays++
			t.stray = key
		}
		name := t.nameOf(key, l.semaphore, now)
		if t.rows[name] == nil {
			if len(t.rows) >= mostKeys {
				t.untaken++
				return
			}
			t.rows[name] = &row{name: name, rule: rule, exact: exact, use: use{semaphore: l.semaphore}}
		}
		l.here = true
		now[name] = l
	}
	for _, e := range s.Locks {
		taken := 0
		if e.Owner != 0 {
			taken = 1
		}
		add(e.Key, listed{use: use{limit: 1, taken: taken, waiters: e.Waiters, owner: e.Owner}, left: e.Left()})
	}
	for _, e := range s.IdleLocks {
		add(e.Key, listed{use: use{limit: 1}, idle: idleFor(e)})
	}
	for _, e := range s.Semaphores {
		add(e.Key, listed{use: use{semaphore: true, limit: e.Limit, taken: e.Owners, waiters: e.Waiters}})
	}
	for _, e := range s.IdleSemaphores {
		l := listed{use: use{semaphore: true}, idle: idleFor(e)}
		if r := t.rows[t.nameOf(e.Key, true, now)]; r != nil && r.semaphore {
			l.limit = r.limit
		}
		add(e.Key, l)
	}
	return now
}

func idleFor(e dflockwire.Idle) time.Duration {
	return time.Duration(max(0, min(e.Seconds, 1e9)) * float64(time.Second))
}

// nameOf is the name under which a key is shown. Since version 1.14 a key can be a lock and a
// semaphore at once: the semaphore's name gets a suffix with a blank, which no key contains.
func (t *table) nameOf(key string, semaphore bool, now map[string]listed) string {
	apart := key + " (semaphore)"
	if l, lock := now[key]; semaphore && (t.rows[apart] != nil || lock && !l.semaphore) {
		return apart
	}
	return key
}
