package sources

import (
	"fmt"
	"slices"
	"time"
)

// Clock is the clock of a Hub and of the runners of its sources. Its methods are safe for
// concurrent use. Mono never decreases from one reading to the next.
type Clock interface{ Now() Instant }

// Instant is one reading of a Clock. Times that are shown or kept are on the wall clock;
// durations that must survive a change of that clock, such as silence, are on the monotonic one.
type Instant struct {
	Wall time.Time     // without a monotonic reading, so that it compares like one from a file
	Mono time.Duration // since an arbitrary start; may stop while this machine sleeps
}

// steady returns the monotonic reading as a time, for comparison with others of the same Clock.
func (i Instant) steady() time.Time { return time.Unix(0, 0).Add(i.Mono) }

// systemClock is the Clock of this machine.
type systemClock struct{ origin time.Time }

// SystemClock returns the Clock of this machine; its Mono begins now.
func SystemClock() Clock { return systemClock{time.Now()} }

// Now reads both clocks.
func (c systemClock) Now() Instant {
	now := time.Now()
	return Instant{Wall: now.Round(0), Mono: now.Sub(c.origin)}
}

// Wall returns the present time in the form that a source writes into a Change: on the wall clock of this machine,
// without a monotonic reading.
func Wall() time.Time { return time.Now().Round(0) }

// wallTime returns t in the form that a recording restores: without a monotonic reading, in the local time zone. The
// zero time stays.
func wallTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Local() // this also removes the monotonic reading
}

// The reasons why every scope is stale after a step of the wall clock. All times in Changes are on that clock. After a
// step forward, this machine may have slept; after a step back, leases seem to last longer than they do.
var (
	errClockForward = Passing(nil, "the clock was put forward or this machine slept: not heard from since")
	errClockBack    = Passing(nil, "the clock was put back: not heard from since")
)

// clockStep bounds how far wall and monotonic clock may drift apart between two readings.
const clockStep = 2 * time.Second

// checkClockLocked detects that the wall clock was set.
func (h *Hub) checkClockLocked(now Instant) {
	drift := now.Wall.Sub(h.model.start.Wall) - (now.Mono - h.model.start.Mono)
	step := drift - h.drift
	h.drift = drift
	if step.Abs() > clockStep {
		h.changedLocked(now, h.enterLocked(nil, &Input{Kind: InputClockStep, At: now, Step: step}))
	}
}

// clockStep records that the wall clock was set by step. All scopes are stale until they are
// listed again, which takes a new connection of each source.
func (m *model) clockStep(step time.Duration) {
	way, orSlept, err := "forward", ", or this machine slept", error(errClockForward)
	if step < 0 {
		way, orSlept, err = "back", "", errClockBack
	}
	m.commit(Event{At: m.at.Wall, Kind: EventClockStep, How: Seen,
		Detail: fmt.Sprintf("the clock was put %s by %v%s", way, step.Abs().Round(time.Millisecond), orSlept)})
	for _, f := range m.sources {
		f.stepped.Store(&err)
	}
	for _, sc := range m.scopes {
		sc.putBack(min(step, 0))
		if sc.Health == HealthLive {
			m.down(sc, err)
		}
	}
}

// putBack moves the scope's last answer back by a negative step, because it is compared from now on with times of the
// clock that was set back.
func (sc *scope) putBack(step time.Duration) {
	if step == 0 {
		return
	}
	for _, t := range []*time.Time{&sc.CompleteUntil, &sc.Lost} {
		if !t.IsZero() {
			*t = t.Add(step)
		}
	}
	if sc.InDark {
		sc.Dark = slices.Clone(sc.Dark)
		last := &sc.Dark[len(sc.Dark)-1]
		last.From = last.From.Add(step)
	}
}
