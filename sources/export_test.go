package sources

import (
	"context"
	"time"

	"pgregory.net/rapid"
)

// PublishNow makes a State of what was told so far, for tests that are not about pace.
func (h *Hub) PublishNow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publishLocked(h.clock.Now())
}

// ClockThatDrifts is the clock of this machine with a wall clock that is ahead by drift.
func ClockThatDrifts(drift func() time.Duration) Clock { return drifting{SystemClock(), drift} }

type drifting struct {
	Clock
	drift func() time.Duration
}

func (d drifting) Now() Instant {
	now := d.Clock.Now()
	now.Wall = now.Wall.Add(d.drift())
	return now
}

// Diff is look.diff of a Change. Of c it uses Scope, After, At, Ended, and Gap as: the
// continuity was lost since before was read, or, without a before, the listing that found it
// is the first.
func Diff(before, after *Primitive, c Change) []Event {
	l := look{scope: &scope{ScopeFacts: ScopeFacts{Scope: Scope{Name: c.Scope}}}, after: c.After, at: c.At, relisted: c.Relists}
	if c.Relists {
		l.darkFrom = c.After
	}
	ref := refOf(before, after)
	for _, e := range c.Ended {
		if e.Ref == ref {
			l.ended = append(l.ended, e)
		}
	}
	if after != nil {
		l.match(before, after)
	}
	return l.diff(nil, before, after)
}

func refOf(before, after *Primitive) Ref {
	if after != nil {
		return after.Ref
	}
	if before != nil {
		return before.Ref
	}
	return Ref{}
}

// SameLook is sameLook.
func SameLook(a, b *Primitive) bool { return sameLook(a, b) }

// KeepAllEvents makes the Hub keep what it would leave out of an event that nobody needs.
func (h *Hub) KeepAllEvents() {
	h.model.ring.mu.Lock()
	defer h.model.ring.mu.Unlock()
	h.model.ring.lean = false
}

// Machine drives a Hub with random Changes of one source with two scopes.
type Machine struct{ machine *machine }

// NewMachine returns one of a new Hub.
func NewMachine(ctx context.Context, o HubOptions) Machine { return Machine{newMachineOf(ctx, o)} }

// Hub is the one that is driven.
func (m Machine) Hub() *Hub { return m.machine.hub }

// Actions are what rapid's Repeat draws from.
func (m Machine) Actions() map[string]func(*rapid.T) { return m.machine.actions() }
