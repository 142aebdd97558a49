package redissource

import (
	"context"
	"slices"
	"time"

	"coordtop/sources"
)

// poller schedules the reads of keys that are not pushed.
type poller struct {
	names      []string // all such keys
	pending    []string // of the running round
	started    time.Time
	cost       time.Duration // of the running round
	interval   time.Duration // between the starts of two rounds; 0: the lowest
	due        time.Time     // of the next round
	focusDue   time.Time
	discoverAt time.Time // of the next listing
}

// share is the inverse of the part of the time for which polling may keep the server busy.
const share = 50

// pace returns the pause between two rounds, given the cost of a round.
func (p *poller) pace(cost, lowest, highest time.Duration) time.Duration {
	return min(max(cost*share, lowest), max(lowest, highest))
}

// sampling returns the pause between two looks at a polled key.
func (w *watcher) sampling() time.Duration { return max(w.poll.interval, w.link.o.PollMin) }

// polls reports whether some selected key is not pushed.
func (w *watcher) polls() bool {
	return len(w.poll.names) > 0 || w.link.discovers()
}

// discovers reports whether new keys must be searched for, because they are not pushed.
func (l *link) discovers() bool {
	if l.selected.guess {
		return l.push == nil || len(l.push.prefixes)+len(l.push.patterns) == 0
	}
	return slices.ContainsFunc(l.selected.globs, func(r rule) bool {
		return l.push == nil || len(l.push.patterns) == 0 && !l.push.tracks(r.name)
	})
}

func (w *watcher) pollDue(now time.Time) bool {
	return !w.starting() && w.polls() && (len(w.poll.pending) > 0 || !now.Before(w.pollNext()))
}

// pollNext returns the time of the poller's next step, or zero if none is planned.
func (w *watcher) pollNext() time.Time {
	if w.starting() || !w.polls() {
		return time.Time{}
	}
	next := w.poll.due
	if len(w.focused()) > 0 {
		next = sources.Earlier(next, w.poll.focusDue)
	}
	if w.listing.sweep == nil && w.link.discovers() {
		next = sources.Earlier(next, w.poll.discoverAt)
	}
	return next
}

// stepPoll makes one round trip of the poller, or starts a round.
func (w *watcher) stepPoll(ctx context.Context) error {
	p := &w.poll
	now := time.Now()
	switch {
	case len(p.pending) > 0:
		return w.pollChunk(ctx)
	case !now.Before(p.due):
		p.started, p.cost, p.pending = now, 0, p.names
		p.due = now.Add(w.sampling())
		p.focusDue = now.Add(w.link.o.PollMin)
		return nil
	case w.listing.sweep == nil && w.link.discovers() && !now.Before(p.discoverAt):
		w.listing.sweep = w.newSweep(false)
		w.listing.sweep.discover, w.listing.sweep.pending = true, nil
		return nil
	}
	p.focusDue = now.Add(w.link.o.PollMin)
	return w.lookAtFocus(ctx)
}

func (w *watcher) pollChunk(ctx context.Context) error {
	p := &w.poll
	n := min(chunk, len(p.pending))
	start := time.Now()
	if err := w.look(ctx, p.pending[:n], nil); err != nil {
		return err
	}
	p.cost += time.Since(start)
	if p.pending = p.pending[n:]; len(p.pending) == 0 {
		p.interval = p.pace(p.cost, w.link.o.PollMin, w.link.o.PollMax)
		p.due = p.started.Add(p.interval)
	}
	return nil
}

// lookAtFocus reads the keys on screen that are not pushed.
func (w *watcher) lookAtFocus(ctx context.Context) error {
	var names []string
	for _, name := range w.focused() {
		if k := w.keys[name]; k != nil && !k.pushed && len(names) < chunk {
			names = append(names, name)
		}
	}
	return w.look(ctx, names, nil)
}
