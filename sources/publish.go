package sources

import (
	"slices"
	"time"
)

const (
	publishEvery = 100 * time.Millisecond // at most ten states a second
	urgentEvery  = 10 * time.Millisecond  // between two that were too urgent to wait
	calmEvery    = time.Second            // where nothing but proof of life came in
	tick         = time.Second            // for the clock, ages and what is to be forgotten
)

// urgency says how soon a change must be published.
type urgency uint8

const (
	calm   urgency = iota // only proof of life
	normal                // anything else
	urgent                // a change of owner on screen; a source is up or down, or listed for the first time
)

// pace decides when the next state is due. After a quiet time a change is published at
// once (the leading edge); those that follow wait for the end of the step, where the
// last of them is always published (the trailing edge).
type pace struct {
	busy   time.Time // the last publish that was not calm
	rushed time.Time // the last urgent one
	due    time.Time // zero: nothing to publish
	hot    bool      // the one that is due is more than calm
	rush   bool      // and urgent
}

// touch takes in one more change and returns when the state is due.
func (p *pace) touch(now time.Time, u urgency) time.Time {
	var due time.Time
	switch u {
	case calm:
		due = now.Add(calmEvery)
	case normal:
		due = later(now, p.busy.Add(publishEvery))
		p.hot = true
	case urgent:
		due = later(now, p.rushed.Add(urgentEvery))
		p.hot, p.rush = true, true
	}
	if p.due.IsZero() || due.Before(p.due) {
		p.due = due
	}
	return p.due
}

// published takes in that everything up to now was published.
func (p *pace) published(now time.Time) {
	if p.hot {
		p.busy = now
	}
	if p.rush {
		p.rushed = now
	}
	p.due, p.hot, p.rush = time.Time{}, false, false
}

// changedLocked publishes now if that is due, else sees to it that the publisher does.
func (h *Hub) changedLocked(now time.Time, u urgency) {
	was := h.pace.due
	due := h.pace.touch(now, u)
	if !now.Before(due) {
		h.publishLocked(now)
		return
	}
	if was.IsZero() || due.Before(was) {
		select {
		case h.kick <- struct{}{}:
		default: // the publisher is about to look anyway
		}
	}
}

// publishLocked makes the next State. The rows are shared with it: from now on a change
// of one copies it first.
func (h *Hub) publishLocked(now time.Time) {
	s := &State{
		Thresholds: h.limit,
		Rev:        h.state.Load().Rev + 1,
		At:         now,
		LastSeq:    h.ring.newest(),
		Rows:       slices.Clone(h.rows),
		Scopes:     make([]Scope, len(h.scopes)),
		Sources:    make([]SourceStatus, len(h.feeds)),
	}
	for i, sc := range h.scopes {
		s.Scopes[i] = sc.Scope
	}
	for i, f := range h.feeds {
		s.Sources[i] = f.status()
	}
	h.state.Store(s)
	h.pace.published(now)
	h.ring.wake()
}

// publisher publishes what waits for the end of a step, and looks for what happens without
// any Change: a scope falls silent, the clock is set, memories grow old. NewHub starts
// it, Close joins it. A panic in it ends Run.
func (h *Hub) publisher() error {
	timer := time.NewTimer(tick)
	defer timer.Stop()
	for {
		select {
		case <-h.stop:
			h.mu.Lock()
			defer h.mu.Unlock()
			if !h.pace.due.IsZero() {
				h.publishLocked(time.Now())
			}
			return nil
		case <-h.kick:
		case <-timer.C:
		}
		timer.Reset(h.keepHouse())
	}
}

// keepHouse does what is due and returns how long nothing else will be.
func (h *Hub) keepHouse() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	h.checkClockLocked(now)
	next := h.checkSilenceLocked(now)
	if !now.Before(h.tidied.Add(tick)) { // a busy Hub comes here ten times as often
		h.tidied = now
		h.ring.expire(now.Sub(h.start))
		h.forgetLocked(now)
	}
	next = min(next, h.tidied.Add(tick).Sub(now))
	if due := h.pace.due; !due.IsZero() {
		if !now.Before(due) {
			h.publishLocked(now)
		} else {
			next = min(next, due.Sub(now))
		}
	}
	return next
}
