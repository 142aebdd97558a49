package sources

import (
	"slices"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

const (
	publishEvery = 100 * time.Millisecond // at most ten states a second
	urgentEvery  = 10 * time.Millisecond  // between two that were too urgent to wait
	firstWait    = 20 * time.Millisecond  // for the rest of a listing, once its first rows are there
	calmEvery    = time.Second            // where nothing came in but proof of life, and renewals in good time
	tick         = time.Second            // for the clock, ages and what is to be forgotten
)

// urgency says how soon a change must be published.
type urgency uint8

const (
	idle   urgency = iota // nothing to publish
	calm                  // only proof of life, and renewals in good time
	normal                // anything else
	soon                  // the first rows of a source
	urgent                // a change of owner on screen; a source is up or down, or listed for the first time
)

// pace decides when the next state is due. After a quiet time a change is published at
// once (the leading edge); those that follow wait for the end of the step, where the
// last of them is always published (the trailing edge). Its times are those of Instant.Mono.
type pace struct {
	busy   time.Duration // the last publish that was not calm
	rushed time.Duration // the last urgent one
	due    time.Duration // if something waits
	waits  bool          // there is something to publish
	hot    bool          // the one that is due is more than calm
	rush   bool          // and urgent
}

// touch takes in one more change and returns when the state is due.
func (p *pace) touch(now time.Duration, u urgency) time.Duration {
	due := now + calmEvery
	switch u {
	case idle, calm:
	case normal:
		due = max(now, p.busy+publishEvery)
		p.hot = true
	case soon:
		due = now + firstWait
		p.hot, p.rush = true, true
	case urgent:
		due = max(now, p.rushed+urgentEvery)
		p.hot, p.rush = true, true
	}
	if !p.waits || due < p.due {
		p.due, p.waits = due, true
	}
	return p.due
}

// published notes that all changes up to now were published.
func (p *pace) published(now time.Duration) {
	if p.hot {
		p.busy = now
	}
	if p.rush {
		p.rushed = now
	}
	p.waits, p.hot, p.rush = false, false, false
}

// changedLocked publishes now if that is due, else wakes the publisher in time.
func (h *Hub) changedLocked(now Instant, u urgency) {
	if u == idle {
		return
	}
	was := h.pace
	due := h.pace.touch(now.Mono, u)
	if now.Mono >= due {
		h.publishLocked(now)
		return
	}
	if !was.waits || due < was.due {
		spawn.Wake(h.kick)
	}
}

// Publish makes State tell all that was taken in up to now. Nothing is published if nothing waits.
// It is safe for concurrent use.
func (h *Hub) Publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pace.waits {
		h.publishLocked(h.clock.Now())
	}
}

// publishLocked publishes all that was taken in.
func (h *Hub) publishLocked(now Instant) {
	h.enterLocked(nil, &Input{Kind: InputPublished, At: now})
	h.pace.published(now.Mono)
}

// state makes the next State. The rows are shared with it: from now on a change of one
// copies it first.
func (m *model) state() *State {
	rows := m.published.Rows
	if !slices.Equal(rows, m.rows) {
		rows = slices.Clone(m.rows)
	}
	s := &State{
		Thresholds: m.limit,
		Rev:        m.published.Rev + 1,
		At:         m.at.Wall,
		LastSeq:    m.ring.newest(),
		Rows:       rows,
		Scopes:     make([]Scope, len(m.scopes)),
		Sources:    make([]SourceStatus, len(m.sources)),
	}
	for i, sc := range m.scopes {
		s.Scopes[i] = sc.Scope
	}
	for i, f := range m.sources {
		s.Sources[i] = f.status()
	}
	return s
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
			if h.pace.waits {
				h.publishLocked(h.clock.Now())
			}
			return nil
		case <-h.kick:
		case <-timer.C:
		}
		timer.Reset(h.runDue())
	}
}

// runDue applies what is due and returns how long nothing else will be due.
func (h *Hub) runDue() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	h.checkClockLocked(now)
	next := h.checkSilenceLocked(now)
	if now.Mono >= h.turn { // a busy Hub comes here ten times as often
		h.turn = now.Mono + backoff.UntilTurn(now.Wall)
		h.model.ring.expire(now.Mono - h.model.start.Mono)
		h.forgetLocked(now)
	}
	next = min(next, h.turn-now.Mono)
	switch {
	case !h.pace.waits:
	case now.Mono >= h.pace.due:
		h.publishLocked(now)
	default:
		next = min(next, h.pace.due-now.Mono)
	}
	return next
}
