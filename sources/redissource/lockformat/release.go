package lockformat

import (
	"strings"

	"coordtop/sources"
)

// Removal is what of a lock belongs to one owner, and is removed where it is what was seen.
type Removal uint8

// The removals. The zero value is none: nobody knows how to release it.
const (
	Key      Removal = iota + 1 // DEL of the whole key
	Field                       // HDEL of the owner's field; DEL where nothing but "mode" is left
	InSet                       // ZREM of the owner's members; DEL where nothing but "__write__" is left
	Permit                      // ZREM of the owner's member from Beside, then INCRBY of the key by 1
	Returned                    // HDEL of the owner's field, then LPUSH of the field to Beside
)

// Release is what a forced release of one owner consists of.
type Release struct {
	Removes Removal

	// Blind says when the release that the old owner still does itself compares nothing, and
	// so would release the next owner: "always". "": it always compares.
	Blind string

	// Beside is the key that a Permit is removed from, or a Returned one goes back to; nil: none.
	Beside func(key string) string

	channel func(key string) string
	wake    func(key string, s Seen) [][]string
}

const (
	always = "always"
	unread = "not known: its source is closed"
)

// Seen is what a release has to know of a lock beside its owner.
type Seen struct {
	First string // the waiter at the head of the list in a companion; "": none
	Mode  sources.Mode
}

// After is the commands that follow the removal in the same script, to wake those who wait. Of
// a reentrant lock they are sent when no owner is left.
func (r *Release) After(key string, s Seen) [][]string {
	if r.wake == nil {
		return nil
	}
	return r.wake(key, s)
}

// Channel is where the number of free permits is published after a Permit was given back; "":
// nowhere.
func (r *Release) Channel(key string) string {
	if r.channel == nil {
		return ""
	}
	return r.channel(key)
}

const (
	redissonChannel    = "redisson_lock__channel"
	redissonSemaphores = "redisson_sc"

	// redisson/redisson, LockPubSub: the first wakes one of those who wait, the other all.
	unlockMessage     = "0"
	readUnlockMessage = "1"
)

// wakeRedisson wakes those who wait for a lock, or who is first in the queue of a fair lock
// (RedissonFairLock: unlockInnerAsync).
func wakeRedisson(key string, s Seen) [][]string {
	channel := redissonChannel + ":" + tagged(key)
	if s.First != "" {
		channel += ":" + s.First
	}
	return [][]string{{"PUBLISH", channel, unlockMessage}}
}

func wakeReaders(key string, s Seen) [][]string {
	message := readUnlockMessage // a writer is gone
	if s.Mode == sources.Shared {
		message = unlockMessage
	}
	return [][]string{{"PUBLISH", "redisson_rwlock:" + tagged(key), message}}
}

// wakeUniqueJobs takes the digest off the list of all, and wakes who waits with BLMOVE. What is
// pushed is not read in version 9, and ends by itself.
func wakeUniqueJobs(key string, _ Seen) [][]string {
	digest := strings.TrimSuffix(key, uniqueLocked)
	return [][]string{
		{"ZREM", key[:partAt(key, "uniquejobs:")] + "uniquejobs:digests", digest},
		{"DEL", digest, digest + ":INFO", digest + ":PRIMED"},
		{"LPUSH", digest + ":QUEUED", "1"}, {"PEXPIRE", digest + ":QUEUED", "5000"},
	}
}

// wakeSpring publishes what a registry that listens expects of REGISTRY:KEY: the key, on the
// registry's channel (RedisLockRegistry: RedisPubSubLock). Nobody else has such a channel.
func wakeSpring(key string, _ Seen) [][]string {
	registry, _, ok := strings.Cut(key, ":")
	if !ok {
		return nil
	}
	return [][]string{{"PUBLISH", registry + "-channel", key}}
}
