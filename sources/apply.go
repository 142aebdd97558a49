package sources

import (
	"cmp"
	"slices"
	"time"
)

// apply applies one Change of a source: see the package comment for the order. Its events
// can be read when it returns; the state is published later, see pace.
func (h *Hub) apply(f *hubSource, c Change) {
	in := Input{Kind: InputChange, Change: f.admit(c)}
	h.enter(f, &in)
}

func (m *model) change(f *hubSource, c *Change) urgency {
	if c.At.IsZero() {
		c.At = m.at.Wall
	}
	m.proved = m.proved[:0]
	b := batch{change: c, urgency: idle}
	if len(c.Alive) > 0 {
		b.urgency = calm
	}
	if c.ofScope() {
		b.scope, b.urgency = m.scope(f, c.Scope), normal
		if !c.besideRows() && len(c.Ended)+len(c.Decided) == 0 {
			b.urgency = calm // until one of the rows says more
		}
		m.about(b.scope, c)
	}
	for _, name := range c.Alive { // before the rows, so that their events follow the EventSourceUp
		sc := m.scope(f, name)
		if sc.Health != HealthLive {
			b.urgency = urgent
		}
		m.alive(sc)
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

// ofScope reports whether c has news of its own Scope. A Change without news only proves that
// servers answer.
func (c *Change) ofScope() bool {
	return len(c.Set) > 0 || c.besideRows()
}

// besideRows reports whether c has other news of its Scope than the rows in Set.
func (c *Change) besideRows() bool {
	return len(c.Gone) > 0 || len(c.Unseen) > 0 || c.Relists || c.Synced || c.About != nil || c.Down != nil
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

// restarted returns the event that another incarnation of the server answers than before.
func (sc *scope) restarted(c *Change) Event {
	what := cmp.Or(sc.About.Became, "the server was restarted")
	e := sc.event(EventRestarted, c.At, what+": "+sc.About.Incarnation)
	e.After, e.How = c.After, Told
	if sc.About.BecameHow != Unknown {
		e.How = sc.About.BecameHow
	}
	return e
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
		if !b.scope.Listed { // a program that has just started waits for it
			b.urgency = urgent
		}
		m.synced(b)
	}
	b.scope.CompleteUntil = Later(b.scope.CompleteUntil, c.At)
}

// beginListing starts a new listing. Rows that are not in it yet are believed up to the last answer
// of the scope; where it is polled, up to the look before that.
func (sc *ScopeFacts) beginListing() {
	sc.Listing++
	sc.Synced = false
	sc.beginDark(sc.CompleteUntil)
	if sc.InDark {
		sc.Lost = sc.Dark[len(sc.Dark)-1].From.Add(-sc.About.Sampling)
	}
}

// batch is one Change while it is applied.
type batch struct {
	scope   *scope // nil: the Change is only proof of life
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

// lookAt makes the look of the Change at one row; nil is a new row. It adds the doubt of lost
// continuity: a row that was not read since may have changed at any time after the loss.
func (b *batch) lookAt(row *Row, ref Ref) look {
	c, sc := b.change, b.scope
	l := look{scope: sc.Name, of: sc, after: c.After, at: c.At, ended: b.endings[ref], decided: b.decided[ref]}
	switch {
	case row == nil && !sc.Listed:
		l.relisted = true
	case row == nil && !sc.Synced:
		l.after = lostBefore(c.After, sc.Lost)
	case row != nil && row.Scope != sc.Index: // the row moved, and neither server saw all of its changes
		l.relisted = true
		l.after = lostBefore(c.After, row.At)
	case row != nil && row.Listing != sc.Listing:
		l.relisted = true
		last := row.At
		if !c.After.IsZero() && c.After.Before(last) { // the source knows the sending of the last read, which was earlier
			last = c.After
		}
		l.after = Later(lostBefore(c.After, sc.Lost), last)
	}
	if l.after.After(l.at) {
		l.after = l.at
	}
	if l.started = sc.About.Started; row == nil {
		return l
	}
	if l.darkFrom = sc.darkSince(row, l.at); l.relisted && (l.darkFrom.IsZero() || l.after.Before(l.darkFrom)) {
		l.darkFrom = l.after
	}
	return l
}

// lostBefore returns the earlier of the source's and the Hub's time.
func lostBefore(after, lost time.Time) time.Time {
	if after.IsZero() || lost.Before(after) {
		return lost
	}
	return after
}

// set updates one row, or makes it.
func (m *model) set(b *batch, p *Primitive) {
	slot, exists := m.index.find(p.Ref)
	var before *Primitive
	var l look
	if exists {
		row := m.rows[slot]
		if read(row.Primitive) && !read(p) {
			return // an old snapshot is better than none
		}
		l, before = m.lookAgain(b, slot)
	} else {
		l = b.lookAt(nil, p.Ref)
		slot = m.occupy(b.scope, p.Ref)
	}
	after := l.complete(before, p)
	m.tell(b, &l, slot, before, after)
	if !exists || !m.onlyRenewed(b.scope, m.rows[slot], after) {
		b.urgency = max(b.urgency, normal)
	}
	row := m.draft(slot)
	row.update(&l, m.events, before, after)
	for _, who := range l.proved {
		m.proved = append(m.proved, Event{Kind: EventRenewed, Ref: p.Ref, Owner: who})
	}
	row.Counted = row.Counted.with(after).withOwners(&l, m.events, before, after)
	row.Primitive = after
	row.Scope, row.Listing = b.scope.Index, b.scope.Listing
	m.remember(slot, &l, before, after)
}

// onlyRenewed reports whether a look shows nothing but renewals, by m.events too, long before they
// would have been late: a State without them differs only in the lease.
func (m *model) onlyRenewed(sc *scope, row *Row, after *Primitive) bool {
	if len(m.events) == 0 || slices.ContainsFunc(m.events, func(e Event) bool { return e.Kind != EventRenewed }) {
		return false
	}
	if row.Scope != sc.Index || row.Listing != sc.Listing { // it was stale
		return false
	}
	late := row.LateAt(m.limit)
	return (late.IsZero() || late.Sub(m.at.Wall) > 2*calmEvery) && sameLook(row.Primitive, after)
}

// remember keeps the primitive with which the next look at a row must be compared, where this look
// has unknown owners or an incomplete queue. A semaphore without owners is not kept where its permits
// are counted.
func (m *model) remember(slot int, l *look, before, after *Primitive) {
	if read(after) && !ownersKnown(after) && before != nil && ownersKnown(before) && (len(before.Owners) > 0 || !counted(after)) {
		m.known[slot] = before
	} else {
		delete(m.known, slot)
	}
	if before != nil && !after.Absent && !after.Queue.whole() && l.withQueue(before).Queue.whole() {
		m.queued[slot] = l.withQueue(before)
	} else {
		delete(m.queued, slot)
	}
}

// base returns the primitive with which a look at a row is compared: that of the last look with known
// owners. If that was not the last look, changes in between were missed.
func (m *model) base(slot int, l *look) *Primitive {
	base := m.known[slot]
	if base == nil {
		return m.rows[slot].Primitive
	}
	l.relisted, l.revealed = true, true
	l.after = lostBefore(l.after, base.At)
	l.darkFrom = l.after
	return base
}

// lookAgain prepares a look at a known row, and returns what the row was before.
func (m *model) lookAgain(b *batch, slot int) (l look, before *Primitive) {
	row := m.rows[slot]
	l = b.lookAt(row, row.Ref)
	l.ours, l.queued = m.expectedEnds(row.Ref), m.queued[slot]
	before = m.base(slot, &l)
	return l, before
}

// tell computes the events of a look at a row, m.events, and hands them to the subscribers.
func (m *model) tell(b *batch, l *look, slot int, before, after *Primitive) {
	m.events = l.diff(m.events[:0], before, after)
	if len(m.events) == 0 {
		return
	}
	row := m.rows[slot]
	row.completeEvents(l, m.events, mergeDark(b.scope.Dark, row.OwnersUnknown.stretches()), m.limit)
	m.useExpectations(m.events)
	m.commit(m.events...)
	if b.urgency != urgent && m.changesWatched(m.events) {
		b.urgency = urgent
	}
}

// changesWatched reports whether events, all of one row, change its owner while the row is on
// screen. Most events are renewals, so the row is searched for last.
func (m *model) changesWatched(events []Event) bool {
	for i := range events {
		if k := events[i].Kind; k.EndsOwner() || k.BeginsOwner() || k == EventCountChanged {
			_, ok := m.watched[events[i].Ref]
			return ok
		}
	}
	return false
}

// commit numbers events and wakes the subscribers.
func (m *model) commit(events ...Event) {
	mono := m.at.Mono - m.start.Mono
	for i := range events {
		events[i].Mono = mono
	}
	m.ring.append(events)
}

// gone removes a row, with the events of its owners' ends.
func (m *model) gone(b *batch, slot int) {
	l, before := m.lookAgain(b, slot)
	m.tell(b, &l, slot, before, nil)
	m.vacate(slot)
}

// synced ends a listing: rows that were not in it are gone, or free.
func (m *model) synced(b *batch) {
	sc := b.scope
	for slot, row := range m.rows {
		switch {
		case row == nil || row.Scope != sc.Index || row.Listing == sc.Listing:
		case sc.About.Partial == Whole && row.freeAt(b.change.At, sc.Lost):
			m.set(b, row.vacated(b.change.At))
		default:
			m.gone(b, slot)
		}
	}
	sc.Synced, sc.Listed = true, true
	if sc.Since.IsZero() {
		sc.Since = b.change.At
	}
	sc.endDark(b.change.At)
	e := sc.event(EventSynced, b.change.At, "")
	e.How = Told
	m.commit(e)
}
