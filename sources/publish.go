package sources

import (
	"slices"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

const (
	publishEvery = 100 * time.Millisecond // at most ten states a second
	urgentEvery  = 10 * time.Millisecond  // between two urgent states
	firstWait    = 20 * time.Millisecond  // after the first rows of a listing, for the rest
	calmEvery    = time.Second            // for states with only proof of life and early renewals
	tick         = time.Second            // for checks of the clock and of ages
)

// urgency ranks how soon a change must be published.
type urgency uint8

const (
	idle   urgency = iota // nothing to publish
	calm                  // only proof of life and early renewals
	normal                // anything else
	soon                  // the first rows of a source
	urgent                // a change of owner on screen; a source went up or down, or is listed for the first time
)

// pace computes when the next state is due. After a quiet time a change is published at once (the leading edge); later
// changes wait for the end of the step, when the last of them is always published (the trailing edge). Its times are
// those of Instant.Mono.
type pace struct {
	busy   time.Duration // the last publish that was not calm
	rushed time.Duration // the last urgent one
	due    time.Duration // of the next publish, if waits is set
	waits  bool          // there is something to publish
	hot    bool          // some waiting change is above calm
	rush   bool          // some waiting change is soon or urgent
}

// touch notes a change and returns when the state is due.
func (p *pace) touch(now time.Duration, u urgency) time.Duration {
	due := now + calmEvery
	switch u {
	case normal:
		due = max(now, p.busy+publishEvery)
	case soon:
		due = now + firstWait
	case urgent:
		due = max(now, p.rushed+urgentEvery)
	}
	p.hot, p.rush = p.hot || u >= normal, p.rush || u >= soon
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

// changedLocked publishes now if that is due, else makes the publisher publish in time.
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

// Publish publishes a State with all changes up to now, if any wait.
func (h *Hub) Publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pace.waits {
		h.publishLocked(h.clock.Now())
	}
}

// publishLocked publishes all changes up to now.
func (h *Hub) publishLocked(now Instant) {
	h.enterLocked(nil, &Input{Kind: InputPublished, At: now})
	h.pace.published(now.Mono)
}

// state returns the next State. It shares the rows, so that a later change of a row copies the row first.
func (m *model) state() *State {
	rows := m.published.Rows
	switch {
	case m.private.Load():
		rows = append(rows[:0], m.rows...)
	case !slices.Equal(rows, m.rows):
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

// publisher publishes changes that wait for the end of a step, and detects changes by time: a silent scope, a clock
// that was set, events and rows that are too old. NewHub starts it, Close waits for it. A panic in it ends Run.
func (h *Hub) publisher() error {
	timer := time.NewTimer(tick)
	defer timer.Stop()
	for {
		select {
		case <-h.stop:
			h.Publish()
			return nil
		case <-h.kick:
		case <-timer.C:
		}
		timer.Reset(h.runDue())
	}
}

// runDue does all work that is due and returns the time until more is due.
func (h *Hub) runDue() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	h.checkClockLocked(now)
	next := h.checkSilenceLocked(now)
	if now.Mono >= h.turn { // a busy Hub calls this ten times as often
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

// checkSilenceLocked marks scopes stale whose server did not answer for their limit. It returns the time until the next
// scope can become silent, at most two ticks.
func (h *Hub) checkSilenceLocked(now Instant) time.Duration {
	next := 2 * tick
	for _, sc := range h.model.scopes {
		switch left := sc.Silence - (now.Mono - sc.Answered); {
		case sc.Health != HealthLive:
		case left > 0:
			next = min(next, left)
		default:
			h.changedLocked(now, h.enterLocked(sc.source, &Input{Kind: InputSilent, At: now, Scope: sc.Name}))
		}
	}
	return next
}

// forgetBatch bounds the rows that one call of forgetLocked checks.
const forgetBatch = 4096

// forgetLocked drops rows that had no owner for their ForgetAfter, a batch at a time, so that no tick takes long. Rows
// of a stale scope stay.
func (h *Hub) forgetLocked(now Instant) {
	for range min(forgetBatch, len(h.model.rows)) {
		if h.forget++; h.forget >= len(h.model.rows) {
			h.forget = 0
		}
		row := h.model.rows[h.forget]
		if row == nil || row.ForgetAfter <= 0 || row.Nobody.How == Unknown ||
			now.Wall.Sub(row.Nobody.At) < row.ForgetAfter || h.model.scopes[row.Scope].Health != HealthLive {
			continue
		}
		h.changedLocked(now, h.enterLocked(nil, &Input{Kind: InputForgotten, At: now, Ref: row.Ref}))
	}
}
