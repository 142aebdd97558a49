package redissource

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"coordtop/sources"
)

// longestGuessed is the length in bytes up to which a value that nobody selected can be a
// lock's.
const longestGuessed = 1024

// kindOf guesses the kind of a key from the last part of its name that says one.
func kindOf(name string) sources.Kind {
	_, kind := lockPart(name)
	return kind
}

// lockPart finds the last part of name that is a word for a lock. end is where that part
// ends, its separator included; 0: there is none.
func lockPart(name string) (end int, kind sources.Kind) {
	start := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && !strings.ContainsRune(separators, rune(name[i])) {
			continue
		}
		if k := lockWord(name[start:i]); k != sources.KindUnknown {
			end, kind = min(i+1, len(name)), k
		}
		start = i + 1
	}
	return end, kind
}

func lockWord(part string) sources.Kind {
	switch strings.ToLower(part) {
	case "leader", "master":
		return sources.KindElection
	case "lock", "mutex":
		return sources.KindMutex
	case "semaphore":
		return sources.KindSemaphore
	}
	return sources.KindUnknown
}

// guessedPrefix is what to track so as to hear of name and of others like it.
func guessedPrefix(name string) string {
	end, _ := lockPart(name)
	return name[:end]
}

// guessing is how far the scan for what nobody selected has come: each sweep goes on where
// the one before it was cut.
type guessing struct {
	cursor uint64    // where the next sweep begins; 0: at the beginning
	began  time.Time // of the scan that starts at the beginning
	passed int       // keys that it has passed
	listed time.Time // began of the last one that came to its end
	whole  bool      // one came to its end
}

func (g *guessing) begin(s *sweep) {
	if s.cursor = g.cursor; s.cursor == 0 {
		g.began, g.passed = s.started, 0
	}
}

// finish returns whether an unknown name is a new key, and since when.
func (g *guessing) finish(s *sweep) (complete bool, since time.Time) {
	g.passed += s.scanned
	if s.cut {
		g.cursor = s.cursor
	} else {
		g.cursor, g.whole, g.listed = 0, true, g.began
	}
	return g.whole, g.listed
}

// companion reports whether a key of that name stands beside a lock or semaphore of a known
// library and is none itself: what Redisson adds (redisson/redisson, RedissonFairLock,
// RedissonFencedLock, RedissonBaseLock), and the parts of a semaphore of redis-semaphore
// (dv/redis-semaphore, lib/redis/semaphore.rb), of which GRABBED has the owners.
func companion(name string) bool {
	for _, start := range []string{"redisson_lock_token:", "redisson_lock_queue:", "redisson_lock_timeout:", "redisson_unlock_latch:"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	at := strings.Index(name, "SEMAPHORE:")
	if at < 0 || at > 0 && !strings.HasSuffix(name[:at], ":") {
		return false
	}
	return strings.HasSuffix(name, ":EXISTS") || strings.HasSuffix(name, ":VERSION") || strings.HasSuffix(name, ":AVAILABLE")
}

// libraryValues are values that only libraries for locks write: a UUID, alone, with data or
// with a number (LeaderService, BullMQ); ShedLock's; 16 bytes in hex (node-redlock, redis-py)
// or in base64 (redsync).
var libraryValues = regexp.MustCompile(`^(?:[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?:[ :].*)?|ADDED:[^@]+@.+|[0-9a-f]{32}|[0-9A-Za-z+/_-]{22}==)$`)

// ofLibrary reports whether a known library wrote what was read.
func (r *reading) ofLibrary() bool {
	return r.shape == table && r.typ == "hash" || r.shape == text && libraryValues.Match(r.head)
}

// isNumberOrTime reports whether a value names nobody: a number, which counts something or
// says when, or a time.
func isNumberOrTime(value []byte) bool {
	text := strings.TrimSpace(string(value))
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05 -0700", time.DateOnly} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}
