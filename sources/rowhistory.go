package sources

import (
	"cmp"
	"slices"
	"time"

	"coordtop/sources/lane"
)

// completeEvents completes events with facts from the row's history: the gap, the owner before, the length of that
// ownership, and whether it was lost.
func (r *Row) completeEvents(l *look, events []Event, t Thresholds) {
	dark := mergeDark(l.scope.Dark, r.OwnersUnknown.stretches())
	var ended *Event // the last end among these events
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == EventAcquired:
			e.Gap = r.gapBefore(l, e, dark)
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

// gapBefore returns the length of the time without an owner before a take, or zero if its start is unknown. The
// stretches in dark were not observed.
func (r *Row) gapBefore(l *look, take *Event, dark []Dark) Interval {
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
	both := lane.Lane{Terms: []Term{before, {Start: StampBetween(take.After, take.At, Seen)}}, Dark: dark}
	g := both.GapAfter(0, take.At)
	return Interval{Min: g.Last, Max: g.Unbroken.Max, Every: l.every(before.End.Earliest(), take.At)}
}

// heldBy returns the length of an ownership that lasted at the last look. The term knows its start more exactly than
// the look.
func (r *Row) heldBy(l *look, who OwnerRef, end Stamp) Interval {
	t := Term{Start: ownerOf(r.Primitive, who).Since}
	if n := len(r.Terms); n > 0 && r.Terms[n-1].End.How == Unknown && r.Terms[n-1].Owner.ID == who.ID {
		t = r.Terms[n-1]
	}
	t.End, t.Every = end, max(t.Every, l.every(t.Start.Earliest(), end.At))
	return t.Held()
}

// lastBefore sets the owner before a take-over e: that of an end in the same look, else that of the last term. It also
// sets Last if no other owner can have come and gone unseen since.
func (r *Row) lastBefore(l *look, e, ended *Event, dark []Dark) {
	n := len(r.Terms)
	var from time.Time // since then others may have owned the row
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
		from = Earlier(r.Nobody.Earliest(), r.Terms[n-1].End.Earliest()) // the primitive may have been created again since
	}
	if l.watched(from, e, dark) {
		e.Last = e.LastSeen
	}
}

// watched reports whether nobody can have come and gone unseen between an instant and the event e.
func (l *look) watched(from time.Time, e *Event, dark []Dark) bool {
	prompt := e.After.IsZero() || e.At.Sub(e.After) <= Promptness
	return prompt && !l.darkened() && !wentDark(from, e.At, dark) && l.every(from, e.At) == 0
}

// every returns the longest pause between two looks at the row in a stretch that ends with this look, or 0 if any write
// would have been pushed. The pause before this look may be longer than the scope's. A late push counts as a look,
// unless a proof shows that the grant is the same.
func (l *look) every(from, to time.Time) time.Duration {
	every := l.scope.Every(from, to)
	pause := l.at.Sub(l.after)
	if (every > 0 || l.unproved && pause > Promptness) && !l.after.IsZero() && !l.darkened() && !wentDark(l.after, l.at, l.scope.Dark) {
		every = max(every, pause)
	}
	return every
}

// Every returns the longest pause between two looks at the scope from one instant to another. It returns 0 if all
// changes were pushed, as far as the record goes back.
func (s *Scope) Every(from, to time.Time) (longest time.Duration) {
	for i := range s.Paces {
		over := i+1 < len(s.Paces) && !s.Paces[i+1].From.After(from)
		if !over && s.Paces[i].From.Before(to) {
			longest = max(longest, s.Paces[i].Every)
		}
	}
	return longest
}

// Unobserved returns the stretches in which the row was not observed since it was first read, oldest first: those of
// its scope, those in which the row's owners were unknown, and those in which it may have changed and changed back
// unseen (Change.Unseen). They may overlap. s is the State that the row is from; the result must not be changed.
func (r *Row) Unobserved(s *State) []Dark {
	return mergeDark(s.scopeOf(r).Dark, r.OwnersUnknown.stretches())
}

// mergeDark returns both lists in one, ordered by From. It copies only if neither is empty.
func mergeDark(scope, row []Dark) []Dark {
	switch {
	case len(row) == 0:
		return scope
	case len(scope) == 0:
		return row
	}
	both := slices.Concat(scope, row)
	slices.SortStableFunc(both, func(x, y Dark) int { return x.From.Compare(y.From) })
	return both
}

// lostUntold reports whether the length of the gap suggests that the ownership before e was lost: its cause was not
// told, and the gap is longer than is usual for the row. For a lock a gap suggests nothing, because a lock is free
// whenever there is no work for it.
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
		if t.running() == nil { // in a conflict, the first owner is gone
			t.begin(after.Owners[0].ref(), after.Owners[0].Program, after.Owners[0].Since)
		}
		t.rename(after.Owners)
		t.list = l.doubtTerms(t.list)
		r.lowest(leaseLeft(&after.Owners[0], after.At))
	}
	t.pace(l)
	r.Terms = t.list
	r.Counted = r.Counted.with(after).withOwners(l, events, before, after)
	r.nobody(l, before, after)
	r.trackUnknown(l, before, after)
}

// doubtTerms marks the running terms of owners in doubt. It copies the list before it changes it.
func (l *look) doubtTerms(list []Term) []Term {
	if len(l.inDoubt) == 0 {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].End.How == Unknown && slices.Contains(l.inDoubt, list[i].Owner.ID) {
			list[i].Sure = l.at
		}
	}
	return list
}

// nobody updates r.Nobody, the time since which the row has no owner.
func (r *Row) nobody(l *look, before, after *Primitive) {
	switch {
	case !read(after):
	case len(after.Owners) > 0 || !ownersKnown(after) || after.Absent:
		r.Nobody = Stamp{}
	case read(before) && (before.Absent || len(before.Owners) > 0), // it was created again, or released
		r.Nobody.How == Unknown && before == nil && !l.relisted: // it was made just now
		r.Nobody = l.stamp()
	case r.Nobody.How == Unknown:
		r.Nobody = Stamp{At: l.at, How: AtLeast}
	}
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

// ownerOf returns the owner that an event names, or the zero Owner if p has no such owner.
func ownerOf(p *Primitive, who OwnerRef) *Owner {
	return cmp.Or(find(p.Owners, func(o *Owner) bool { return o.ref() == who }), &Owner{})
}

// count counts a change of owner, and a loss, in a copy, because published counts are never changed.
func (r *Row) count(e *Event) {
	change := e.ChangesOwner()
	if !change && !e.Loss {
		return
	}
	next := *cmp.Or(r.Activity, &noActivity)
	next.add(e.At, change, e.Loss)
	r.Activity = &next
}

// lowest lowers LowestLease to left; 0 is unknown.
func (r *Row) lowest(left time.Duration) {
	if left > 0 && (r.LowestLease == 0 || left < r.LowestLease) {
		r.LowestLease = left
	}
}

// with returns the levels after a look at p; l may be nil.
func (l *Counted) with(p *Primitive) *Counted {
	if single(p) || !read(p) || !ownersKnown(p) && p.LimitHow == Unknown && !p.Absent {
		return l
	}
	now := Level{At: p.At, Taken: p.Taken, High: p.Taken, Gone: p.Absent}
	switch {
	case l == nil:
		return &Counted{Last: now}
	case l.Last.Taken == p.Taken && l.Last.Gone == p.Absent:
		return l
	case p.At.Sub(l.Last.At) < levelEvery && l.Last.Gone == p.Absent:
		return &Counted{Past: l.Past, Last: Level{At: l.Last.At, Taken: p.Taken, High: max(l.Last.High, p.Taken)}, Owners: l.Owners}
	}
	past := l.Past
	if len(past) == maxLevels {
		past = append(make([]Level, 0, maxLevels), past[maxLevels/2:]...)
	}
	return &Counted{Past: append(past, l.Last), Last: now, Owners: l.Owners}
}

// withOwners returns the levels, which may be nil, with the terms that events began and ended.
func (l *Counted) withOwners(k *look, events []Event, before, after *Primitive) *Counted {
	if l == nil || !read(after) {
		return l
	}
	if single(after) {
		return l.owning(nil)
	}
	if !slices.ContainsFunc(events, ofOwner) && (before == nil || sameRefs(before.Owners, after.Owners)) {
		return l.doubted(k)
	}
	var t OwnerTerms
	if l.Owners != nil {
		t = *l.Owners
	}
	t.Running = slices.Clone(t.Running)
	for i := range events {
		e := &events[i]
		if e.Kind.EndsOwner() {
			t.end(e.Previous, k.stamp(), e.Cause, e.How)
		}
		if e.Kind.BeginsOwner() && e.Owner != (OwnerRef{}) {
			o := ownerOf(after, e.Owner)
			t.begin(e.Owner, o.Program, o.Since, k.at)
		}
	}
	t.rename(after.Owners)
	t.Running = k.doubtTerms(t.Running)
	return l.owning(&t)
}

// doubted returns the levels, which may be nil, with the terms of the owners in doubt.
func (l *Counted) doubted(k *look) *Counted {
	if l == nil || l.Owners == nil || len(k.inDoubt) == 0 {
		return l
	}
	t := *l.Owners
	t.Running = k.doubtTerms(t.Running)
	return l.owning(&t)
}

// owning returns the levels with other terms of owners.
func (l *Counted) owning(t *OwnerTerms) *Counted {
	if l.Owners == t {
		return l
	}
	return &Counted{Past: l.Past, Last: l.Last, Owners: t}
}

func ofOwner(e Event) bool { return e.Kind.EndsOwner() || e.Kind.BeginsOwner() }

// sameRefs reports whether two lists name the same owners in the same order.
func sameRefs(a, b []Owner) bool {
	return slices.EqualFunc(a, b, func(x, y Owner) bool { return x.ref() == y.ref() })
}
