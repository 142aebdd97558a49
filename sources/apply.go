package sources

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// apply applies one Change of a source; see the package comment for the order. When it returns, the events can be read;
// the state is published later, see pace.
func (h *Hub) apply(f *hubSource, c Change) {
	in := Input{Kind: InputChange, Change: f.admit(c)}
	h.enter(f, &in)
}

func (m *model) change(f *hubSource, c *Change) urgency {
	if c.At.IsZero() {
		c.At = m.at.Wall
	}
	b := batch{change: c, urgency: idle}
	if len(c.Alive) > 0 {
		b.urgency = calm
	}
	if c.ofScope() {
		b.scope, b.urgency = m.scope(f, c.Scope), normal
		if !c.besideRows() && len(c.Ended)+len(c.Decided) == 0 {
			b.urgency = calm // until a row needs more
		}
		m.about(b.scope, c)
	}
	for _, name := range c.Alive { // before the rows, so that their events follow the EventSourceUp
		sc := m.scope(f, name)
		if sc.Health != HealthLive {
			b.urgency = urgent
		}
		m.alive(sc, Earlier(c.At, m.at.Wall))
	}
	if b.scope != nil {
		m.changeRows(&b)
	}
	if c.Down != nil {
		b.urgency = urgent
		m.refused(b.scope, c.Down)
	}
	return b.urgency
}

// ofScope reports whether c has news of its Scope. A Change without news only proves that servers answer.
func (c *Change) ofScope() bool {
	return len(c.Set) > 0 || c.besideRows()
}

// besideRows reports whether c has news of its Scope other than the rows in Set.
func (c *Change) besideRows() bool {
	return len(c.Gone) > 0 || len(c.Unseen) > 0 || c.Relists || c.Synced || c.About != nil || c.Down != nil
}

// scope returns the scope of this name, and adds it at the first call.
func (m *model) scope(f *hubSource, name string) *scope {
	if f.scopes[name] == nil {
		m.addScope(f, ScopeFacts{Scope: Scope{Source: f.Name, Name: name, Silence: silenceAfter(f.SilenceLimit, 0)}})
	}
	return f.scopes[name]
}

func (m *model) addScope(f *hubSource, facts ScopeFacts) {
	sc := &scope{ScopeFacts: facts, source: f}
	sc.Index = len(m.scopes)
	f.scopes[sc.Name] = sc
	f.inOrder = append(f.inOrder, sc)
	m.scopes = append(m.scopes, sc)
}

// about applies the About and Relists of a Change.
func (m *model) about(sc *scope, c *Change) {
	if c.About != nil {
		was := sc.About.Incarnation
		sc.About = *c.About
		sc.Silence = silenceAfter(sc.source.SilenceLimit, sc.About.Sampling)
		sc.setPace(c.At, sc.About.Sampling)
		if was != "" && sc.About.Incarnation != "" && was != sc.About.Incarnation {
			m.commit(sc.restarted(c))
		}
	}
	if c.Relists {
		sc.beginListing()
	}
}

// LookPace is the pause between two looks at a scope from an instant on. If Every is 0, writes are pushed.
type LookPace struct {
	From  time.Time
	Every time.Duration
}

// maxPaces bounds the paces that a scope keeps.
const maxPaces = 32

// setPace records the pause between looks since the time at. Beyond maxPaces, the two oldest paces become one with the
// longer pause.
func (sc *scope) setPace(at time.Time, every time.Duration) {
	n := len(sc.Paces)
	if n > 0 && sc.Paces[n-1].Every == every || n == 0 && every == 0 {
		return
	}
	list := slices.Clone(sc.Paces)
	if n == maxPaces {
		list[1] = LookPace{list[0].From, max(list[0].Every, list[1].Every)}
		list = list[1:]
	}
	sc.Paces = append(list, LookPace{at.Round(0), every})
}

// restarted returns the event that a new incarnation of the server answers.
func (sc *scope) restarted(c *Change) Event {
	what := cmp.Or(sc.About.Became, "the server was restarted")
	e := sc.event(EventRestarted, c.At, what+": "+sc.About.Incarnation)
	e.After, e.How = c.After, Told
	if sc.About.BecameHow != Unknown {
		e.How = sc.About.BecameHow
	}
	return e
}

// beginListing starts a new listing. Rows that it has not read yet are believed until the last answer of the scope, or
// until the look before that answer if the scope is polled.
func (sc *ScopeFacts) beginListing() {
	sc.Listing++
	sc.Synced = false
	sc.beginDark(sc.CompleteUntil)
	if sc.InDark {
		sc.Lost = sc.Dark[len(sc.Dark)-1].From.Add(-sc.About.Sampling)
	}
}

// alive records that the scope's server answered at an instant or later. If this process stood still, that was long ago.
// The rows are known until then. A dark stretch ends only now, because another scope may have answered at that instant.
func (m *model) alive(sc *scope, at time.Time) {
	was, now := sc.Health, m.at
	sc.Health, sc.Alive, sc.Answered, sc.Err, sc.Outage = HealthLive, now.Wall, now.Mono, nil, Outage{}
	sc.source.Err, sc.source.Retry, sc.source.Outage = nil, time.Time{}, Outage{}
	if sc.Synced && sc.InDark { // its rows will not be listed again
		from := sc.Dark[len(sc.Dark)-1].From
		sc.endDark(now.Wall)
		m.doubtAll(sc, from)
		at = now.Wall // the next dark stretch begins no earlier
	}
	sc.CompleteUntil = Later(sc.CompleteUntil, at)
	if was != HealthLive {
		m.commit(sc.event(EventSourceUp, now.Wall, sc.About.Mode))
	}
}

// changeRows brings the rows of a scope up to date.
func (m *model) changeRows(b *batch) {
	c := b.change
	b.endings = byRef(c.Ended, func(e Ending) Ref { return e.Ref })
	b.decided = byRef(c.Decided, func(e Event) Ref { return e.Ref })
	for _, u := range c.Unseen {
		if slot, ok := m.index.find(u.Ref); ok && m.rows[slot].Scope == b.scope.Index {
			m.draft(slot).unseen(u.From, u.To)
			m.doubt(slot, u.From, u.To)
		}
	}
	if len(c.Set) > 0 && !b.scope.Listed && b.scope.source.RowCount == 0 {
		b.urgency = max(b.urgency, soon)
	}
	for _, p := range c.Set {
		m.set(b, p)
	}
	for _, ref := range c.Gone {
		if slot, ok := m.index.find(ref); ok && m.rows[slot].Scope == b.scope.Index {
			m.gone(b, slot)
		}
	}
	if c.Synced {
		if !b.scope.Listed { // a program that has just started waits for the rows
			b.urgency = urgent
		}
		m.synced(b)
	}
	b.scope.CompleteUntil = Later(b.scope.CompleteUntil, c.At)
}

// batch is one Change while it is applied.
type batch struct {
	scope   *scope // nil if the Change is only proof of life
	change  *Change
	urgency urgency
	endings map[Ref][]Ending
	decided map[Ref][]Event
}

func byRef[T any](list []T, ref func(T) Ref) map[Ref][]T {
	if len(list) == 0 {
		return nil
	}
	m := make(map[Ref][]T, len(list))
	for _, v := range list {
		m[ref(v)] = append(m[ref(v)], v)
	}
	return m
}

// refused records why a scope cannot be read, although its source is connected.
func (m *model) refused(sc *scope, err error) {
	told := m.down(sc, err)
	if sc.Outage.isNews(err) && !told {
		m.commit(sc.event(EventSourceDown, m.at.Wall, err.Error()))
	}
	sc.source.Outage.isNews(err) // the event was emitted already
}

func (m *model) silent(sc *scope) {
	err := Recordable(fmt.Errorf("%w for %v", ErrSilent, sc.Silence))
	m.down(sc, err)
	sc.source.Outage.isNews(err) // the event was emitted already
}

// down marks a scope stale, and dark from its last answer on. It reports whether that is new, so that an event is due.
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

const (
	// mostReasons bounds the reasons of one outage that become events, because a server may send another text with each
	// refusal.
	mostReasons = 20
	// lastingAfter is after how many consecutive failures an earlier reason becomes an event again.
	lastingAfter = 3
)

// Outage has those reasons of one outage of a source that became events. The zero value is the start of an outage.
type Outage struct {
	Reasons   []string // different reasons, in the order of their first events
	Latest    string   // of the last event
	Returning string   // the earlier reason that the latest failures have again
	Failures  int      // the number of these failures
}

// isNews records the reason of a failure and reports whether it becomes an event. A new reason of this outage does, and
// an earlier reason that lasts again. Silence is one reason, whether the source or the Hub detected it.
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

// silenceLimit is the minimum silence limit of a scope.
const silenceLimit = 3 * time.Second

// silenceAfter returns the silence limit of a scope that is read once every sampling, or pushed if that is 0.
func silenceAfter(lowest, sampling time.Duration) time.Duration {
	return max(cmp.Or(max(lowest, 0), silenceLimit), sampling*5/2)
}

// sourceEvent returns an event about a source as a whole.
func sourceEvent(kind EventKind, f *hubSource, at time.Time, detail string) Event {
	return Event{At: at, Kind: kind, How: Seen, Ref: Ref{Source: f.Name}, Detail: detail}
}

// event returns an event about the scope.
func (sc *scope) event(kind EventKind, at time.Time, detail string) Event {
	e := sourceEvent(kind, sc.source, at, detail)
	e.Scope = sc.Name
	return e
}

// commit numbers events and wakes the subscribers.
func (m *model) commit(events ...Event) {
	mono := m.at.Mono - m.start.Mono
	for i := range events {
		events[i].Mono = mono
	}
	m.ring.append(events)
}
