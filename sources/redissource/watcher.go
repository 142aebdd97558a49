package redissource

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"coordtop/sources"
)

// watcher turns what a link hears into changes. It is one goroutine: what was pushed and
// leases that end come first, then one step at a time of what can wait. Under a storm of
// pushes there still is such a step now and then.
type watcher struct {
	*link
	space   string
	keys    map[string]*key // outlives the link
	hints   *hints
	channel *channel // nil: nothing is pushed
	unasked bool     // because no key was found yet that could be tracked
	ends    deadlines
	sweep   *sweep // running; nil: none
	denials denials
	room    room
	poll    poller

	complete bool      // the last listing was: an unknown name is a new key
	listed   time.Time // start of the last complete listing; zero: none
	resync   time.Time // when the next sweep is due
	answered time.Time // when the server last answered on the read connection
	stepped  time.Time // when there was last a step of what can wait

	about sources.About // as last told
	notes warnings
}

// hints is what Focus and Refresh leave for the watcher, of this link or the next.
type hints struct {
	refresh chan struct{} // capacity 1
	focus   atomic.Pointer[[]string]
}

func newHints() *hints { return &hints{refresh: make(chan struct{}, 1)} }

// focused are the names on screen.
func (h *hints) focused() []string {
	if names := h.focus.Load(); names != nil {
		return *names
	}
	return nil
}

// run watches until the link ends, which is the only way it returns.
func (w *watcher) run() error {
	ctx := w.Context()
	w.space = strconv.Itoa(w.o.Client.DB)
	if err := w.Tell(sources.Change{Gap: true}); err != nil {
		return err
	}
	w.countRoom()
	if err := w.setUp(ctx); err != nil {
		return err
	}
	for {
		if err := w.turn(ctx); err != nil {
			return err
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
	w.distrust()
	w.sweep = s
	return w.describe()
}

// distrust has every key told anew when it is next read.
func (w *watcher) distrust() {
	for _, k := range w.keys {
		k.stale = true
	}
}

// askForPushes has the server push what it will, and files the known keys under how they
// are watched then.
func (w *watcher) askForPushes(ctx context.Context, guessed []string) error {
	a := w.selected.audience(guessed)
	c, reasons, err := w.climb(ctx, a)
	if err != nil {
		return err
	}
	if c != nil {
		w.channel = c
		w.adopt(c)
	}
	w.notes.ladder, w.unasked = reasons, len(a.prefixes) == 0 && w.selected.guess
	w.poll.names = nil
	for _, k := range w.keys {
		w.admit(k)
	}
	return nil
}

// admit files a key under how it is watched.
func (w *watcher) admit(k *key) {
	w.keys[k.name] = k
	if k.pushed = w.channel.covers(k.name); !k.pushed {
		w.poll.names = append(w.poll.names, k.name)
	}
}

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
	case now.Sub(w.answered) >= w.idle():
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
	w.sweep = w.newSweep(true)
	w.distrust()
	return w.Tell(sources.Change{Gap: true})
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
	if w.inbox.overflowed() { // everything is read again
		w.resync = now
	}
	names, notices := w.inbox.take(burstChunk, w.hints.focused())
	if due := w.ends.due(now, chunk); len(due) > 0 {
		names = append(names, due...)
		notices = append(notices, make([]notice, len(due))...)
	}
	if len(names) == 0 {
		return false, nil
	}
	return true, w.look(ctx, names, notices)
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
	refresh := w.hints.refresh
	if w.sweep != nil {
		sooner(w.sweep.rest)
		refresh = nil // when this one is over
	} else {
		sooner(w.resync)
	}
	t := time.NewTimer(until.Sub(now))
	defer t.Stop()
	select {
	case <-t.C:
		return w.describe()
	case <-w.inbox.wake:
	case <-refresh:
		w.resync, w.denials.ask = now, true
	case <-ctx.Done():
	}
	return nil
}

// idle is how long the read connection is left alone: it proves that the server lives
// where there is no other, and servers close connections that they hear nothing from.
func (w *watcher) idle() time.Duration {
	if w.channel == nil {
		return time.Second
	}
	return 10 * time.Second
}

// pingReads pings the read connection to prove it is alive.
func (w *watcher) pingReads(ctx context.Context) error {
	start := time.Now()
	if err := w.conn.Ping(ctx).Err(); err != nil {
		return err
	}
	w.answered = time.Now()
	w.server.roundTrip = time.Since(start)
	w.Heard()
	return nil
}

// look reads keys and tells what is new about them. notices, one a name, say what was
// pushed; nil: nothing was.
func (w *watcher) look(ctx context.Context, names []string, notices []notice) error {
	if names, notices = w.readable(names, notices); len(names) == 0 {
		return nil
	}
	readings, err := fetch(ctx, w.conn, w.refusals(), names)
	if err != nil {
		return err
	}
	w.answered = time.Now()
	w.Heard()
	w.retry(names, readings)
	var told []finding
	for i, r := range readings {
		if r == nil && w.starting() && w.sweep.retries < mostRetries {
			w.sweep.retries++
			w.sweep.pending = append(w.sweep.pending, names[i])
			continue
		}
		var n notice
		if notices != nil {
			n = notices[i]
		}
		if f, ok := w.take(names[i], r, n); ok {
			told = append(told, f)
		}
	}
	return w.report(told)
}

// take brings a key up to date. ok is false if there is nothing to tell.
func (w *watcher) take(name string, r *reading, n notice) (f finding, ok bool) {
	k := w.keys[name]
	if r == nil { // it would not stand still
		if k != nil {
			w.ends.set(k, time.Now().Add(relook))
		}
		return f, false
	}
	if k == nil {
		rule, selected := w.selected.find(name)
		if !selected || !w.worthIt(rule, r) || !w.fits(name) {
			return f, false
		}
		k = newKey(name, rule)
		w.admit(k)
	}
	old := k.past()
	if old.sent.IsZero() && !w.worthIt(k.rule, r) { // it was there when it was doubted
		w.ends.set(k, time.Time{})
		delete(w.keys, name)
		return f, false
	}
	p := k.primitive(w.o, w.space, r)
	if w.mayBePushed(k, p, r, n) {
		k.doubted = true
		w.ends.set(k, r.got.Add(patience))
		return f, false
	}
	if !k.update(p, r) {
		w.schedule(k, r)
		return f, false
	}
	w.makeRoom(old.shown, p)
	w.schedule(k, r)
	f = finding{prim: p, when: w.when(k, old, p, r, n), ended: ending(old.shown, p, n)}
	if old.sent.IsZero() && !w.complete && !w.starting() {
		f.unread = unread(p)
	}
	return f, true
}

// patience is how long a push may be behind what a read shows already.
const patience = 10 * time.Millisecond

// mayBePushed reports whether a difference should be looked at again in a moment, because
// a push that says more about it is probably on its way: the first one at all, or the event
// that explains why an owner is gone. A lease that ended is pushed by nobody.
func (w *watcher) mayBePushed(k *key, p *sources.Primitive, r *reading, n notice) bool {
	if !k.pushed || k.doubted || k.stale || w.starting() || !k.differs(p, r) {
		return false
	}
	if !n.first.IsZero() && (w.channel.mode != modeEvents || !unexplained(k.shown, p, n)) {
		return false
	}
	return r.shape != missing || k.ends.at.IsZero() || r.got.Before(k.ends.at)
}

// unexplained reports whether an owner is gone and no event says why.
func unexplained(before, after *sources.Primitive, n notice) bool {
	return before != nil && len(before.Owners) == 1 && !sameIDs(before.Owners, after.Owners) && ending(before, after, n) == nil
}

// starting reports whether the first sweep is still running.
func (w *watcher) starting() bool { return w.sweep != nil && w.sweep.first }

// unread is p as it is known before anything was read: what is told of it afterwards was
// found, not made.
func unread(p *sources.Primitive) *sources.Primitive {
	return &sources.Primitive{
		Ref: p.Ref, Kind: p.Kind, Labels: p.Labels, Expected: p.Expected, ForgetAfter: p.ForgetAfter,
	}
}

// worthIt reports whether a key that was never seen belongs in the list.
func (w *watcher) worthIt(r rule, found *reading) bool {
	switch {
	case r.exact:
		return true
	case w.selected.guess:
		return found.shape == table || found.shape == text && found.size <= longestGuessed
	}
	return found.shape != missing
}

// relook is the pause before another look at a key that should be gone, or was in motion.
const relook = 5 * time.Millisecond

// schedule sets when k is looked at because its lease is over.
func (w *watcher) schedule(k *key, r *reading) {
	if k.ends.at.IsZero() {
		w.ends.set(k, time.Time{})
		return
	}
	at := k.ends.at.Add(tick)
	if soonest := r.got.Add(relook); at.Before(soonest) && r.ttl <= tick {
		at = soonest
	}
	w.ends.set(k, at)
}

// report tells findings, those of the same time together, the earliest first.
func (w *watcher) report(list []finding) error {
	for _, c := range changes(list) {
		if err := w.Tell(c); err != nil {
			return err
		}
	}
	return nil
}
