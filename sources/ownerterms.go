package sources

import (
	"slices"
	"time"
)

// ownerTerms is the history of the owners of a row that several can own at once. Published
// rows share it: each change makes a new one.
type ownerTerms struct {
	past    []Term // ended, in the order of their ends; it only grows behind what others see of it
	running []Term // in the order in which we saw them begin
	since   time.Time
}

// OwnerTerms returns the terms of each owner of a row that several can own at once: those that
// ended in the order of their ends, then those that run. They overlap. nil where one alone can
// own it, or its owners are not told. Not all owners may have one: [MaxTerms] bounds them.
func (r *Row) OwnerTerms() []Term {
	if r.levels == nil || r.levels.owners == nil {
		return nil
	}
	return slices.Concat(r.levels.owners.past, r.levels.owners.running)
}

// OwnerTermsSince is from when on OwnerTerms is a whole record, but for owners that had no
// room in it; zero: nothing was observed yet. s is the State that the row is from.
func (r *Row) OwnerTermsSince(s *State) time.Time {
	since := r.observedSince(s)
	if r.levels == nil || r.levels.owners == nil {
		return since
	}
	return Later(since, r.levels.owners.since)
}

// withOwners returns the levels, which may be nil, with the terms that events began and ended.
func (l *levels) withOwners(k *look, events []Event, before, after *Primitive) *levels {
	if l == nil || !read(after) {
		return l
	}
	if single(after) {
		return l.owning(nil)
	}
	if !slices.ContainsFunc(events, ofOwner) && (before == nil || sameRefs(before.Owners, after.Owners)) {
		return l.doubted(k)
	}
	var t ownerTerms
	if l.owners != nil {
		t = *l.owners
	}
	t.running = slices.Clone(t.running)
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
	t.running = k.doubtTerms(t.running)
	return l.owning(&t)
}

// doubted returns the levels, which may be nil, with the terms of the owners in doubt.
func (l *levels) doubted(k *look) *levels {
	if l == nil || l.owners == nil || len(k.inDoubt) == 0 {
		return l
	}
	t := *l.owners
	t.running = k.doubtTerms(t.running)
	return l.owning(&t)
}

// owning returns the levels with other terms of owners.
func (l *levels) owning(t *ownerTerms) *levels {
	if l.owners == t {
		return l
	}
	return &levels{past: l.past, last: l.last, owners: t}
}

func ofOwner(e Event) bool { return e.Kind.EndsOwner() || e.Kind.BeginsOwner() }

// sameRefs reports whether two lists name the same owners in the same order.
func sameRefs(a, b []Owner) bool {
	return slices.EqualFunc(a, b, func(x, y Owner) bool { return x.ref() == y.ref() })
}

// find returns the index of the running term of an owner; -1: it has none. A fence may have
// become known since it began.
func (t *ownerTerms) find(who OwnerRef) int {
	if i := slices.IndexFunc(t.running, func(r Term) bool { return r.Owner == who }); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.running, func(r Term) bool {
		return r.Owner.ID == who.ID && sameNumber(r.Owner.Fence, who.Fence)
	})
}

// begin adds a term, unless the owner has one, or there is no room because as many run already.
func (t *ownerTerms) begin(who OwnerRef, program Program, start Stamp, now time.Time) {
	if len(t.running) == MaxTerms || t.find(who) >= 0 {
		return
	}
	for len(t.past) > 0 && (len(t.past)+len(t.running) >= MaxTerms || t.past[0].End.At.Before(now.Add(-termAge))) {
		t.since = Later(t.since, t.past[0].End.At)
		t.past = t.past[1:]
	}
	t.running = append(t.running, Term{Owner: who, Program: program, Hue: hue(who, program, t.past, t.running), Start: start})
}

// end moves the term of an owner to those that ended.
func (t *ownerTerms) end(who OwnerRef, end Stamp, cause Cause, how Known) {
	i := t.find(who)
	if i < 0 {
		return
	}
	r := t.running[i]
	endTerm(&r, end, cause, how)
	t.running = slices.Delete(t.running, i, i+1)
	t.past = append(t.past, r)
}

// rename gives running terms the names that their owners have by now.
func (t *ownerTerms) rename(owners []Owner) {
	for i := range owners[:min(len(owners), MaxTerms)] {
		if now := owners[i].ref(); i >= len(t.running) || t.running[i].Owner != now {
			if at := t.find(now); at >= 0 {
				t.running[at].Owner = now
			}
		}
	}
}
