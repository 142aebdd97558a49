package sources

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// silenceLimit is the least silence limit of a scope.
const silenceLimit = 3 * time.Second

// silenceAfter returns the silence limit of a scope that is read every sampling (0: pushed).
func silenceAfter(lowest, sampling time.Duration) time.Duration {
	return max(cmp.Or(max(lowest, 0), silenceLimit), sampling*5/2)
}

// longestSilence returns the longest silence limit of the source's scopes.
func (h *Hub) longestSilence(f *hubSource) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	limit := silenceAfter(f.SilenceLimit, 0)
	for _, sc := range f.inOrder {
		limit = max(limit, sc.Silence)
	}
	return limit
}

// down marks a scope stale, and dark from its last answer on. It reports whether that was new,
// which is an event.
func (m *model) down(sc *scope, err error) bool {
	sc.Err = err
	if sc.Health == HealthStale {
		return false
	}
	sc.Health = HealthStale
	sc.beginDark(sc.CompleteUntil)
	e := sc.event(EventSourceDown, m.at.Wall, err.Error())
	e.After = sc.CompleteUntil
	m.commit(e)
	return true
}

// refused records why a scope cannot be read, although its source is connected.
func (m *model) refused(sc *scope, err error) {
	told := m.down(sc, err)
	if sc.Outage.isNews(err) && !told {
		m.commit(sc.event(EventSourceDown, m.at.Wall, err.Error()))
	}
	sc.source.Outage.isNews(err) // the event is out
}

// alive records that the scope's server answered.
func (m *model) alive(sc *scope) {
	was, now := sc.Health, m.at
	sc.Health, sc.Alive, sc.Answered, sc.Err, sc.Outage = HealthLive, now.Wall, now.Mono, nil, Outage{}
	sc.CompleteUntil = Later(sc.CompleteUntil, now.Wall)
	sc.source.Err, sc.source.Retry, sc.source.Outage = nil, time.Time{}, Outage{}
	if sc.Synced && sc.InDark { // its rows are not listed anew
		from := sc.Dark[len(sc.Dark)-1].From
		sc.endDark(now.Wall)
		m.doubtAll(sc, from)
	}
	if was != HealthLive {
		m.commit(sc.event(EventSourceUp, now.Wall, sc.About.Mode))
	}
}

// checkSilenceLocked marks scopes stale whose server did not answer for their limit. It
// returns the time until the next one can be, two ticks at most.
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

func (m *model) silent(sc *scope) {
	err := Recordable(fmt.Errorf("%w for %v", ErrSilent, sc.Silence))
	m.down(sc, err)
	sc.source.Outage.isNews(err) // the event is out
}

const (
	// mostReasons bounds the reasons of one outage that become events: a server may send
	// another text with each refusal.
	mostReasons = 20
	// lastingAfter is the number of failures in a row after which an earlier reason becomes an event
	// again.
	lastingAfter = 3
)

// Outage has the reasons why a source is down that became events. The zero value is the start of an outage.
type Outage struct {
	Reasons   []string // different reasons, in the order of their first events
	Latest    string   // of the last event
	Returning string   // an earlier reason that the latest failures had again
	Failures  int      // the number of these
}

// isNews records the reason of a failure, and reports whether it is to become an event: a new
// reason of this outage does, and an earlier one that lasts again.
// Silence is one reason, whether the source or the Hub detected it.
func (o *Outage) isNews(err error) bool {
	reason := err.Error()
	if errors.Is(err, ErrSilent) {
		reason = ErrSilent.Error()
	}
	switch {
	case reason == o.Latest:
		o.Returning, o.Failures = "", 0
		return false
	case !slices.Contains(o.Reasons, reason):
		if len(o.Reasons) == mostReasons {
			return false
		}
		o.Reasons = append(o.Reasons, reason)
	case reason != o.Returning:
		o.Returning, o.Failures = reason, 1
		return false
	default:
		if o.Failures++; o.Failures < lastingAfter {
			return false
		}
	}
	o.Latest, o.Returning, o.Failures = reason, "", 0
	return true
}
