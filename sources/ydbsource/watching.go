package ydbsource

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

const (
	// pingEvery bounds how late a push can be without being noticed, so it is below sources.Promptness.
	pingEvery    = 20 * time.Millisecond
	silenceLimit = 4 * time.Second // after which a session is given up; the Hub has reported the silence before
	reportEvery  = 500 * time.Millisecond
	settingsFor  = time.Minute // maximum age of the node's description
)

// watching is the time from one attach of a session to its loss.
type watching struct {
	*node
	session  *ydbcoord.Session
	follower *ydbcoord.Follower
	pace     pace
	read     time.Time // when the settings were read
	reported time.Time // when the node's About was last updated
	reloaded time.Time // when the files of names were checked

	tolerance atomic.Int64 // the maximum delay of a push that is published at its instant, in nanoseconds
}

// attached watches until the stream is lost (errDetached) or the session is over. The caller got statusChanged before
// it saw the attach.
func (n *node) attached(ctx context.Context, s *ydbcoord.Session, statusChanged <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	w := &watching{node: n, session: s, follower: s.Follow(), read: time.Now()}
	defer w.follower.Close()
	spawn.Go(ctx, &helpers, func() { w.pings(ctx) })
	n.state.missing = false
	w.about.watched()
	if err := w.reload(ctx); err != nil {
		return err
	}
	w.pace.begin(n.state, n.onScreen(), time.Now())
	// A node without rows to read, for example one without names, publishes nothing more.
	if err := w.send(sources.Change{Synced: w.state.complete(), About: w.about.changed(w.node)}); err != nil {
		return err
	}
	changed := n.link.source.Changed()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.follower.Ready():
			read, ok, err := w.follower.Take()
			switch {
			case err != nil:
				return err
			case !ok:
				continue
			}
			for _, c := range w.changes(read) {
				if err := n.send(c); err != nil {
					return err
				}
			}
			continue // the timer sets the pace
		case <-statusChanged:
			return cmp.Or(s.Err(), errDetached) // the session may be attached again already
		case <-s.Done():
			return s.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
			changed = n.link.source.Changed()
		case <-timer.C:
		}
		next, err := w.askDue(ctx)
		if err != nil {
			return err
		}
		timer.Reset(next)
	}
}

// onScreen returns the names that are on screen, the selected one first; "" if none of the node is selected.
func (n *node) onScreen() []string {
	visible, selected := n.link.source.OnScreen().In(n.state.path)
	return append([]string{selected}, visible...)
}

// askDue sends the due reads and returns the time until the next call.
func (w *watching) askDue(ctx context.Context) (time.Duration, error) {
	now := time.Now()
	if heard := w.session.Status().Heard; now.Sub(heard) > silenceLimit {
		return 0, errSilent
	}
	refresh := w.link.source.Refreshed(&w.state.refresh)
	if refresh || now.Sub(w.read) > settingsFor {
		w.read = now
		if err := w.settings(ctx); err != nil {
			return 0, err
		}
	}
	if now.Sub(w.reloaded) > readAgain {
		w.reloaded = now
		if err := w.reload(ctx); err != nil {
			return 0, err
		}
		w.save()
	}
	if refresh || now.Sub(w.reported) > reportEvery {
		w.reported = now
		w.about.unarmed = w.follower.Unarmed(reportEvery)
		if err := w.send(sources.Change{About: w.about.changed(w.node)}); err != nil {
			return 0, err
		}
	}
	ask := w.pace.due(w.state, w.onScreen(), refresh, now)
	if len(ask.add) > 0 {
		if err := w.follower.Add(ask.add...); err != nil {
			return 0, err
		}
	}
	w.follower.Look(ask.look...)
	return ask.next, nil
}

// pings sends pings, which prove that the service is alive on the stream of the pushes.
func (w *watching) pings(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	var trips kit.RoundTrips
	for {
		asked := time.Now()
		if _, err := w.session.Renew(ctx); err != nil {
			return // ctx or the session is over
		}
		trip := time.Since(asked)
		trips.Add(trip)
		w.ping.Store(int64(trip))
		w.tolerance.Store(int64(trips.Tolerance()))
		w.link.Answered(w.state.path, time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// changes returns the Changes that a read causes.
func (w *watching) changes(read ydbcoord.SemaphoreState) []sources.Change {
	w.link.Answered(w.state.path, read.At)
	e := w.state.byName[read.Name]
	if e == nil {
		return nil
	}
	if read.At.Sub(read.Since) <= time.Duration(w.tolerance.Load()) {
		read.Since = time.Time{} // the push was proved to be in time
	}
	if read.Absent {
		w.follower.Remove(read.Name) // our own pace looks for it now
	}
	return w.state.changes(e, read)
}
