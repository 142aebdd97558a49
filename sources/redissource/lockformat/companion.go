package lockformat

import "strings"

// Ask is the way to read a companion.
type Ask uint8

// The ways to read.
const (
	AskString      Ask = iota // GETRANGE
	AskList                   // LLEN, LRANGE
	AskSortedSet              // ZCARD, ZRANGE WITHSCORES
	AskField                  // HGET of Companion.Field
	AskSubscribers            // PUBSUB NUMSUB
)

// Companion is a key, or a channel, with more facts about a lock.
type Companion struct {
	Ask        Ask
	Key, Field string
}

type companion struct {
	ask Ask
	key func(lock string) string
}

// The indexes of companions in the lists that Companions returns.
const (
	// Of a lock of Redisson.
	atSubscribers, atQueue, atDeadlines, atFence = 0, 1, 2, 3
	// Of a semaphore of Redisson.
	atPermits, atPermitSubscribers = 0, 1
	// Of sidekiq-unique-jobs.
	atQueued, atPrimed = 0, 1
)

// Companions returns what to read with the key. Read expects the contents in the same order.
func (f *Format) Companions(key string) []Companion {
	list := make([]Companion, len(f.beside))
	for i, c := range f.beside {
		list[i] = Companion{Ask: c.ask, Key: c.key(key)}
		if c.ask == AskField {
			list[i].Field = "pb" // taskforcesh/bullmq, src/classes/job.ts: processedBy
		}
	}
	return list
}

// channelOf returns a function that names a lock's channel or companion in the same way as Redisson's prefixName.
func channelOf(prefix string) func(string) string {
	return func(lock string) string { return prefix + ":" + tagged(lock) }
}

func permitsOf(lock string) string { return tagged(lock) + redissonPermits }

func uniqueQueue(end string) func(string) string {
	return func(lock string) string { return strings.TrimSuffix(lock, uniqueLocked) + end }
}

func rubyFreeOf(lock string) string { return strings.TrimSuffix(lock, rubyTaken) + rubyFree }

func jobOf(lock string) string { return strings.TrimSuffix(lock, ":lock") }
