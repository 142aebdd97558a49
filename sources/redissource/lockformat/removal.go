package lockformat

import (
	"strings"

	"coordtop/coord/rediscoord"
)

// Release is what a forced release of one owner consists of.
type Release struct {
	Removes rediscoord.Part // "": nobody knows how to release it

	// Unchecked says when the release that the old owner itself still sends may free the next
	// owner, because it does not compare and delete in one step: "always", "in two steps". "":
	// never.
	Unchecked string

	// beside is the key that a rediscoord.Permit is removed from, that what is Returned goes back
	// to, or the list of those who wait for a Field on a channel each; nil: none.
	beside func(key string) string
	// channel is where the number of free permits is published, or, with : and one who waits in
	// beside, where that one is woken; nil: none.
	channel func(key string) string
	// wake returns the commands that wake those who wait when no owner is left; nil: none.
	wake func(key string, c *Content) [][]string
}

const (
	always = "always"
	unread = "not known: its source is closed"
)

// Unchecked is Release.Unchecked of a program; "": its release compares, or the program is not
// known.
func Unchecked(program string) string {
	for i := range table {
		if table[i].Program == program && table[i].Release.Unchecked != "" {
			return table[i].Release.Unchecked
		}
	}
	return ""
}

// Removal is what releases one owner of a key, in which c stands.
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

	// redisson/redisson, LockPubSub: the first wakes one of those who wait, the other all.
	unlockMessage     = "0"
	readUnlockMessage = "1"
)

// wakeRedisson wakes those who wait for a lock. Who waits for a fair one listens on a channel of
// its own (RedissonFairLock: unlockInnerAsync).
func wakeRedisson(key string, _ *Content) [][]string {
	return [][]string{{"PUBLISH", channelOf(redissonChannel)(key), unlockMessage}}
}

func wakeReaders(key string, c *Content) [][]string {
	message := readUnlockMessage // a writer is gone
	if c.Fields["mode"] == "read" {
		message = unlockMessage
	}
	return [][]string{{"PUBLISH", "redisson_rwlock:" + tagged(key), message}}
}

// wakeUniqueJobs takes the digest off the list of all, and wakes who waits with BLMOVE. What is
// pushed is not read in version 9, and ends by itself.
func wakeUniqueJobs(key string, _ *Content) [][]string {
	digest := strings.TrimSuffix(key, uniqueLocked)
	return [][]string{
		{"LPUSH", digest + ":QUEUED", "1"}, {"PEXPIRE", digest + ":QUEUED", "5000"},
		{"ZREM", key[:partAt(key, "uniquejobs:")] + "uniquejobs:digests", digest},
		{"DEL", digest, digest + ":INFO", digest + ":PRIMED"},
	}
}

// wakeSpring publishes what a registry that listens expects of REGISTRY:KEY: the key, on a
// channel of the registry, or of that key of the registry (RedisLockRegistry: RedisPubSubLock, of
// several versions). Where the key has more colons, each may be the one behind the registry.
// Nobody else has such channels.
func wakeSpring(key string, _ *Content) (list [][]string) {
	for i := range key {
		if key[i] == ':' && len(list) < mostRegistries {
			channel := key[:i] + "-channel"
			list = append(list, []string{"PUBLISH", channel, key}, []string{"PUBLISH", channel + ":" + key, key})
		}
	}
	return list
}

// mostRegistries is how many channels are published on, twice.
const mostRegistries = 8
