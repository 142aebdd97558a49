package redissource

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
)

// trackKeys has the server push the next change of each key that the read connection reads
// behind CLIENT CACHING YES: on c or, where there is none or the server does not redirect to
// it, on the read connection itself. reason says why it does neither.
func (l *link) trackKeys(ctx context.Context, c *pushConn) (onReads bool, reason string, err error) {
	reason = "tracking keys one by one needs RESP3, or the right +client|id"
	if c != nil && c.id != 0 {
		if err := l.trackReads(ctx, c.id); err == nil || fatal(err) {
			return false, "", err
		} else if reason = refusedByKey(err); redis.IsPermissionError(err) {
			return false, reason, nil
		}
	}
	if l.o.Client.Protocol == 2 || l.conn.Hello(ctx, 3, "", "", "").Err() != nil {
		return false, reason, nil
	}
	l.reads.net.Pushes()
	if err := l.trackReads(ctx, 0); fatal(err) {
		return false, "", err
	} else if err != nil {
		return false, refusedByKey(err), nil
	}
	return true, "", nil
}

func refusedByKey(err error) string { return "tracking keys one by one is refused: " + err.Error() }

// trackReads has what the read connection reads tracked, and pushed on the connection that
// the server counts as id; 0: on the read connection.
func (l *link) trackReads(ctx context.Context, id int64) error {
	_, err := rediscoord.Once(l.refusals(), "client|caching", func() (any, error) {
		if err := l.conn.ClientTrackingOn(ctx, &redis.ClientTrackingOptions{Redirect: id, OptIn: true}).Err(); err != nil {
			return nil, err
		}
		return l.conn.Do(ctx, "CLIENT", "CACHING", "YES").Result()
	})
	return err
}

// keyTracking knows what comes of tracking keys one by one.
type keyTracking struct {
	began  time.Time      // of the second that futile counts
	futile map[string]int // pushes without a change, by key
	evicts bool           // some key had too many of them, or too many keys had some
}

// mostFutile is how many pushes a second may come without a change to one key, and to how
// many keys: a server whose table is full forgets one key for each that is read, and says so
// as if the key had changed. A key that is written often in another database is but one.
const mostFutile = 10

// futilePush notes that a push about k came at this time without a change. It reports
// whether k is not tracked any more.
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

// arms reports whether a look at name has to be one that makes the server track it.
func (w *watcher) arms(name string, pushed bool) bool {
	if w.push == nil || !w.push.byKey || w.push.covers(name) {
		return false
	}
	k := w.keys[name]
	if k == nil {
		return true
	}
	return k.byKey && (pushed || !k.armed)
}

// unwatch takes a key out of all lists but the poller's.
func (w *watcher) unwatch(k *key) {
	k.byKey, k.pushed = false, false
	w.ends.set(k, time.Time{})
	delete(w.keys, k.name)
}
