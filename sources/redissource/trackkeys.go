package redissource

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
)

// trackKeys makes the server push on c the next change of each key that the read connection reads after CLIENT CACHING
// YES. If the server refuses that, reason is a sentence for people; else "".
func (l *link) trackKeys(ctx context.Context, c *pushConn) (reason string, err error) {
	if c.id == 0 {
		return "tracking keys one by one needs the right +client|id", nil
	}
	_, err = rediscoord.Once(l.refusals(), "client|caching", func() (any, error) {
		if err := l.conn.ClientTrackingOn(ctx, &redis.ClientTrackingOptions{Redirect: c.id, OptIn: true}).Err(); err != nil {
			return nil, err
		}
		return l.conn.Do(ctx, "CLIENT", "CACHING", "YES").Result()
	})
	if err == nil || fatal(err) {
		return "", err
	}
	return refusedByKey(err), nil
}

func refusedByKey(err error) string { return "tracking keys one by one is refused: " + err.Error() }

// keyTracking counts useless pushes of keys that are tracked one by one.
type keyTracking struct {
	began  time.Time      // start of the second that futile counts
	futile map[string]int // pushes without a change, by key
	evicts bool           // one key had too many useless pushes, or too many keys had some
}

// mostFutile is the maximum number of pushes per second without a change to one key, and of keys with such pushes. A
// server whose table is full drops one key for each key that is read, and pushes it as if it had changed. A key that is
// often written in another database has such pushes as well, but is only one key.
const mostFutile = 10

// futilePush notes a push about k without a change. It reports whether k is not tracked any more.
func (t *keyTracking) futilePush(k *key, at time.Time) bool {
	if !k.byKey {
		return false
	}
	if t.futile == nil || at.Sub(t.began) >= time.Second {
		t.began, t.futile = at, map[string]int{}
	}
	t.futile[k.name]++
	if t.futile[k.name] <= mostFutile && len(t.futile) <= mostFutile {
		return false
	}
	t.evicts, k.futile = true, true
	return true
}

// arms reports whether a look at name must make the server track the key.
func (w *watcher) arms(name string, pushed bool) bool {
	if w.link.push == nil || !w.link.push.byKey || w.link.push.covers(name) {
		return false
	}
	k := w.keys[name]
	return k == nil || k.byKey && (pushed || !k.armed)
}

// unwatch removes a key from all lists but the poller's.
func (w *watcher) unwatch(k *key) {
	k.byKey, k.pushed = false, false
	w.ends.set(k, time.Time{})
	delete(w.keys, k.name)
}
