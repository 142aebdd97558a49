package redissource

import (
	"time"

	"coordtop/sources/redissource/lockformat"
)

// longestGuessed is the maximum length in bytes of a value that is guessed to be a lock's.
const longestGuessed = 1024

// guessing has what is known about keys if nothing was selected.
type guessing struct {
	semaphores    map[string]bool // locks that a companion key proves to be semaphores
	denied        map[string]bool // first parts of names without a word for a lock of which a key was refused
	alike         map[string]int  // number of owned keys that are locks only by their value, by crowd
	leftOut       int             // keys left out by this sweep, because too many begin alike
	leftOutBefore int             // leftOut of the last sweep
	refused       int             // refused keys of this sweep with a lock's name
	refusedBefore int             // refused of the last sweep
}

const (
	// mostAlike is the maximum number of kept keys whose names begin alike and that are locks only by a value that
	// other programs may write as well. Sessions have such values. If the name has a word for a session, or the lease
	// is longer than a lock's, at most mostSessions are kept.
	mostAlike      = 5000
	mostSessions   = 20
	longestLease   = time.Hour
	mostRemembered = 10_000
)

// lockOf returns the name of the lock's key that a scanned or pushed key belongs to, or "". byValue reports whether
// only the value can show that it is a lock.
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

// crowd returns the group in which a key is counted, and how many keys of that group are kept at most.
func crowd(name string, lease time.Duration) (by string, most int) {
	if by = firstPart(name); lease > longestLease || lockformat.NamesSecret(name) {
		return "session " + by, mostSessions
	}
	return by, mostAlike
}

// recount counts the owned keys that are locks only by their values.
func (g *guessing) recount(keys map[string]*key) {
	g.alike = make(map[string]int)
	for name, k := range keys {
		if k.rule.byValue && k.shown.guessed && k.shown.owners > 0 {
			by, _ := crowd(name, k.lease)
			g.alike[by]++
		}
	}
}

// tooManyAlike counts a key that is a lock only by a value that other programs write as well, and reports whether its
// group is full already.
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

// mayBeLock reports whether to read a key whose name has no word for a lock. It returns false if keys that begin alike
// were refused, or if enough keys of sessions are kept.
func (g *guessing) mayBeLock(name string) bool {
	first := firstPart(name)
	if lockformat.NamesSecret(name) && g.alike["session "+first] >= mostSessions {
		g.leftOut++
		return false
	}
	return !g.denied[first]
}

// deny notes that a key whose name has no word for a lock may not be read, because the server would log each further
// read in its ACL LOG.
func (g *guessing) deny(name string) {
	if g.denied == nil {
		g.denied = make(map[string]bool)
	}
	if len(g.denied) < mostRemembered {
		g.denied[firstPart(name)] = true
	}
}
