package sources

import (
	"slices"
	"time"
)

// OwnerTerms is the history of the owners of a row that several can own at once. Published
// rows share it: each change makes a new one.
type OwnerTerms struct {
	Past    []Term    // ended, in the order of their ends; it only grows behind what others see of it
	Running []Term    // in the order in which we saw them begin
	Since   time.Time // no term that ended before it is kept
}

// OwnerTerms returns the terms of each owner of a row that several can own at once: those that
// ended in the order of their ends, then those that run. They overlap. nil where one alone can
// own it, or its owners are not told. Not all owners may have one: [MaxTerms] bounds them.
func (r *Row) OwnerTerms() []Term {
	if r.Counted == nil || r.Counted.Owners == nil {
		return nil
	}
	return slices.Concat(r.Counted.Owners.Past, r.Counted.Owners.Running)
}

// OwnerTermsSince is from when on OwnerTerms is a whole record, but for owners that had no
// room in it; zero: nothing was observed yet. s is the State that the row is from.
func (r *Row) OwnerTermsSince(s *State) time.Time {
	since := r.observedSince(s)
	if r.Counted == nil || r.Counted.Owners == nil {
		return since
	}
	return Later(since, r.Counted.Owners.Since)
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

// find returns the index of the running term of an owner; -1: it has none. A fence may have
// become known since it began.
func (t *OwnerTerms) find(who OwnerRef) int {
	if i := slices.IndexFunc(t.Running, func(r Term) bool { return r.Owner == who }); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.Running, func(r Term) bool {
		return r.Owner.ID == who.ID && sameNumber(r.Owner.Fence, who.Fence)
	})
}

// begin adds a term, unless the owner has one, or there is no room because as many run already.
func (t *OwnerTerms) begin(who OwnerRef, program Program, start Stamp, now time.Time) {
	if len(t.Running) == MaxTerms || t.find(who) >= 0 {
		return
	}
	for len(t.Past) > 0 && (len(t.Past)+len(t.Running) >= MaxTerms || t.Past[0].End.At.Before(now.Add(-termAge))) {
		t.Since = Later(t.Since, t.Past[0].End.At)
		t.Past = t.Past[1:]
	}
	t.Running = append(t.Running, Term{Owner: who, Program: program, Hue: hue(who, program, t.Past, t.Running), Start: start})
}

// end moves the term of an owner to those that ended.
func (t *OwnerTerms) end(who OwnerRef, end Stamp, cause Cause, how Known) {
	i := t.find(who)
	if i < 0 {
		return
	}
	r := t.Running[i]
	endTerm(&r, end, cause, how)
	t.Running = slices.Delete(t.Running, i, i+1)
	t.Past = append(t.Past, r)
}

// rename gives running terms the names that their owners have by now.
func (t *OwnerTerms) rename(owners []Owner) {
	for i := range owners[:min(len(owners), MaxTerms)] {
		if now := owners[i].ref(); i >= len(t.Running) || t.Running[i].Owner != now {
			if at := t.find(now); at >= 0 {
				t.Running[at].Owner = now
			}
		}
	}
}
