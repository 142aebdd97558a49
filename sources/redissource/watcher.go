package redissource

import (
	"context"
	"strconv"
	"time"

	"coordtop/sources"
)

// watcher turns what a link hears into changes. It is one goroutine: what was pushed and
// leases that end come first, then one step at a time of what can wait. Under a storm of
// pushes there still is such a step now and then.
type watcher struct {
	*link
	space    string
	keys     map[string]*key // outlives the link
	hints    *sources.Hints  // of the source
	served   uint64          // refreshes of hints
	before   *server         // that of the last link; outlives this one
	push     *pushConn       // nil: nothing is pushed
	unasked  bool            // because no key was found yet that could be tracked
	tracking keyTracking
	ends     deadlines
	sweep    *sweep // running; nil: none
	denials  denials
	checks   checks
	again    bool // a sweep is due when the running one is over
	capacity capacity
	guess    guessing
	poll     poller
	unseen   []sources.Unseen // to be told

	complete bool      // the last listing was: an unknown name is a new key
	listed   time.Time // start of the last complete listing; zero: none
	resync   time.Time // when the next sweep is due
	answered time.Time // when the server last answered on the read connection
	stepped  time.Time // when there was last a step of what can wait

	became    string        // what happened to the server since the last link
	becameHow sources.Known // of became
	dataLost  bool          // by a restart, and the first sweep after it is not over
	about     sources.About // as last told
	notes     warnings
}

// focused are the names on screen.
func (w *watcher) focused() []string {
	visible, selected := w.hints.OnScreen().In(w.space)
	if selected != "" {
		visible = append(visible, selected)
	}
	return visible
}

// run watches until the link ends, which is the only way it returns.
func (w *watcher) run() error {
	ctx := w.Context()
	defer w.keepProofs()
	w.space = strconv.Itoa(w.o.Client.DB)
	w.hints.Refreshed(&w.served) // by the first sweep
	if err := w.Send(sources.Change{Gap: true}); err != nil {
		return err
	}
	w.capacity = newCapacity(w.selected, w.keys)
	if err := w.compareServers(ctx); err != nil {
		return err
	}
	if err := w.setUp(ctx); err != nil {
		return err
	}
	for {
		if err := w.turn(ctx); err != nil {
			return err
		}
	}
}

// keepProofs notes up to when nothing is missed that was pushed on this link, for those who
// compare what the next one reads. A lease that is over is pushed by nobody.
func (w *watcher) keepProofs() {
	if w.checks.lossy || w.inbox.overflowed() {
		return
	}
	for _, k := range w.keys {
		if k.stale || k.pending || k.doubted || !w.tracks(k) || k.byKey && !k.armed {
			continue
		}
		if k.proved = w.unpushedUntil(k); !k.ends.at.IsZero() {
			k.proved = sources.Earlier(k.proved, k.ends.after)
		}
	}
}

// setUp has the server push and begins the first sweep.
func (w *watcher) setUp(ctx context.Context) error {
	s := w.newSweep(true)
	var guessed []string
	if w.selected.guess {
		for s.scanning {
			if err := w.scan(ctx, s); err != nil {
				return err
			}
		}
		guessed = s.pending
	}
	if err := w.askForPushes(ctx, guessed); err != nil {
		return err
	}
	for _, k := range w.keys {
		k.place = -1
	}
	w.markStale()
	w.sweep = s
	return w.describe()
}

// markStale has every key told anew when it is next read.
func (w *watcher) markStale() {
	for _, k := range w.keys {
		k.stale = true
	}
}

// askForPushes has the server push what it will, and files the known keys under how they
// are watched then.
func (w *watcher) askForPushes(ctx context.Context, guessed []string) error {
	a := w.selected.pushPlan(guessed)
	c, reasons, err := w.negotiatePush(ctx, a, w.checks.broken)
	if err != nil {
		return err
	}
	if w.push = c; c != nil {
		w.adopt(c)
	}
	w.notes.polled, w.unasked = reasons, w.selected.guess && len(guessed) == 0
	w.poll.names, w.tracking = nil, keyTracking{}
	for _, k := range w.keys {
		k.armed, k.futile = false, false
		w.admit(k)
	}
	return nil
}

// admit files a key under how it is watched.
func (w *watcher) admit(k *key) {
	w.keys[k.name] = k
	covered := w.push.covers(k.name)
	k.byKey = !covered && w.tracking.admits(k, w.push)
	if k.pushed = covered || k.byKey; !k.pushed {
		w.poll.names = append(w.poll.names, k.name)
	}
}

// tracks reports whether every end of the key is pushed.
func (w *watcher) tracks(k *key) bool { return k.byKey || w.push.tracks(k.name) }

// turn does the most urgent thing, or waits for the next.
func (w *watcher) turn(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	now := time.Now()
	if oldest := w.inbox.oldest(); !oldest.IsZero() && now.Sub(oldest) > w.o.Silence {
		return w.fallBehind()
	}
	done, err := w.urgent(ctx, now)
	if err != nil || done && now.Sub(w.stepped) < patience {
		return err
	}
	w.stepped = now
	switch {
	case w.sweep != nil && !now.Before(w.sweep.rest):
		return w.stepSweep(ctx)
	case w.pollDue(now):
		return w.stepPoll(ctx)
	case w.sweep == nil && !now.Before(w.resync):
		return w.beginResync(ctx)
	case !now.Before(w.checks.due):
		return w.check(ctx, now)
	case !now.Before(w.pingAt()):
		return w.pingReads(ctx)
	case done: // more may have been pushed
		return nil
	}
	return w.wait(ctx, now)
}

// fallBehind gives up reading what was pushed longer ago than the server may be silent:
// no row is believed before it is read again.
func (w *watcher) fallBehind() error {
	w.inbox.drop()
	w.dataLost = false
	w.sweep = w.newSweep(true)
	w.markStale()
	return w.Send(sources.Change{Gap: true})
}

// urgent reads what was pushed, and leases that are over.
func (w *watcher) urgent(ctx context.Context, now time.Time) (done bool, err error) {
	w.inbox.spread(func(yield func(string) bool) {
		for name := range w.keys {
			if !yield(name) {
				return
			}
		}
	})
	if w.inbox.overflowed() {
		w.checks.lossy = true
		w.resyncSoon()
	}
	names, notices := w.inbox.take(burstChunk, w.focused())
	for _, name := range names {
		if k := w.keys[name]; k != nil {
			k.pending = true
		}
	}
	if due := w.ends.due(now, chunk); len(due) > 0 {
		if err := w.provePushes(ctx, now); err != nil {
			return false, err
		}
		names = append(names, due...)
		notices = append(notices, make([]notice, len(due))...)
	}
	if len(names) == 0 {
		return false, nil
	}
	return true, w.look(ctx, names, notices)
}

// provePushes pings the push connection at once, to prove that no push about a lease that is
// over is on its way, unless some pings wait for their answers.
func (w *watcher) provePushes(ctx context.Context, now time.Time) error {
	if w.push == nil || w.push.connection == nil || !w.heartbeat.pingDue(now, patience) {
		return nil
	}
	return w.ping(ctx, w.push)
}

// wait sleeps until something is to be done, a second at most.
func (w *watcher) wait(ctx context.Context, now time.Time) error {
	until := now.Add(time.Second)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(until) {
			until = t
		}
	}
	sooner(w.ends.next())
	sooner(w.pollNext())
	sooner(w.checks.due)
	sooner(w.pingAt())
	changed := w.hints.Changed()
	switch {
	case w.sweep != nil: // a refresh waits until it is over
		sooner(w.sweep.rest)
	case w.hints.Refreshed(&w.served):
		w.denials.ask = true
		w.resyncSoon()
		return nil
	default:
		sooner(w.resync)
	}
	t := time.NewTimer(until.Sub(now))
	defer t.Stop()
	select {
	case <-t.C:
		return w.describe()
	case <-w.inbox.wake:
	case <-changed:
	case <-ctx.Done():
	}
	return nil
}

// pingAt is when the read connection is to be pinged: it proves that the server lives where
// there is no other, and servers close connections that they hear nothing from. What is pushed
// on it is received with the next answer.
func (w *watcher) pingAt() time.Time {
	switch {
	case w.push == nil:
		return w.answered.Add(time.Second)
	case w.push.onReads:
		pause := w.readHeartbeat.pause(w.pingLimit()) // a quarter of it is left for waiting
		return sources.Later(w.readHeartbeat.confirmedAt().Add(pause), w.answered.Add(pause/4))
	}
	return w.answered.Add(10 * time.Second)
}

// pingReads pings the read connection to prove it is alive.
func (w *watcher) pingReads(ctx context.Context) error {
	start := time.Now()
	w.readHeartbeat.sent(start)
	if err := w.conn.Ping(ctx).Err(); err != nil {
		return err
	}
	w.server.roundTrip = time.Since(start)
	w.readHeartbeat.answered(time.Now())
	w.readAnswered(start)
	return nil
}

// readAnswered notes that what was sent then, on the read connection, was answered now.
func (w *watcher) readAnswered(sent time.Time) {
	w.answered = time.Now()
	w.readHeartbeat.confirm(sent, w.answered)
	if w.readHeartbeat.tellAlive(w.answered, w.pingLimit()) {
		w.Answered()
	}
}

// heartbeatOf is that of the connection on which changes of k are pushed.
func (w *watcher) heartbeatOf(k *key) *heartbeat {
	if k.byKey && w.push != nil && w.push.onReads {
		return &w.readHeartbeat
	}
	return &w.heartbeat
}
