package sources

import (
	"cmp"
	"sync"
	"time"

	"coordtop/sources/lane"
)

// Vacancy is a slot without a row, with the generation of its last row.
type Vacancy struct {
	Slot int
	Gen  uint32
}

// occupy makes an empty row for ref in a free slot.
func (m *model) occupy(sc *scope, ref Ref) int {
	row := &Row{Primitive: &Primitive{Ref: ref}, Rev: m.nextRev(), Scope: sc.Index}
	if n := len(m.free); n > 0 {
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

// draft returns a version of the row that no published State shares, for changing.
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

// forgetBatch bounds the rows that one call of forgetLocked checks.
const forgetBatch = 4096

// forgetLocked drops rows without an owner for their ForgetAfter, a batch at a time,
// so that no tick takes long. Rows of a stale scope stay.
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

// completeEvents completes events with facts from the row's history: the gap, of which time in dark
// counts as unobserved; the owner before; how long the owner had it; and whether it was lost.
func (r *Row) completeEvents(l *look, events []Event, dark []Dark, t Thresholds) {
	var ended *Event // the last end among these events
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == EventAcquired:
			e.Gap = r.gapBefore(l, e.At, e.After, dark)
			r.lastBefore(l, e, ended, dark)
			e.Loss = ended == nil && r.lostUntold(e, dark, t)
		case e.Kind == EventOwnerChanged && !e.After.IsZero():
			e.Gap = Interval{Max: e.At.Sub(e.After), Every: l.every(e.After, e.At)}
		case e.Kind == EventOwnerUnknown:
			if e.LastSeen = e.Last; !l.watched(e.At.Add(-1), e, dark) {
				e.Last = OwnerRef{}
			}
		}
		if e.Kind.EndsOwner() {
			ended = e
			e.Loss = e.Cause.Loss(e.How)
			e.Held = r.heldBy(l, e.Previous, StampBetween(e.After, e.At, Seen))
		}
	}
}

// heldBy returns the length of an ownership that lasted at the last look. Its term is more exact than
// the look about its start.
func (r *Row) heldBy(l *look, who OwnerRef, end Stamp) Interval {
	t := Term{Start: ownerOf(r.Primitive, who).Since}
	if n := len(r.Terms); n > 0 && r.Terms[n-1].End.How == Unknown && r.Terms[n-1].Owner.ID == who.ID {
		t = r.Terms[n-1]
	}
	t.End, t.Every = end, max(t.Every, l.every(t.Start.Earliest(), end.At))
	return t.Held()
}

// lastBefore sets the owner before a take-over e: that of an end in the same look, else of the last
// term. It sets Last too if no other owner can have come and gone unseen since.
func (r *Row) lastBefore(l *look, e, ended *Event, dark []Dark) {
	n := len(r.Terms)
	var from time.Time // since then others may have owned it
	switch {
	case !single(r.Primitive):
		return
	case ended != nil:
		e.LastSeen, from = ended.Previous, StampBetween(ended.After, ended.At, Unknown).Earliest()
	case n == 0:
		return
	default:
		if e.LastSeen = r.Terms[n-1].Owner; r.Nobody.How == Unknown || r.Nobody.How == AtLeast {
			return
		}
		from = Earlier(r.Nobody.Earliest(), r.Terms[n-1].End.Earliest()) // it may have been made anew since
	}
	if l.watched(from, e, dark) {
		e.Last = e.LastSeen
	}
}

// watched reports whether nobody can have come and gone unseen from an instant up to e.
func (l *look) watched(from time.Time, e *Event, dark []Dark) bool {
	prompt := e.After.IsZero() || e.At.Sub(e.After) <= Promptness
	return prompt && !l.darkened() && !wentDark(from, e.At, dark) && l.every(from, e.At) == 0
}

// lostUntold reports whether the length of the gap suggests that the ownership before e was lost: its
// cause was not told, and the gap is longer than is usual for the row. The gap of a lock suggests
// nothing: it is free whenever there is no work for it.
func (r *Row) lostUntold(e *Event, dark []Dark, t Thresholds) bool {
	n := len(r.Terms)
	if n == 0 || e.Gap.Min <= t.LossGap || r.Kind != KindElection && !r.Expected {
		return false
	}
	last := &r.Terms[n-1]
	if last.Cause != CauseUnknown && (last.Cause != CauseSession || last.How == Told) {
		return false
	}
	others := lane.Lane{Terms: r.Terms, Dark: dark}
	return e.Gap.Min > others.Stats(lane.Span{From: e.At.Add(-changesKept), To: last.End.Earliest()}).P95.Max
}

// update updates the derived part of the row from the events of a look.
func (r *Row) update(l *look, events []Event, before, after *Primitive) {
	one := single(after)
	var t terms
	if one {
		t.list = r.Terms
	}
	for i := range events {
		e := &events[i]
		r.count(e)
		if one && e.Kind.EndsOwner() {
			t.end(e.Previous, l.stamp(), e.Cause, e.How)
		}
		if one && e.Kind.BeginsOwner() && e.Owner != (OwnerRef{}) {
			if t.running() == nil {
				r.LowestLease = 0
			}
			o := ownerOf(after, e.Owner)
			t.begin(e.Owner, o.Program, o.Since)
		}
		if e.Kind == EventRenewed && one {
			r.lowest(e.LeaseLeft)
		}
	}
	if one && ownersKnown(after) && len(after.Owners) > 0 {
		if t.running() == nil { // in a conflict, the one that was first is gone
			t.begin(after.Owners[0].ref(), after.Owners[0].Program, after.Owners[0].Since)
		}
		t.rename(after.Owners)
		t.list = l.doubtTerms(t.list)
		r.lowest(leaseLeft(&after.Owners[0], after.At))
	}
	r.Terms = l.pacedTerms(t.list)
	r.nobody(l, before, after)
	r.trackUnknown(l, before, after)
}

// trackUnknown records the stretches in which the owners of the row were unknown.
func (r *Row) trackUnknown(l *look, before, after *Primitive) {
	switch {
	case !read(after) || !read(before):
	case ownersKnown(after) && r.OwnersUnknown != nil:
		r.OwnersUnknown = &DarkList{withDarkEnd(r.OwnersUnknown.List, l.at)}
	case ownersKnown(before) && !ownersKnown(after) && !counted(after):
		r.OwnersUnknown = &DarkList{withDark(r.OwnersUnknown.stretches(), l.stamp().Earliest())}
	}
}

// ownerOf finds the owner that an event names; the zero Owner if p has no such owner.
func ownerOf(p *Primitive, who OwnerRef) *Owner {
	return cmp.Or(find(p.Owners, func(o *Owner) bool { return o.ref() == who }), &Owner{})
}

// nobody updates r.Nobody, the time since which the row has no owner.
func (r *Row) nobody(l *look, before, after *Primitive) {
	switch {
	case !read(after):
	case len(after.Owners) > 0 || !ownersKnown(after) || after.Absent:
		r.Nobody = Stamp{}
	case read(before) && (before.Absent || len(before.Owners) > 0), // it was created anew, or released
		r.Nobody.How == Unknown && before == nil && !l.relisted: // it was made just now
		r.Nobody = l.stamp()
	case r.Nobody.How == Unknown:
		r.Nobody = Stamp{At: l.at, How: AtLeast}
	}
}

// count counts a change of owner, and a loss, in a copy: published counts are never changed.
func (r *Row) count(e *Event) {
	change := e.Kind == EventAcquired || e.Kind == EventOwnerChanged || e.Was.Taken != e.Now.Taken && e.Kind == EventCountChanged
	if !change && !e.Loss {
		return
	}
	next := *cmp.Or(r.Activity, &noActivity)
	next.add(e.At, change, e.Loss)
	r.Activity = &next
}

// changesKept is the time for which changes and losses are counted.
const changesKept = time.Hour

// Changes returns the number of owner changes in the last `within`, rounded to minutes, an hour at most.
func (r *Row) Changes(now time.Time, within time.Duration) int {
	a := cmp.Or(r.Activity, &noActivity)
	return a.Changes.since(a.Minute, now, within)
}

// Losses returns the number of lost owners in the last `within`, rounded to minutes, an hour at
// most: see Thresholds.
func (r *Row) Losses(now time.Time, within time.Duration) int {
	a := cmp.Or(r.Activity, &noActivity)
	return a.Losses.since(a.Minute, now, within)
}

// LowestLeaseAt returns the lowest remaining time of the running term's lease up to now, also
// between two renewals; 0: unknown, or the lease may be over.
func (r *Row) LowestLeaseAt(now time.Time) time.Duration {
	if len(r.Owners) == 0 || r.LowestLease == 0 || !leaseKnown(&r.Owners[0]) {
		return r.LowestLease
	}
	return min(r.LowestLease, leaseLeft(&r.Owners[0], now))
}

// lowest lowers LowestLease to left; 0 is unknown.
func (r *Row) lowest(left time.Duration) {
	if left > 0 && (r.LowestLease == 0 || left < r.LowestLease) {
		r.LowestLease = left
	}
}

// index finds the slot of a primitive. It has a lock of its own, so that a look-up
// never waits for a Change that is being applied. It has a map for each space: many names
// share one, and keys with names alone take a third of the memory.
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

func (x *index) remove(ref Ref) {
	x.mu.Lock()
	defer x.mu.Unlock()
	slots := x.spaces[placeOf(ref)]
	delete(slots, ref.Name)
	if len(slots) == 0 {
		delete(x.spaces, placeOf(ref))
	}
}

// Lane returns the history of the row in the form of package lane. s is the State that the row is
// from; the result must not be changed.
func (r *Row) Lane(s *State) lane.Lane {
	l := lane.Lane{Terms: r.Terms, Nobody: r.Nobody, Since: r.RecordedSince(s), Dark: r.Unobserved(s)}
	if r.Absent {
		l.Absent = r.At
	}
	if n := len(r.Terms); n > 0 {
		l.Every = s.scopeOf(r).Every(r.Terms[n-1].End.At, s.At)
	}
	return l
}

// Gaps sums up the times of the last `within` in which nobody owned the row, including one that
// still lasts. It covers at most MaxTerms terms, and no semaphores. s is the State that the
// row is from.
func (r *Row) Gaps(s *State, now time.Time, within time.Duration) GapStats {
	l := r.Lane(s)
	return l.Stats(lane.Span{From: now.Add(-within), To: now})
}

// gapBefore returns the length of the time without an owner before a take in (after, at]; zero if its
// start is unknown.
func (r *Row) gapBefore(l *look, at, after time.Time, dark []Dark) Interval {
	before := Term{End: r.Nobody}
	if single(r.Primitive) {
		if len(r.Terms) == 0 {
			return Interval{}
		}
		before = r.Terms[len(r.Terms)-1]
	}
	if before.End.How == Unknown || before.End.How == AtLeast {
		return Interval{}
	}
	both := lane.Lane{Terms: []Term{before, {Start: StampBetween(after, at, Seen)}}, Dark: dark}
	g := both.GapAfter(0, at)
	return Interval{Min: g.Last, Max: g.Unbroken.Max, Every: l.every(before.End.Earliest(), at)}
}
