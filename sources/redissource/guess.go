package redissource

import (
	"time"

	"coordtop/sources/redissource/lockformat"
)

// longestGuessed is the length in bytes of the longest value that is guessed to be a lock's.
const longestGuessed = 1024

// guessing has what is known of keys where nothing was selected.
type guessing struct {
	semaphores    map[string]bool // locks that a companion key proves to be semaphores
	denied        map[string]bool // first parts of names without a lock's word, where one key may not be read
	alike         map[string]int  // owned keys that are locks only by their value, by crowd
	leftOut       int             // keys left out by this sweep, because too many begin alike
	leftOutBefore int             // leftOut of the last sweep
	refused       int             // keys of this sweep with a lock's name that may not be read
	refusedBefore int             // refused of the last sweep
}

const (
	// mostAlike bounds the keys kept whose names begin alike and that only a value makes locks,
	// which other programs may write too. Sessions have such values: of names with a word for
	// a session, and of leases longer than a lock's, mostSessions are kept.
	mostAlike      = 5000
	mostSessions   = 20
	longestLease   = time.Hour
	mostRemembered = 10_000
)

// lockOf returns the name of the lock's key that a scanned or pushed key belongs to; "": it belongs
// to none. byValue reports whether only the value can show that it is a lock.
func (g *guessing) lockOf(name string) (lock string, byValue bool) {
	lock, known := lockformat.ByName(name)
	switch {
	case known && lock != name:
		if lockformat.IsPermits(name) && len(g.semaphores) < mostRemembered {
			if g.semaphores == nil {
				g.semaphores = make(map[string]bool)
			}
			g.semaphores[lock] = true
		}
		return lock, lock != "" && lockformat.Prefix(lock) == ""
	case known:
		return name, false
	}
	end, _ := lockformat.Word(name)
	return name, end == 0
}

// crowd returns the group in which a key is counted, and the most keys of that group that are kept.
func crowd(name string, lease time.Duration) (by string, most int) {
	if by = firstPart(name); lease > longestLease || lockformat.NamesSecret(name) {
		return "session " + by, mostSessions
	}
	return by, mostAlike
}

// recount counts the owned keys that only their values make locks.
func (g *guessing) recount(keys map[string]*key) {
	g.alike = make(map[string]int)
	for name, k := range keys {
		if k.rule.byValue && k.shown.guessed && k.shown.owners > 0 {
			by, _ := crowd(name, k.lease)
			g.alike[by]++
		}
	}
}

// tooManyAlike counts a key that was found to be a lock by a value that other programs write too, and
// reports whether its group is full already.
func (g *guessing) tooManyAlike(name string, rule rule, r *reading) bool {
	if !lockformat.Find(name, r.content(), rule.kind).Weak {
		return false
	}
	by, most := crowd(name, r.ttl)
	if g.alike[by] >= most {
		g.leftOut++
		return true
	}
	g.alike[by]++
	return false
}

// mayBeLock reports whether to read a key whose name has no word for a lock: not where keys that
// begin alike were refused, or where enough keys of sessions are kept.
func (g *guessing) mayBeLock(name string) bool {
	first := firstPart(name)
	if lockformat.NamesSecret(name) && g.alike["session "+first] >= mostSessions {
		g.leftOut++
		return false
	}
	return !g.denied[first]
}

// deny notes that a key whose name has no word for a lock may not be read: the server would log each
// further read in its ACL LOG.
func (g *guessing) deny(name string) {
	if g.denied == nil {
		g.denied = make(map[string]bool)
	}
	if len(g.denied) < mostRemembered {
		g.denied[firstPart(name)] = true
	}
}
