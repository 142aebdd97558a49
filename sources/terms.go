package sources

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"coordtop/sources/lane"
)

// termAge is the age from which an ended term may be dropped, when a newer one begins.
const termAge = 24 * time.Hour

// terms is the history of a row with one owner at a time, while it is updated. Published
// rows share the list, so the first change copies it.
//
// In a conflict, with two exclusive owners at once, the running term stays with the first owner; the other owner's term
// begins when that ends. So terms never overlap, and never end before their start.
type terms struct {
	list []Term // oldest first, the running one last
	own  bool   // list is a private copy
}

// running returns the last term if it has no end yet. It is for reading.
func (t *terms) running() *Term {
	if n := len(t.list); n > 0 && t.list[n-1].End.How == Unknown {
		return &t.list[n-1]
	}
	return nil
}

// at returns a term that may be changed.
func (t *terms) at(i int) *Term {
	if !t.own {
		t.list = append(make([]Term, 0, len(t.list)+1), t.list...) // often one more follows
		t.own = true
	}
	return &t.list[i]
}

// last returns the last term, which may be changed. There must be one.
func (t *terms) last() *Term { return t.at(len(t.list) - 1) }

// pace sets Every in the terms that were running at a look or ended by it.
func (t *terms) pace(l *look) {
	for i := max(0, len(t.list)-2); i < len(t.list); i++ {
		x := t.list[i]
		from, to := x.Start.Earliest(), x.End.At
		if i > 0 {
			from = t.list[i-1].End.Earliest()
		}
		if to.IsZero() {
			to = l.at
		}
		if every := l.every(from, to); every > x.Every && !to.Before(l.at) {
			t.at(i).Every = every
		}
	}
}

// begin appends a term of owner, unless a term is running.
func (t *terms) begin(owner OwnerRef, program Program, start Stamp) {
	if t.running() != nil {
		return
	}
	t.forget(start.At)
	if len(t.list) > 0 {
		last := t.last()
		last.End, start = meet(last.End, start)
	}
	t.list = append(t.list, Term{Owner: owner, Program: program, Hue: hue(owner, program, t.list), Start: start})
	t.own = true
}

// end ends the running term if it belongs to owner.
func (t *terms) end(owner OwnerRef, end Stamp, cause Cause, how Known) {
	if r := t.running(); r == nil || r.Owner.ID != owner.ID {
		return
	}
	endTerm(t.last(), end, cause, how)
}

// endTerm ends a term, not before its start.
func endTerm(t *Term, end Stamp, cause Cause, how Known) {
	if end.At.Before(t.Start.At) {
		end = Stamp{At: t.Start.At, How: end.How}
	}
	t.End, t.Cause, t.How = notBefore(end, t.Start), cause, how
}

// rename updates the owner of the running term: because a fence or a label may become known later than the owner.
func (t *terms) rename(owners []Owner) {
	r := t.running()
	if r == nil {
		return
	}
	for i := range owners {
		if now := owners[i].ref(); now.ID == r.Owner.ID && now != r.Owner {
			t.last().Owner = now
			return
		}
	}
}

// forget drops old terms, and makes room for one more.
func (t *terms) forget(now time.Time) {
	first := max(0, len(t.list)-(MaxTerms-1))
	for first < len(t.list)-1 && t.list[first].End.At.Before(now.Add(-termAge)) {
		first++
	}
	t.list = t.list[first:]
}

// hue returns the hue that owner has in the lists, else the lowest free one. The owner before is in one of the lists,
// so that neighbouring terms of different owners have different hues.
func hue(owner OwnerRef, program Program, lists ...[]Term) uint8 {
	var taken [MaxTerms + 1]bool
	for _, list := range lists {
		for i := range list {
			if list[i].SameProgram(owner, program) {
				return list[i].Hue
			}
			taken[list[i].Hue] = true
		}
	}
	free := slices.Index(taken[:], false)
	if free < 0 {
		panic("sources: more hues than terms")
	}
	return uint8(free)
}

// meet narrows an end and the start after it: because with one owner at a time, the first term ended before the second
// began.
func meet(end, start Stamp) (Stamp, Stamp) {
	if !start.At.Before(end.At) {
		return end, notBefore(start, Stamp{At: end.Earliest()})
	}
	if after := end.After(); !after.IsZero() && !start.At.Before(after) {
		end = StampBetween(after, start.At, end.How)
		return end, notBefore(start, Stamp{At: end.Earliest()})
	}
	return end, Stamp{At: end.At, How: start.How}
}

// notBefore returns s with a start no earlier than the earliest instant of other.
func notBefore(s, other Stamp) Stamp {
	if from := other.Earliest(); s.Earliest().Before(from) {
		return StampBetween(from, s.At, s.How)
	}
	return s
}

// OwnerTerms is the history of the owners of a row that several can own at once. Published rows share it, so that each
// change makes a new one.
type OwnerTerms struct {
	Past    []Term    // ended, in the order of their ends; append-only, because published rows share its beginning
	Running []Term    // in the order in which we saw them begin
	Since   time.Time // terms that ended before this are not kept
}

// find returns the index of the running term of an owner, or -1. A fence may have become known since the term's start.
func (t *OwnerTerms) find(who OwnerRef) int {
	if i := slices.IndexFunc(t.Running, func(r Term) bool { return r.Owner == who }); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.Running, func(r Term) bool {
		return r.Owner.ID == who.ID && sameNumber(r.Owner.Fence, who.Fence)
	})
}

// begin adds a term, unless the owner has one or MaxTerms terms are running already.
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

// end moves the term of an owner to the ended ones.
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

// rename updates the owners of the running terms.
func (t *OwnerTerms) rename(owners []Owner) {
	for i := range owners[:min(len(owners), MaxTerms)] {
		if now := owners[i].ref(); i >= len(t.Running) || t.Running[i].Owner != now {
			if at := t.find(now); at >= 0 {
				t.Running[at].Owner = now
			}
		}
	}
}

// OwnerTerms returns the terms of each owner of a row that several can own at once: the ended ones in the order of
// their ends, then the running ones. Terms may overlap. The result is nil for a single owner or unknown owners.
// [MaxTerms] bounds the number of terms, so that some owners may have none.
func (r *Row) OwnerTerms() []Term {
	if r.Counted == nil || r.Counted.Owners == nil {
		return nil
	}
	return slices.Concat(r.Counted.Owners.Past, r.Counted.Owners.Running)
}

// OwnerTermsSince returns the start of the complete record of OwnerTerms, except for owners without room in it. It
// returns zero if nothing was observed yet. s is the State that the row is from.
func (r *Row) OwnerTermsSince(s *State) time.Time {
	since := s.scopeOf(r).Since
	if r.Counted == nil || r.Counted.Owners == nil {
		return since
	}
	return Later(since, r.Counted.Owners.Since)
}

// LastTerm returns the last term of the row if that is over, else nil.
func (r *Row) LastTerm() *Term {
	if n := len(r.Terms); n > 0 && r.Terms[n-1].End.How != Unknown {
		return &r.Terms[n-1]
	}
	return nil
}

// Level is the number of taken permits of a semaphore, from an instant until the next Level.
type Level struct {
	At    time.Time
	Taken uint64 // at the end of the level
	High  uint64 // the maximum seen in the level
	Gone  bool   // the semaphore did not exist
}

const (
	// levelEvery is the minimum length of a level. Faster changes become one level with the highest count. It is half
	// of the shortest column in which the UI shows an hour.
	levelEvery = 5 * time.Second
	// maxLevels bounds the levels of a row, which need 20 kB. Half of them are dropped at a time, so that at least 21
	// minutes stay.
	maxLevels = 512
)

// Counted is the history of a semaphore's count, and of its owners. Published rows share the list, which is
// append-only; the last level is not in it.
type Counted struct {
	Past   []Level
	Last   Level
	Owners *OwnerTerms // nil if none were told; never changed once published
}

func (l *Counted) first() time.Time {
	if len(l.Past) > 0 {
		return l.Past[0].At
	}
	return l.Last.At
}

// TakenSince returns the time of the last change of the number of taken permits, exact to the length of a level, or
// zero if no count is known.
func (r *Row) TakenSince() (at time.Time) {
	if r.Counted != nil {
		at = r.Counted.Last.At
	}
	return at
}

// Leveled reports whether the row has levels: that is, several can own it at once, and its count was told.
func (r *Row) Leveled() bool { return r.Counted != nil }

// Levels returns the levels of taken permits since the first look, the oldest first and the present one last. There are
// none for a single owner, or if no count is told.
func (r *Row) Levels() iter.Seq[Level] {
	return func(yield func(Level) bool) {
		if r.Counted == nil {
			return
		}
		for _, l := range r.Counted.Past {
			if !yield(l) {
				return
			}
		}
		yield(r.Counted.Last)
	}
}

// RecordedSince returns the start of the complete record of the row's terms, or levels, or zero if nothing was observed
// yet. The time before was not observed, or its record was dropped. s is the State that the row is from.
func (r *Row) RecordedSince(s *State) time.Time {
	since := s.scopeOf(r).Since
	switch {
	case len(r.Terms) == MaxTerms || len(r.Terms) > 0 && r.Activity != nil && r.Activity.Cut:
		return Later(since, r.Terms[0].Start.Earliest())
	case r.Leveled() && r.Counted.first().After(since):
		return r.Counted.first()
	}
	return since
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

// Gaps returns a summary of the times in the last `within` in which nobody owned the row, including one that still
// lasts. It covers at most MaxTerms terms, and no semaphores. s is the State that the row is from.
func (r *Row) Gaps(s *State, now time.Time, within time.Duration) GapStats {
	l := r.Lane(s)
	return l.Stats(lane.Span{From: now.Add(-within), To: now})
}

// changesKept is the time for which counts of changes and losses are kept.
const changesKept = time.Hour

// Changes returns the number of owner changes in the last `within`, rounded to minutes, at most an hour.
func (r *Row) Changes(now time.Time, within time.Duration) int {
	a := cmp.Or(r.Activity, &noActivity)
	return a.Changes.since(a.Minute, now, within)
}

// Losses returns the number of lost owners in the last `within`, rounded to minutes, at most an hour; see Thresholds.
func (r *Row) Losses(now time.Time, within time.Duration) int {
	a := cmp.Or(r.Activity, &noActivity)
	return a.Losses.since(a.Minute, now, within)
}

// LowestLeaseAt returns the lowest remaining time of the running term's lease until now, even between two renewals. It
// returns 0 if that is unknown or the lease may be over.
func (r *Row) LowestLeaseAt(now time.Time) time.Duration {
	if len(r.Owners) == 0 || r.LowestLease == 0 || !leaseKnown(&r.Owners[0]) {
		return r.LowestLease
	}
	return min(r.LowestLease, leaseLeft(&r.Owners[0], now))
}
