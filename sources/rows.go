package sources

import (
	"slices"
	"sync"
	"time"
)

// Vacancy is a slot without a row, with the generation of its last row.
type Vacancy struct {
	Slot int
	Gen  uint32
}

// occupy makes an empty row for ref in a free slot and returns the slot.
func (m *model) occupy(sc *scope, ref Ref) int {
	row := &Row{Primitive: &Primitive{Ref: ref}, Rev: m.nextRev(), Scope: sc.Index}
	if v, ok := m.homes[ref]; ok {
		delete(m.homes, ref)
		row.Slot, row.Gen = v.Slot, v.Gen
		m.rows[v.Slot] = row
	} else if n := len(m.free); n > 0 {
		v := m.free[n-1]
		m.free = m.free[:n-1]
		row.Slot, row.Gen = v.Slot, v.Gen+1
		m.rows[v.Slot] = row
	} else {
		row.Slot = len(m.rows)
		m.rows = append(m.rows, row)
	}
	m.index.add(ref, row.Slot)
	sc.source.RowCount++
	return row.Slot
}

// vacate removes the row from its slot.
func (m *model) vacate(slot int) {
	row := m.rows[slot]
	m.index.remove(row.Ref)
	m.scopes[row.Scope].source.RowCount--
	m.rows[slot] = nil
	m.free = append(m.free, Vacancy{slot, row.Gen})
	delete(m.known, slot)
	delete(m.queued, slot)
}

// nextRev returns the Rev of the State that is being prepared.
func (m *model) nextRev() uint64 { return m.published.Rev + 1 }

// draft returns a version of the row that may be changed, because no published State shares it.
func (m *model) draft(slot int) *Row {
	row, rev := m.rows[slot], m.nextRev()
	if row.Rev == rev {
		return row
	}
	draft := *row
	draft.Rev = rev
	m.rows[slot] = &draft
	return &draft
}

// index finds the slot of a primitive. It has a lock of its own, so that a look-up never waits for a Change that is
// being applied. It has a map for each space, because many names share a space, and keys without the space need a third
// of the memory.
type index struct {
	mu     sync.RWMutex
	spaces map[place]map[string]int32 // slots by name; none is empty
}

// place is a Ref without its name.
type place struct{ source, space string }

func placeOf(ref Ref) place { return place{ref.Source, ref.Space} }

func (x *index) find(ref Ref) (slot int, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.spaces[placeOf(ref)][ref.Name]
	return int(s), ok
}

func (x *index) add(ref Ref, slot int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spaces == nil {
		x.spaces = map[place]map[string]int32{}
	}
	slots := x.spaces[placeOf(ref)]
	if slots == nil {
		slots = map[string]int32{}
		x.spaces[placeOf(ref)] = slots
	}
	slots[ref.Name] = int32(slot)
}

func (x *index) clear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spaces = nil
}

func (x *index) remove(ref Ref) {
	x.mu.Lock()
	defer x.mu.Unlock()
	slots := x.spaces[placeOf(ref)]
	delete(slots, ref.Name)
	if len(slots) == 0 {
		delete(x.spaces, placeOf(ref))
	}
}

// doubtAll puts the owners in a scope in doubt after a silence that ended without a new listing. It leaves out owners
// for whom the next look can prove that they are the same.
func (m *model) doubtAll(sc *scope, from time.Time) {
	for slot, row := range m.rows {
		if row != nil && row.Scope == sc.Index && row.Listing == sc.Listing && len(row.Owners) > 0 {
			m.doubt(slot, from, m.at.Wall)
		}
	}
}

// doubt puts the owners of a row in doubt. The row was not observed between two instants, and looks the same at both.
func (m *model) doubt(slot int, from, to time.Time) {
	row := m.rows[slot]
	l := look{at: to, darkFrom: from, unread: true}
	p := l.complete(row.Primitive, row.Primitive)
	if p == row.Primitive {
		return
	}
	if len(l.inDoubt) == len(p.Owners) { // the next look can prove nothing about that stretch
		p.At = to
	}
	row = m.draft(slot)
	row.Primitive = p
	row.Terms = l.doubtTerms(row.Terms)
	row.Counted = row.Counted.doubted(&l)
}

// set updates one row, or makes a new one.
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
	l.olds = m.olds[:0]
	after := l.complete(before, p)
	m.olds = l.olds
	m.tell(b, &l, slot, before, after)
	if !exists || !m.onlyRenewed(b.scope, m.rows[slot], after) {
		b.urgency = max(b.urgency, normal)
	}
	row := m.draft(slot)
	row.update(&l, m.events, before, after)
	row.Primitive = after
	row.Scope, row.Listing = b.scope.Index, b.scope.Listing
	m.remember(slot, &l, before, after)
}

// lookAgain prepares a look at a known row, and returns the primitive before.
func (m *model) lookAgain(b *batch, slot int) (l look, before *Primitive) {
	row := m.rows[slot]
	l = b.lookAt(row, row.Ref)
	l.ours, l.queued = m.expectedEnds(row.Ref), m.queued[slot]
	before = m.base(slot, &l)
	return l, before
}

// lookAt returns the look of the Change at one row, which is nil if it is new. If continuity was lost and the row was
// not read since, it may have changed at any time after the loss; the look contains that.
func (b *batch) lookAt(row *Row, ref Ref) look {
	c, sc := b.change, b.scope
	l := look{scope: sc, after: c.After, at: c.At, ended: b.endings[ref], decided: b.decided[ref]}
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
		if !c.After.IsZero() && c.After.Before(last) { // the source knows when the last read was sent, which is earlier
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

// lostBefore returns the earlier of two times, the source's and the Hub's.
func lostBefore(after, lost time.Time) time.Time {
	if after.IsZero() || lost.Before(after) {
		return lost
	}
	return after
}

// darkSince returns the time since which a row, read again at the time at, was not observed, or zero if it was observed
// since its last read. A silence of the scope ends for each row with the next read of that row; a stretch of the row
// alone ends with the look that ended it.
func (sc *scope) darkSince(row *Row, at time.Time) (from time.Time) {
	earlier := func(d time.Time) {
		if from.IsZero() || d.Before(from) {
			from = d
		}
	}
	for i := len(sc.Dark) - 1; i >= 0 && !sc.Dark[i].From.Before(row.At); i-- {
		earlier(sc.Dark[i].From)
	}
	own := row.OwnersUnknown.stretches()
	for i := len(own) - 1; i >= 0 && own[i].To.After(row.At); i-- {
		if !own[i].To.Before(at) {
			earlier(own[i].From)
		}
	}
	return from
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

// tell computes the events of a look at a row into m.events, and passes them to the subscribers.
func (m *model) tell(b *batch, l *look, slot int, before, after *Primitive) {
	m.events = l.diff(m.events[:0], before, after)
	if len(m.events) == 0 {
		return
	}
	row := m.rows[slot]
	row.completeEvents(l, m.events, m.limit)
	m.useExpectations(m.events)
	m.commit(m.events...)
	if b.urgency != urgent && m.changesWatched(m.events) {
		b.urgency = urgent
	}
}

// Expectation is an end that we expect from our own action, with its deadline.
type Expectation struct {
	Ending
	Until time.Duration // on the monotonic clock
}

// expectedEnds returns the expected ends of owners of ref.
func (m *model) expectedEnds(ref Ref) (ours []Expectation) {
	for _, x := range m.expected {
		if x.Ref == ref && m.at.Mono <= x.Until {
			ours = append(ours, x)
		}
	}
	return ours
}

// useExpectations drops the expectations of owners that are gone, because they do not apply to the next term of the
// same owner.
func (m *model) useExpectations(events []Event) {
	for i := range events {
		if e := &events[i]; e.Kind.EndsOwner() {
			m.dropExpected(e.Ref, e.Previous.ID)
		}
	}
}

func (m *model) dropExpected(ref Ref, owner string) {
	m.expected = slices.DeleteFunc(m.expected, func(x Expectation) bool { return x.Ref == ref && x.Owner == owner })
}

// changesWatched reports whether events, all of one row, change its owner while the row is on screen. Most events are
// renewals, so that the row is searched for last.
func (m *model) changesWatched(events []Event) bool {
	for i := range events {
		if k := events[i].Kind; k.EndsOwner() || k.BeginsOwner() || k == EventCountChanged {
			_, ok := m.watched[events[i].Ref]
			return ok
		}
	}
	return false
}

// onlyRenewed reports whether a look (with its m.events) shows nothing but renewals that were not nearly late. A State
// without them differs only in the lease.
func (m *model) onlyRenewed(sc *scope, row *Row, after *Primitive) bool {
	if len(m.events) == 0 || slices.ContainsFunc(m.events, func(e Event) bool { return e.Kind != EventRenewed }) {
		return false
	}
	if row.Scope != sc.Index || row.Listing != sc.Listing { // the row was stale
		return false
	}
	late := row.LateAt(m.limit)
	return (late.IsZero() || late.Sub(m.at.Wall) > 2*calmEvery) && sameLook(row.Primitive, after)
}

// remember keeps the primitive with which the next look at a row must be compared, if this look has unknown owners or
// an incomplete queue. It keeps no semaphore without owners if its permits are counted.
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

// mayBeFree reports whether a row exists only while it is owned, and its owners were known. Such a row is free if it is
// not in a whole listing.
func (r *Row) mayBeFree() bool {
	return r.ForgetAfter > 0 && read(r.Primitive) && (ownersKnown(r.Primitive) || counted(r.Primitive))
}

// freeAt reports whether a row that is not in a whole listing stays, as free. It does if mayBeFree, and if its owners
// were known until the time lost, less than its ForgetAfter ago. Without the row nothing would show that the primitive
// has no owner.
func (r *Row) freeAt(now, lost time.Time) bool {
	if !r.mayBeFree() {
		return false
	}
	if r.Nobody.How != Unknown {
		lost = r.Nobody.At
	}
	return now.Sub(lost) < r.ForgetAfter
}

// vacated returns the primitive of the row without owners and waiters, as read now.
func (r *Row) vacated(now time.Time) *Primitive {
	is := *r.Primitive
	is.Owners, is.Taken, is.Queue.Waiters, is.Queue.Len, is.Candidates = nil, 0, nil, 0, nil
	is.Data, is.At = Blob{}, now
	if ownersKnown(r.Primitive) {
		is.OwnersHow = Told
	}
	return &is
}
