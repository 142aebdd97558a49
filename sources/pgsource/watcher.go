package pgsource

import (
	"context"
	"slices"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// watcher looks repeatedly and publishes what differs. One goroutine runs it.
type watcher struct {
	*connection
	notes []string // about parameters of the URL
	table *lockTable
	calls *callTimes
	hints *kit.Hints // of the source
	pace  pace
	focus kit.OnScreen

	last   *snapshot     // nil before the first look of this connection
	spare  *snapshot     // an old snapshot whose memory can be reused
	again  bool          // something changed between the two statements of the look
	about  sources.About // as last published
	served uint64        // number of served refreshes of hints
	rights time.Time     // when the rights of our role were read
}

// run watches until the connection ends.
func (w *watcher) run() error {
	w.table = w.table.connected(&w.server, w.keys)
	w.hints.Refreshed(&w.served) // the first look serves this refresh
	for {
		if err := w.step(w.Context()); err != nil {
			return err
		}
		if err := w.wait(w.Context()); err != nil {
			return err
		}
	}
}

// step looks once and publishes the changes.
func (w *watcher) step(ctx context.Context) error {
	first := w.last == nil
	if err := w.askRights(ctx); err != nil {
		return err
	}
	asked, blocking, err := w.askOrder(ctx)
	if err != nil {
		return err
	}
	s, err := w.look(ctx, w.table.pids, w.spare)
	for tries := 1; first && err == nil && !s.whole() && tries < unsteadyMost; tries++ {
		s, err = w.look(ctx, w.table.pids, s)
	}
	if err != nil {
		return err
	}
	s.asked, s.blocking, s.evicted = asked, blocking, w.notifications.evictions()
	switch {
	case s.standby != w.server.standby:
		return sources.Passing(nil, "the server was a %s and is a %s now", w.server.role(), (&server{standby: s.standby}).role())
	case s.started != w.server.started:
		return sources.Passing(nil, "another server answers at this address now") // a pooler has connected us to it
	}
	w.spare, w.last = w.last, s
	w.pace.rows = s.rows
	w.pace.AddCost(max(s.cost-2*w.server.trip, 0))
	table, result := w.table.compare(s, w.focus)
	if every := max(w.about.Sampling, w.pace.interval(s.got, w.eager())); !first && sources.Missed(s.got.Sub(w.table.sent), every) {
		result.changes = slices.Insert(result.changes, 0, sources.Change{At: s.got, Unseen: table.unseen(w.table.sent)})
	}
	w.table, w.again = table, result.again
	if result.moved || first {
		w.pace.Changed = s.got
	}
	return w.report(result.changes, first)
}

// askOrder asks for the unknown part of the order of the selected queue. The look that follows shows whether it is
// still the same queue.
func (w *watcher) askOrder(ctx context.Context) ([]wait, map[uint32]blocking, error) {
	some, _ := w.orderDue()
	if len(some) == 0 || w.last == nil {
		return nil, nil, nil
	}
	answers, err := w.askWaits(ctx, some)
	return some, answers, err
}

// orderDue returns the waits in the selected queue about which to ask now, and reports whether one of them has no
// answer yet.
func (w *watcher) orderDue() (some []wait, unknown bool) {
	l := w.table.shownAs(w.focus.Selected)
	if l == nil || !w.server.blocking {
		return nil, false
	}
	now, order := time.Now(), w.table.orderOf(l)
	if some = order.due(l.rows, now); len(some) > 0 {
		some = some[:min(len(some), w.calls.allowed(now))]
	}
	if len(some) > 0 {
		_, known := order.answers[some[0]]
		unknown = !known
	}
	return some, unknown
}

// report publishes the changes. The first Change of a connection has Relists and all rows.
func (w *watcher) report(changes []sources.Change, first bool) error {
	about := w.describe()
	if first {
		changes[0].Relists, changes[0].Synced = true, true
	}
	if about != nil {
		if len(changes) == 0 {
			changes = []sources.Change{{At: w.last.got}}
		}
		changes[0].About = about
	}
	w.Answered(w.last.got)
	for _, c := range changes {
		if err := w.Send(c); err != nil {
			return err
		}
	}
	return nil
}

// mayListen reports whether notifications can arrive.
func (w *watcher) mayListen() bool { return w.server.pooler != pgwire.Lent && !w.server.standby }

// hurry is the pause before another look if something changed during the last one.
const hurry = 10 * time.Millisecond

// wait sleeps until the next look is due, or something makes it due at once.
func (w *watcher) wait(ctx context.Context) error {
	began := w.last.sent
	for {
		now := time.Now()
		changed := w.hints.Changed()
		w.focus = w.hints.OnScreen()
		if w.hints.Refreshed(&w.served) {
			return nil
		}
		pause := w.pace.interval(now, w.eager())
		if _, unknown := w.orderDue(); w.again || unknown {
			pause = min(pause, max(hurry, w.pace.Cost))
		}
		select {
		case <-time.After(began.Add(pause).Sub(now)):
			return nil
		case <-w.notifications.wake: // one look serves any number of notifications
			if backoff.Sleep(ctx, time.Until(began.Add(w.pace.floor()))) != nil {
				return context.Cause(ctx)
			}
			return nil
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *watcher) eager() bool { return w.focus.Selected.Name != "" || w.table.waiters > 0 }

// pace decides how often to look.
type pace struct {
	kit.Pace     // its Cost excludes the round trip to the server
	rows     int // of pg_locks in the last look
}

const (
	costlyPause = 2 * time.Second
	costly      = 50 * time.Millisecond // of one look
	manyRows    = 5000
	leastPause  = 20 * time.Millisecond
)

// interval returns the pause between the starts of two looks. eager is true if somebody waits for a lock or a lock is
// selected on the screen.
func (p *pace) interval(now time.Time, eager bool) time.Duration {
	if p.rows > manyRows || p.Cost > costly {
		return p.Bound(max(costlyPause, 50*p.Cost))
	}
	return max(p.Pause(now, eager), min(leastPause, p.Max))
}

// floor returns the minimum pause, even after a notification.
func (p *pace) floor() time.Duration { return max(leastPause, p.Floor()) }
