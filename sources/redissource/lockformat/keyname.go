package lockformat

import (
	"slices"
	"strings"
	"unicode"

	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/legible"
	"coordtop/sources"
)

// Word finds the last part of a key's name that has a word for a lock, for example locks, myLock or lease. end is the
// end of that part, including its separator, or 0 if no part has such a word.
func Word(key string) (end int, kind sources.Kind) {
	for start := 0; start <= len(key); {
		stop := len(key)
		if i := strings.IndexAny(key[start:], Separators); i >= 0 {
			stop = start + i
		}
		k := wordIn(key[start:stop])
		if k != sources.KindUnknown && !(k == sources.KindElection && continues(key[stop:])) {
			end, kind = min(stop+1, len(key)), k
		}
		start = stop + 1
	}
	return end, kind
}

// continues reports whether the name's last word is only the beginning of a phrase, as in leader-board,
// which is no lock.
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

// wordIn returns the kind of the last word for a lock in a part. A part is one word, or several words that begin with
// capitals.
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
		case kind == sources.KindElection: // for example masterData
			kind = sources.KindUnknown
		}
		start = i
	}
	return kind
}

// longestPart is the maximum length in bytes of a part that is searched for words.
const longestPart = 64

var words = map[string]sources.Kind{
	"leader": sources.KindElection, "leaders": sources.KindElection, "master": sources.KindElection, "elected": sources.KindElection,
	"election": sources.KindElection, "elections": sources.KindElection, "leadership": sources.KindElection,
	"lock": sources.KindMutex, "locks": sources.KindMutex, "mutex": sources.KindMutex, "mutexes": sources.KindMutex,
	"lease": sources.KindMutex, "leases": sources.KindMutex,
	"semaphore": sources.KindSemaphore, "semaphores": sources.KindSemaphore,
}

// NamesSecret reports whether a part of a key's name is a word for something with a random value that is no lock, such
// as session or csrf.
func NamesSecret(key string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return strings.ContainsRune(Separators, r) }), func(part string) bool {
		return secrets[strings.TrimSuffix(part, "s")] || strings.Contains(part, "sess")
	})
}

var secrets = map[string]bool{
	"sid": true, "token": true, "csrf": true, "xsrf": true, "nonce": true, "otp": true, "jwt": true, "jti": true,
	"auth": true, "oauth": true, "refresh": true, "captcha": true, "cookie": true, "login": true, "password": true, "reset": true, "idempotency": true, "secret": true, "apikey": true,
}

// ByName finds the lock that a key belongs to, by its name alone. lock is the main key of the lock, which may be the
// key itself. It is "" if the key belongs to a library, but to no lock. ok is false if the name proves nothing.
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

// fixed returns the format that a name alone proves, or nil.
func fixed(key string) *Format {
	for i := range table {
		if f := &table[i]; f.fixed && f.name.match(key) {
			return f
		}
	}
	return nil
}

// redissonLock returns the lock that a companion key of Redisson belongs to, or "".
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

// IsPermits reports whether a key has the name of the sorted set in which Redisson keeps the taken permits of a
// semaphore. The key of the semaphore contains only a number.
func IsPermits(key string) bool {
	return strings.HasPrefix(key, "{") && strings.HasSuffix(key, "}"+redissonPermits)
}

// Prefix returns the prefix that a key shares with other locks of its program, or "".
func Prefix(key string) string {
	if end, _ := Word(key); end > 0 {
		return key[:end]
	}
	if f := fixed(key); f != nil {
		return key[:partAt(key, f.name.begins+f.name.part)+len(f.name.begins+f.name.part)]
	}
	return ""
}

// NamesOwner reports whether a key's name contains a field of another key's hash, as the companions of Redisson's
// read-write lock do. The name must not be shown, because the field is enough to release the lock.
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

// tagged returns a lock's name in the form that Redisson uses in the name of a companion.
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
