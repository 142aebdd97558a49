package redissource

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/ground/backoff"
)

// checks is the state of the checks that a watcher makes once a second although nothing was pushed: that it may still
// read, that refused keys are still refused, and that the server still pushes changes.
type checks struct {
	due      time.Time
	suspects []suspect
	broken   map[string]string // reasons by mode, for the modes that were left on this link
	lossy    bool              // notices were lost, so that a missing push proves nothing
}

// suspect is a change that was found although the server should have pushed it.
type suspect struct {
	k       *key
	foundAt time.Time
}

const (
	checkEvery   = time.Second // approximately, see backoff.UntilTurn
	mostSuspects = 100
)

// check makes the checks of each second.
func (w *watcher) check(ctx context.Context, now time.Time) error {
	w.checks.due = now.Add(backoff.UntilTurn(now))
	if err := w.countSwaps(); err != nil {
		return err
	}
	if err := w.checkPush(ctx); err != nil {
		return err
	}
	if err := w.countEvictions(); err != nil {
		return err
	}
	if err := w.checkRights(ctx); err != nil {
		return err
	}
	return w.describe()
}

// checkPush replaces a push connection that is proven to miss changes.
func (w *watcher) checkPush(ctx context.Context) error {
	if w.link.push == nil {
		return nil
	}
	why := w.checks.proof(w.link)
	if why == "" && w.link.push.mode == modeEvents {
		flags, err := w.link.eventFlags(ctx)
		if fatal(err) {
			return err
		}
		if err == nil && !enoughEvents(flags) {
			why = fmt.Sprintf("notify-keyspace-events is %q now", flags)
		}
	}
	if why == "" {
		return nil
	}
	kind := modeTracking // for either protocol
	if w.link.push.mode == modeEvents {
		kind = modeEvents
	}
	if w.checks.broken == nil {
		w.checks.broken = make(map[string]string)
	}
	w.checks.broken[kind] = why
	w.link.leave(w.link.push)
	w.link.push, w.checks.suspects = nil, nil
	if err := w.askForPushes(ctx, slices.Collect(maps.Keys(w.keys))); err != nil {
		return err
	}
	w.resyncSoon()
	return w.describe()
}

// suspect notes a change of k that was found but not pushed in this mode.
func (c *checks) suspect(k *key, r *reading, mode string) {
	switch {
	case c.lossy, len(c.suspects) >= mostSuspects:
	case k.byKey && !k.armed:
	case k.denied || r.shape == denied: // the server does not push keys that we may not read
	case mode == modeEvents && r.shape == missing: // a flush causes no event
	default:
		c.suspects = append(c.suspects, suspect{k, r.got})
	}
}

// proof returns the proof that the server does not push every change on l, or "". If a later ping is answered, every
// earlier push has arrived.
func (c *checks) proof(l *link) string {
	kept := c.suspects[:0]
	found := ""
	for _, s := range c.suspects {
		switch {
		case !s.k.pushed || s.k.noticed.After(s.foundAt) || l.inbox.has(s.k.name):
		case l.heartbeat.now().confirmed.After(s.foundAt):
			found = "a look found a change that was not pushed"
		default:
			kept = append(kept, s)
		}
	}
	c.suspects = kept
	return found
}

// checkRights reads one key: a refused one, if there is any, else another.
func (w *watcher) checkRights(ctx context.Context) error {
	if w.starting() {
		return nil
	}
	var k *key
	for _, other := range w.keys { // in random order, so that each key gets its turn
		if k == nil || other.denied && !k.denied {
			k = other
		}
		if k.denied || !w.denials.some {
			break
		}
	}
	if k == nil {
		return nil
	}
	w.denials.some = k.denied
	start := time.Now()
	err := w.link.conn.GetRange(ctx, k.name, 0, 0).Err()
	if fatal(err) {
		return err
	}
	w.link.readAnswered(start)
	if redis.IsPermissionError(err) == k.denied {
		return nil
	}
	if k.denied {
		w.denials.probe = k.name
	}
	return w.look(ctx, []string{k.name}, nil)
}

// warnings lists the modes that were left, and why.
func (c *checks) warnings() []string {
	var list []string
	for _, kind := range []string{modeTracking, modeEvents} {
		if why := c.broken[kind]; why != "" {
			list = append(list, fmt.Sprintf("left %s until the next connection: %s", kind, why))
		}
	}
	return list
}

// resyncSoon schedules a sweep for now, or after the running one.
func (w *watcher) resyncSoon() {
	w.listing.resync, w.listing.again = time.Now(), true
}

// denials chooses which of the refused keys are tried again. The server logs each refused read in its ACL LOG, so that
// only one key is tried per second and per sweep. When that key can be read, all are tried.
type denials struct {
	probe string // the key to try again; "" if none
	ask   bool   // the next sweep reads all, because of a refresh or because probe can be read again
	all   bool   // this sweep reads all
	some  bool   // some key is refused, as far as is known
}

// begin chooses the key that a new sweep tries again: the one whose last try is oldest.
func (d *denials) begin(keys map[string]*key) {
	d.probe, d.all, d.ask = "", d.ask, false
	var oldest *key
	for _, k := range keys {
		if k.denied && (oldest == nil || k.sent.Before(oldest.sent)) {
			oldest = k
		}
	}
	if d.some = oldest != nil; d.some {
		d.probe = oldest.name
	}
}

// skips reports whether k is refused and must not be tried now. k is nil for an unknown key.
func (d *denials) skips(k *key) bool {
	return k != nil && k.denied && !d.all && k.name != d.probe
}

// probed reports whether one of these readings shows that the probed key can be read again.
// Then the next sweep tries all of them.
func (d *denials) probed(questions []question, readings []*reading) bool {
	for i, q := range questions {
		if q.name == d.probe {
			d.probe = ""
			if r := readings[i]; r != nil && r.shape != denied {
				d.ask = true
				return true
			}
		}
	}
	return false
}
