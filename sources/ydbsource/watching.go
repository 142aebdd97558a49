package ydbsource

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

const (
	// pingEvery bounds how late a push can be without being found out, so it is below
	// sources.Promptness.
	pingEvery    = 20 * time.Millisecond
	silenceLimit = 4 * time.Second // after which a session is given up; the Hub has said so before
	reportEvery  = 500 * time.Millisecond
	settingsFor  = time.Minute // how long the node's own description is believed
)

// watching is the time from one attach of a session to its loss.
type watching struct {
	*node
	session  *ydbcoord.Session
	follower *ydbcoord.Follower
	pace     pace
	read     time.Time // of the settings
	reported time.Time // what the source says of the node

	tolerance atomic.Int64 // how late a push may be that is told at its instant, in nanoseconds
}

// attached watches until the stream is lost (errDetached) or the session is over. turned
// was taken before the attach was seen.
func (n *node) attached(ctx context.Context, s *ydbcoord.Session, turned <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	w := &watching{node: n, session: s, follower: s.Follow(), read: time.Now()}
	defer w.follower.Close()
	sights := make(chan ydbcoord.SemaphoreState)
	spawn.Go(ctx, &helpers, func() { w.pull(ctx, sights) })
	spawn.Go(ctx, &helpers, func() { w.pings(ctx) })
	n.board.missing = false
	w.about.watched()
	w.pace.begin(n.board, n.onScreen(), time.Now())
	if err := w.greet(); err != nil {
		return err
	}
	changed := n.link.source.Changed()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case sight := <-sights:
			for _, c := range w.take(sight) {
				if err := n.tell(c); err != nil {
					return err
				}
			}
			continue // the pace is the timer's
		case <-turned:
			if now := s.Status(); !now.Attached || s.Err() != nil {
				return ended(s)
			}
			return errDetached // and attached again already
		case <-s.Done():
			return s.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
			changed = n.link.source.Changed()
		case <-timer.C:
		}
		next, err := w.turn(ctx)
		if err != nil {
			return err
		}
		timer.Reset(next)
	}
}

// ended is why a session without a stream is not watched.
func ended(s *ydbcoord.Session) error {
	if err := s.Err(); err != nil {
		return err
	}
	return errDetached
}

// onScreen returns what of the node is on screen.
func (n *node) onScreen() onScreen {
	visible, selected := n.link.source.OnScreen().In(n.board.path)
	return onScreen{visible, selected}
}

// greet tells what the source says of the node; one of which all is known has nothing more
// to tell.
func (w *watching) greet() error {
	return w.tell(sources.Change{Synced: w.board.complete(), About: w.about.told(w.node)})
}

// turn asks what is due, and says when to be called again.
func (w *watching) turn(ctx context.Context) (time.Duration, error) {
	now := time.Now()
	if heard := w.session.Status().Heard; now.Sub(heard) > silenceLimit {
		return 0, errSilent
	}
	if now.Sub(w.read) > settingsFor {
		w.read = now
		if err := w.settings(ctx); err != nil {
			return 0, err
		}
	}
	if now.Sub(w.reported) > reportEvery {
		w.reported = now
		if err := w.tell(sources.Change{About: w.about.told(w.node)}); err != nil {
			return 0, err
		}
	}
	ask := w.pace.due(w.board, w.onScreen(), w.link.source.Refreshed(&w.board.refresh), now)
	if len(ask.add) > 0 {
		if err := w.follower.Add(ask.add...); err != nil {
			return 0, err
		}
	}
	w.follower.Look(ask.look...)
	return ask.next, nil
}

// pull hands sights over until ctx or the session ends.
func (w *watching) pull(ctx context.Context, sights chan<- ydbcoord.SemaphoreState) {
	for {
		sight, err := w.follower.Next(ctx)
		if err != nil {
			return // ctx or the session is over, which others see too
		}
		select {
		case sights <- sight:
		case <-ctx.Done():
			return
		}
	}
}

// pings prove on the stream that carries the pushes that the service is there.
func (w *watching) pings(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	var trips sources.RoundTrips
	for {
		asked := time.Now()
		if _, err := w.session.Renew(ctx); err != nil {
			return // ctx or the session is over
		}
		trip := time.Since(asked)
		trips.Add(trip)
		w.ping.Store(int64(trip))
		w.tolerance.Store(int64(trips.Tolerance()))
		w.link.Answered(w.board.path)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// take takes in a sight: the Changes that tell it.
func (w *watching) take(sight ydbcoord.SemaphoreState) []sources.Change {
	w.link.Answered(w.board.path)
	e := w.board.byName[sight.Name]
	if e == nil {
		return nil
	}
	if sight.At.Sub(sight.Since) <= time.Duration(w.tolerance.Load()) {
		sight.Since = time.Time{} // proved to be told at the instant
	}
	if sight.Absent {
		w.follower.Remove(sight.Name) // looked for in our own pace
	}
	return w.board.take(e, sight)
}
