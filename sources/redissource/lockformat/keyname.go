package lockformat

import (
	"slices"
	"strings"
	"unicode"

	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/legible"
	"coordtop/sources"
)

// Word finds the last part of a key's name that has a word for a lock: locks, myLock, lease.
// end is where that part ends, its separator included; 0: there is none.
func Word(key string) (end int, kind sources.Kind) {
	start := 0
	for i := 0; i <= len(key); i++ {
		if i < len(key) && strings.IndexByte(Separators, key[i]) < 0 {
			continue
		}
		if k := wordIn(key[start:i]); k == sources.KindElection && continues(key[i:]) {
			start = i + 1
			continue
		} else if k != sources.KindUnknown {
			end, kind = min(i+1, len(key)), k
		}
		start = i + 1
	}
	return end, kind
}

// continues reports whether a name goes on within the phrase of its last word, as leader-board does:
// then that is of something else.
func continues(rest string) bool {
	if rest == "" || rest[0] != '-' && rest[0] != '_' {
		return false
	}
	next := strings.ToLower(rest[1:])
	if end := strings.IndexAny(next, Separators); end >= 0 {
		next = next[:end]
	}
	return words[next] == sources.KindUnknown && !slices.Contains([]string{"key", "id", "name", "node", "host"}, next)
}

// wordIn is what the last word for a lock in a part says. A part is one word, or several that
// begin with capitals.
func wordIn(part string) (kind sources.Kind) {
	if part == "" || len(part) > longestPart {
		return sources.KindUnknown
	}
	start := 0
	for i := 1; i <= len(part); i++ {
		if i < len(part) && !(unicode.IsUpper(rune(part[i])) && !unicode.IsUpper(rune(part[i-1]))) {
			continue
		}
		switch k := words[strings.ToLower(part[start:i])]; {
		case k != sources.KindUnknown:
			kind = k
		case kind == sources.KindElection: // masterData
			kind = sources.KindUnknown
		}
		start = i
	}
	return kind
}

// longestPart is the length in bytes of the longest part that is searched for words.
const longestPart = 64

var words = map[string]sources.Kind{
	"leader": sources.KindElection, "leaders": sources.KindElection, "master": sources.KindElection, "elected": sources.KindElection,
	"election": sources.KindElection, "elections": sources.KindElection, "leadership": sources.KindElection,
	"lock": sources.KindMutex, "locks": sources.KindMutex, "mutex": sources.KindMutex, "mutexes": sources.KindMutex,
	"lease": sources.KindMutex, "leases": sources.KindMutex,
	"semaphore": sources.KindSemaphore, "semaphores": sources.KindSemaphore,
}

// NamesSecret reports whether a part of a key's name is a word for what has a random value and is no
// lock: session, csrf.
func NamesSecret(key string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return strings.ContainsRune(Separators, r) }), func(part string) bool {
		return secrets[strings.TrimSuffix(part, "s")] || strings.Contains(part, "sess")
	})
}

var secrets = map[string]bool{
	"sid": true, "token": true, "csrf": true, "xsrf": true, "nonce": true, "otp": true, "jwt": true, "jti": true,
	"auth": true, "oauth": true, "refresh": true, "captcha": true, "cookie": true, "login": true, "password": true, "reset": true, "idempotency": true, "secret": true, "apikey": true,
}

// ByName says which lock a key belongs to, as far as its name alone proves it. lock is the key
// that stands for the lock, key itself or another; "": the key belongs to a library, but to no
// lock. ok is false where the name proves nothing.
func ByName(key string) (lock string, ok bool) {
	if lock, ok := redissonLock(key); ok {
		return lock, true
	}
	if at := partAt(key, "uniquejobs:"); at >= 0 {
		if m := uniqueJob().FindStringSubmatch(key[at:]); m != nil {
			return key[:at] + m[1] + uniqueLocked, true
		}
		return "", true
	}
	if at := partAt(key, "SEMAPHORE:"); at >= 0 {
		for _, end := range []string{":EXISTS", ":VERSION", rubyFree} {
			if rest, ok := strings.CutSuffix(key, end); ok {
				return rest + rubyTaken, true
			}
		}
	}
	if fixed(key) != nil {
		return key, true
	}
	return "", false
}

// fixed is the format that a name alone proves; nil: none.
func fixed(key string) *Format {
	for i := range table {
		if f := &table[i]; f.fixed && f.name.match(key) {
			return f
		}
	}
	return nil
}

// redissonLock is the lock that a key of Redisson stands beside; "": none.
func redissonLock(key string) (lock string, ok bool) {
	for _, prefix := range []string{redissonQueue, redissonDeadlines, redissonFence} {
		if rest, ok := strings.CutPrefix(key, prefix+":"); ok {
			return untagged(rest), true
		}
	}
	if strings.HasPrefix(key, "redisson_unlock_latch:") {
		return "", true
	}
	if m := readerTTL().FindStringSubmatch(key); m != nil {
		return untagged(m[1]), true
	}
	if IsPermits(key) {
		return untagged(strings.TrimSuffix(key, redissonPermits)), true
	}
	return "", false
}

// IsPermits reports whether a key is named as the sorted set in which Redisson keeps the taken
// permits of a semaphore. The key of the semaphore itself holds only a number.
func IsPermits(key string) bool {
	return strings.HasPrefix(key, "{") && strings.HasSuffix(key, "}"+redissonPermits)
}

// Prefix is what the names of a key and of others like it have in common; "": nothing.
func Prefix(key string) string {
	if end, _ := Word(key); end > 0 {
		return key[:end]
	}
	if f := fixed(key); f != nil {
		return key[:partAt(key, f.name.begins+f.name.part)+len(f.name.begins+f.name.part)]
	}
	return ""
}

// NamesOwner reports whether a key's name contains a field of another key's hash, as those beside
// Redisson's read-write lock do. The field is enough to release the lock, so the name must not
// be shown.
func NamesOwner(key string) bool {
	at := strings.LastIndex(key, redissonReader)
	return at >= 0 && isCount(key[at+len(redissonReader):])
}

// Keys of Redisson (redisson/redisson, RedissonFairLock, RedissonFencedLock, RedissonReadLock,
// RedissonPermitExpirableSemaphore: prefixName and suffixName), of sidekiq-unique-jobs
// (mhenrixon/sidekiq-unique-jobs, lib/sidekiq_unique_jobs/key.rb) and of redis-semaphore for
// Ruby (dv/redis-semaphore, lib/redis/semaphore.rb).
const (
	redissonQueue     = "redisson_lock_queue"
	redissonDeadlines = "redisson_lock_timeout"
	redissonFence     = "redisson_lock_token"
	redissonPermits   = ":timeout"
	redissonReader    = ":rwlock_timeout:"
	uniqueLocked      = ":LOCKED"
	rubyFree          = ":AVAILABLE"
	rubyTaken         = ":GRABBED"
)

var (
	readerTTL = lazy.Regexp(`^(.*):` + legible.UUID + `:\d+` + redissonReader + `\d+$`)
	uniqueJob = lazy.Regexp(`^(uniquejobs:[0-9a-f]{16,64}(?::RUN)?)(?::LOCKED|:QUEUED|:PRIMED|:INFO)?$`)
)

// tagged is how Redisson writes a lock's name into that of a companion.
func tagged(key string) string {
	if strings.Contains(key, "{") {
		return key
	}
	return "{" + key + "}"
}

func untagged(s string) string {
	if strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}") && strings.Count(s, "{") == 1 {
		return s[1 : len(s)-1]
	}
	return s
}
