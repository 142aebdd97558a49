package redissource

import (
	"time"

	"coordtop/sources/redissource/lockformat"
)

// longestGuessed is the length in bytes up to which a value that nobody selected can be a
// lock's.
const longestGuessed = 1024

// guessing is what is known of keys that nobody selected.
type guessing struct {
	semaphores    map[string]bool // locks that a companion key proves to be semaphores
	denied        map[string]bool // first parts of names that say nothing, of which one may not be read
	alike         map[string]int  // owned keys that only their values make locks, by what crowd says
	leftOut       int             // keys that this sweep left out, because there are too many that begin alike
	leftOutBefore int             // the same of the last sweep
	refused       int             // keys of this sweep with a lock's name that may not be read
	refusedBefore int             // the same of the last sweep
}

const (
	// mostAlike is how many keys whose names begin alike are kept where only a value that others
	// write too makes them locks. Sessions have such values: of names with a word for
	// those, and of leases longer than locks have, mostSessions are.
	mostAlike      = 5000
	mostSessions   = 20
	longestLease   = time.Hour
	mostRemembered = 10_000
)

// lockOf is the name of the key that stands for the lock that a scanned or pushed key belongs to;
// "": for none. byValue reports whether only its value can say that it is one.
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

// crowd is what keys are counted by of which too many would be kept, and how many may be.
func crowd(name string, lease time.Duration) (by string, most int) {
	if by = firstPart(name); lease > longestLease || lockformat.NamesSecret(name) {
		return "session " + by, mostSessions
	}
	return by, mostAlike
}

// recount counts anew the keys that are owned and whose values alone make them locks.
func (g *guessing) recount(keys map[string]*key) {
	g.alike = make(map[string]int)
	for name, k := range keys {
		if k.rule.byValue && k.shown.guessed && k.shown.owners > 0 {
			by, _ := crowd(name, k.lease)
			g.alike[by]++
		}
	}
}

// tooManyAlike reports whether there are too many keys like the one that was found to be a lock by a
// value that others write, too.
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

// mayBeLock reports whether to read a key whose name says nothing: not if others that begin as it
// does were refused, or are secrets of which enough are kept.
func (g *guessing) mayBeLock(name string) bool {
	first := firstPart(name)
	if lockformat.NamesSecret(name) && g.alike["session "+first] >= mostSessions {
		g.leftOut++
		return false
	}
	return !g.denied[first]
}

// deny notes that a key whose name says nothing may not be read: each further question would be
// counted in the server's ACL LOG.
func (g *guessing) deny(name string) {
	if g.denied == nil {
		g.denied = make(map[string]bool)
	}
	if len(g.denied) < mostRemembered {
		g.denied[firstPart(name)] = true
	}
}
