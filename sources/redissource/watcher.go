package redissource

import (
	"context"
	"maps"
	"strconv"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/sources"
)

// watcher turns the pushes and reads of a link into changes. One goroutine runs it. Pushed keys and ended leases come
// first, then other work, one step at a time. Such a step is made from time to time even while pushes never stop.
type watcher struct {
	link     *link
	space    string
	keys     map[string]*key // outlives the link
	served   uint64          // number of served refreshes of hints
	before   *server         // of the last link; outlives this one
	unasked  bool            // no pushes were requested, because there is no key to track yet
	tracking keyTracking
	ends     deadlines
	listing  listing
	denials  denials
	refused  bool // some key may be refused
	checks   checks
	capacity capacity
	guess    guessing
	search   search
	load     load

	evictions evictions
	gathering gathering
	swaps     swaps
	poll      poller
	unseen    []sources.Unseen // to be sent
	status    status
}

// listing is the reading of all keys, repeatedly.
type listing struct {
	sweep    *sweep    // the running sweep, or nil
	again    bool      // another sweep is due after the running one
	complete bool      // the last listing was complete, so that an unknown name is a new key
	listed   time.Time // start of the last complete listing; zero if none
	resync   time.Time // when the next sweep is due
	stepped  time.Time // the last step of work that can wait
}

// status has the facts about the server that go into About.
type status struct {
	became    string        // what happened to the server since the last link
	becameHow sources.Known // of became
	dataLost  bool          // data was lost by a restart; until the end of the first sweep after it
	about     sources.About // as last sent
	polled    []string      // reasons why keys are polled
	noScan    bool          // the user may not scan
	total     int64         // keys in the database; 0: unknown
}

// focused returns the names on screen.
func (w *watcher) focused() []string {
	visible, selected := w.link.hints.OnScreen().In(w.space)
	if selected != "" {
		visible = append(visible, selected)
	}
	return visible
}

// run watches until the link ends; its error is never nil.
func (w *watcher) run() error {
	ctx := w.link.Context()
	defer w.keepProofs()
	w.space = strconv.Itoa(w.link.o.Client.DB)
	w.link.hints.Refreshed(&w.served) // the first sweep serves this refresh
	if err := w.link.Send(sources.Change{Relists: true}); err != nil {
		return err
	}
	w.capacity = newCapacity(w.link.selected, w.keys)
	if err := w.compareServers(ctx); err != nil {
		return err
	}
	if err := w.askPolicy(); err != nil {
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

func (w *watcher) ref(name string) sources.Ref {
	return sources.Ref{Source: w.link.o.Name, Space: w.space, Name: name}
}

// keepProofs notes for each key until when this link missed no push, for the comparison with the first read on the next
// link. The end of a lease is not pushed.
func (w *watcher) keepProofs() {
	if w.checks.lossy || w.link.inbox.overflowed() {
		return
	}
	for _, k := range w.keys {
		if k.stale || k.pending || k.doubted || !w.link.tracks(k) || k.byKey && !k.armed {
			continue
		}
		if k.proved = w.link.unpushedUntil(k); !k.ends.at.IsZero() {
			k.proved = sources.Earlier(k.proved, k.ends.after)
		}
	}
}

// setUp asks the server for pushes and starts the first sweep.
func (w *watcher) setUp(ctx context.Context) error {
	s := w.newSweep(true)
	var guessed []string
	if w.link.selected.guess {
		if err := w.countKeys(); err != nil {
			return err
		}
		for s.scanning && s.scanned < w.link.o.unspread {
			if err := s.scan(ctx, w); err != nil {
				return err
			}
		}
		guessed = s.pending
	}
	if err := w.askForPushes(ctx, guessed); err != nil {
		return err
	}
	if err := w.countSwaps(); err != nil {
		return err
	}
	for _, k := range w.keys {
		k.place = -1
	}
	w.markStale()
	w.listing.sweep = s
	return w.describe()
}

// markStale marks every key to be sent at its next read, and to be armed again, because pushes may have been lost.
func (w *watcher) markStale() {
	for _, k := range w.keys {
		k.stale, k.armed = true, false
	}
}

// askForPushes negotiates pushes with the server, and sorts the known keys into pushed and polled ones.
func (w *watcher) askForPushes(ctx context.Context, guessed []string) error {
	a := w.link.selected.pushPlan(guessed)
	c, reasons, err := w.link.negotiatePush(ctx, a, w.checks.broken)
	if err != nil {
		return err
	}
	if w.link.push = c; c != nil {
		w.link.adopt(c)
	}
	w.swaps.counts = "" // other commands are counted from now on
	w.status.polled, w.unasked = reasons, w.link.selected.guess && len(guessed) == 0
	w.poll.names, w.tracking = nil, keyTracking{}
	for _, k := range w.keys {
		k.armed, k.futile = false, false
		w.admit(k)
	}
	return nil
}

// admit adds a key to the pushed or the polled keys.
func (w *watcher) admit(k *key) {
	w.keys[k.name] = k
	covered := w.link.push.covers(k.name)
	k.byKey = !covered && !k.futile && w.link.push != nil && w.link.push.byKey
	if k.pushed = covered || k.byKey; !k.pushed {
		w.poll.names = append(w.poll.names, k.name)
	}
}

// turn does the most urgent work, or waits for some.
func (w *watcher) turn(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	now := time.Now()
	if oldest := w.link.inbox.oldest(); !oldest.IsZero() && now.Sub(oldest) > w.link.o.Silence {
		return w.fallBehind()
	}
	done, err := w.urgent(ctx, now)
	if err != nil || done && now.Sub(w.listing.stepped) < patience {
		return err
	}
	w.listing.stepped = now
	switch {
	case w.starting() && !now.Before(w.listing.sweep.rest):
		return w.listing.sweep.step(ctx, w)
	case w.pollDue(now):
		return w.stepPoll(ctx)
	case w.listing.sweep == nil && !now.Before(w.listing.resync):
		return w.beginResync(ctx)
	case !now.Before(w.checks.due):
		return w.check(ctx, now)
	case !now.Before(w.link.pingAt()):
		return w.link.pingReads(ctx)
	case w.listing.sweep != nil && !now.Before(w.listing.sweep.rest):
		return w.listing.sweep.step(ctx, w)
	case done: // more may have been pushed
		return nil
	}
	return w.wait(ctx, now)
}

// fallBehind drops pushes if they have waited for longer than Options.Silence, and lists everything again, so that no
// row is fresh before its next read.
func (w *watcher) fallBehind() error {
	w.link.inbox.drop()
	w.status.dataLost = false
	w.listing.sweep = w.newSweep(true)
	w.markStale()
	return w.link.Send(sources.Change{Relists: true})
}

// urgent reads keys that were pushed, and keys whose lease has ended.
func (w *watcher) urgent(ctx context.Context, now time.Time) (done bool, err error) {
	w.link.inbox.spread(maps.Keys(w.keys))
	if w.link.inbox.overflowed() {
		w.checks.lossy = true
		for _, k := range w.keys { // any key may have been pushed
			k.armed = false
		}
		w.resyncSoon()
	}
	var names []string
	var notices []notice
	if !w.gathering.until().After(now) {
		names, notices = w.link.inbox.take(burstChunk, w.focused())
		w.gathering.read(now, len(names))
	}
	for i, name := range names {
		if lock, _ := w.guess.lockOf(name); w.link.selected.guess && lock != "" {
			names[i] = lock
		}
		if k := w.keys[names[i]]; k != nil {
			k.pending = true
		}
	}
	if due := w.ends.due(now, chunk); len(due) > 0 {
		if err := w.link.provePushes(ctx, now); err != nil {
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

// wait sleeps until there is work, for at most a second.
func (w *watcher) wait(ctx context.Context, now time.Time) error {
	changed, next := w.link.hints.Changed(), w.listing.resync
	switch {
	case w.starting():
		next = w.listing.sweep.rest
	case w.link.hints.Refreshed(&w.served):
		w.denials.ask = true
		w.search.cursor = 0
		w.resyncSoon()
		if w.listing.sweep != nil {
			w.listing.sweep.quit()
		}
		return nil
	case w.listing.sweep != nil:
		next = w.listing.sweep.rest
	}
	until := now.Add(backoff.UntilTurn(now))
	if w.link.push != nil {
		w.link.gather(w.link.push, w.gathering.unread())
	}
	pushed, gathered := w.link.inbox.wake, time.Time{}
	if until := w.gathering.until(); until.After(now) && !w.link.inbox.oldest().IsZero() {
		pushed, gathered = nil, until
	}
	for _, t := range []time.Time{next, w.ends.next(), w.pollNext(), w.checks.due, w.link.pingAt(), gathered} {
		if !t.IsZero() {
			until = sources.Earlier(until, t)
		}
	}
	t := time.NewTimer(until.Sub(now))
	defer t.Stop()
	select {
	case <-t.C:
		return w.describe()
	case <-pushed:
	case <-changed:
	case <-ctx.Done():
	}
	return nil
}
