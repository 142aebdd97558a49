package lockformat

import (
	"strings"

	"coordtop/coord/rediscoord"
)

// Release describes the forced release of one owner.
type Release struct {
	Removes rediscoord.Part // "" if the way to release the lock is unknown

	// Unchecked is the condition under which a late release by the old owner also frees the next owner, because it does
	// not compare and delete in one step: "always", "in two steps". "": never.
	Unchecked string

	// beside returns the key from which a rediscoord.Permit is removed, the key to which a Returned permit is returned,
	// or the list of waiters for a Field, each with its own channel. It may be nil.
	beside func(key string) string
	// channel returns the channel to which the number of free permits is published. With a colon and a waiter from
	// beside appended, it is the channel that wakes this waiter. It may be nil.
	channel func(key string) string
	// wake returns the commands that wake the waiters when no owner is left. It may be nil.
	wake func(key string, c *Content) [][]string
}

const (
	always = "always"
	unread = "not known: its source is closed"
)

// Unchecked returns Release.Unchecked of a program. It returns "" if the release compares or the program is unknown.
func Unchecked(program string) string {
	for i := range table {
		if table[i].Program == program && table[i].Release.Unchecked != "" {
			return table[i].Release.Unchecked
		}
	}
	return ""
}

// Removal returns the steps that release one owner of a key with content c.
func (r *Release) Removal(key string, c *Content) rediscoord.Removal {
	m := rediscoord.Removal{Part: r.Removes}
	if r.beside != nil {
		m.Beside = r.beside(key)
	}
	if r.channel != nil {
		m.Channel = r.channel(key)
	}
	if r.wake != nil {
		m.After = r.wake(key, c)
	}
	return m
}

const (
	redissonChannel    = "redisson_lock__channel"
	redissonSemaphores = "redisson_sc"

	// redisson/redisson, LockPubSub: unlockMessage wakes one waiter, readUnlockMessage all.
	unlockMessage     = "0"
	readUnlockMessage = "1"
)

// wakeRedisson wakes the waiters for a lock. A waiter for a fair lock listens on a channel of its
// own (RedissonFairLock: unlockInnerAsync).
func wakeRedisson(key string, _ *Content) [][]string {
	return [][]string{{"PUBLISH", channelOf(redissonChannel)(key), unlockMessage}}
}

func wakeReaders(key string, c *Content) [][]string {
	message := readUnlockMessage // after a writer
	if c.Fields["mode"] == "read" {
		message = unlockMessage
	}
	return [][]string{{"PUBLISH", "redisson_rwlock:" + tagged(key), message}}
}

// wakeUniqueJobs removes the digest from the list of all digests, and wakes waiters with BLMOVE.
// Version 9 does not read the pushed item, which expires.
func wakeUniqueJobs(key string, _ *Content) [][]string {
	digest := strings.TrimSuffix(key, uniqueLocked)
	return [][]string{
		{"LPUSH", digest + ":QUEUED", "1"}, {"PEXPIRE", digest + ":QUEUED", "5000"},
		{"ZREM", key[:partAt(key, "uniquejobs:")] + "uniquejobs:digests", digest},
		{"DEL", digest, digest + ":INFO", digest + ":PRIMED"},
	}
}

// wakeSpring returns commands that publish the key in the form that a registry expects for REGISTRY:KEY: on the channel
// of the registry, or on that of the key (RedisLockRegistry: RedisPubSubLock, of several versions). If the key has
// several colons, each may be the one after the registry. No other program has such channels.
func wakeSpring(key string, _ *Content) (list [][]string) {
	for i := range key {
		if key[i] == ':' && len(list) < mostRegistries {
			channel := key[:i] + "-channel"
			list = append(list, []string{"PUBLISH", channel, key}, []string{"PUBLISH", channel + ":" + key, key})
		}
	}
	return list
}

// mostRegistries is the maximum number of possible registries of a key to which is published.
const mostRegistries = 8
