package redissource

import (
	"strings"

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
