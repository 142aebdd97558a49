package redissource

import (
	"fmt"
	"hash/fnv"
	"time"

	"coordtop/internal/format"
	"coordtop/sources/redissource/lockformat"
)

// longestGuessed is the length in bytes up to which a value that nobody selected can be a
// lock's.
const longestGuessed = 1024

// guessing is how far the scan for what nobody selected has come: each sweep goes on where
// the one before it was cut.
type guessing struct {
	cursor uint64    // where the next sweep begins; 0: at the beginning
	began  time.Time // of the scan that starts at the beginning
	passed int       // keys that it has passed
	listed time.Time // began of the last one that came to its end
	whole  bool      // one came to its end

	scans         int             // that began at the beginning
	nameless      int             // keys that this one passed whose names say nothing
	readByValue   int             // those of them that were read
	semaphores    map[string]bool // locks that a companion key proves to be semaphores
	alike         map[string]int  // owned keys that only their values make locks, by the first part of the name
	leftOut       int             // keys that this sweep left out, because there are mostAlike that begin alike
	leftOutBefore int             // the same of the last sweep
}

const (
	// mostReadByValue is how many keys a sweep reads whose names say nothing: only their values can
	// make them locks.
	mostReadByValue = 2000
	// mostAlike is how many keys whose names begin alike are kept where only a value that others
	// write too makes them locks: more than that are sessions, or other random values.
	mostAlike      = 20
	mostRemembered = 10_000
)

func (g *guessing) begin(s *sweep) {
	if s.cursor = g.cursor; s.cursor == 0 {
		g.began, g.passed = s.started, 0
		g.scans++
		g.nameless, g.readByValue = 0, 0
	}
}

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

// choose reports whether this sweep reads a key whose name says nothing. Where there are more
// than it may read, each scan reads another part of them, the same keys again after as many
// scans as there are parts.
func (g *guessing) choose(s *sweep, name string, total int) bool {
	g.nameless++
	parts := uint32(min(total, mostScannedAtOnce)/mostReadByValue + 1)
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	if s.discover || s.readByValue >= mostReadByValue || h.Sum32()%parts != uint32(g.scans)%parts {
		return false
	}
	s.readByValue++
	g.readByValue++
	return true
}

// mostScannedAtOnce is about how many keys one sweep passes on a large server.
const mostScannedAtOnce = 200_000

// recount counts anew the keys that are owned and whose values alone make them locks.
func (g *guessing) recount(keys map[string]*key) {
	g.alike = make(map[string]int)
	for name, k := range keys {
		if k.rule.byValue && k.shown != nil && k.shown.Guessed() && len(k.shown.Owners) > 0 {
			g.alike[firstParts(name, 1)]++
		}
	}
}

// tooManyAlike reports whether there are too many keys like the one that was found to be a lock by a
// value that others write, too.
func (g *guessing) tooManyAlike(name string, rule rule, r *reading) bool {
	if !lockformat.Find(name, r.content(), rule.kind).Weak {
		return false
	}
	first := firstParts(name, 1)
	if g.alike[first] >= mostAlike {
		g.leftOut++
		return true
	}
	g.alike[first]++
	return false
}

// finish returns whether an unknown name is a new key, and since when.
func (g *guessing) finish(s *sweep) (complete bool, since time.Time) {
	g.passed += s.scanned
	g.leftOutBefore, g.leftOut = g.leftOut, 0
	if s.cut {
		g.cursor = s.cursor
	} else {
		g.cursor, g.whole, g.listed = 0, true, g.began
	}
	return g.whole, g.listed
}

// warning reports that known keys were guessed, among how many on the server, and what was not read yet.
func (g *guessing) warning(known, total int) string {
	of := ""
	if total > 0 {
		of = " of " + format.Count(max(total, known))
	}
	text := fmt.Sprintf("guessed %s%s keys: name them with ?keys=", format.Count(known), of)
	if !g.whole && g.passed > 0 {
		text += fmt.Sprintf(" (only about %s keys were looked at so far)", format.Count(g.passed))
	}
	if unread := g.nameless - g.readByValue; unread > 0 {
		text += fmt.Sprintf("; %s keys whose names do not say what they are were not read, %s at most are in each sweep", format.Count(unread), format.Count(mostReadByValue))
	}
	if g.leftOutBefore > 0 {
		text += fmt.Sprintf("; %s keys with random values are left out, because many names begin as theirs do", format.Count(g.leftOutBefore))
	}
	return text
}
