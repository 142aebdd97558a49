package sources

import (
	"slices"
	"time"
)

// Recall returns s with the history of its rows from the end of an earlier run: since when they are owned, free or
// awaited, the lengths of leases, how often they changed, their former owners, and what became of their server. It is for
// a program that reads the sources only once. Other rows of that run are not added, unlike in a Hub that resumes it. The
// same source has the same name, type and address. Nothing is recalled if the clock shows less than at the end of that
// run, nor for a row of which that run has a newer look. s does not change.
func (k *Keyframe) Recall(s *State) *State {
	if s.At.Before(k.At.Wall) {
		return s
	}
	same := map[string]bool{}
	for i := range k.Sources {
		was := &k.Sources[i]
		same[was.Name] = slices.ContainsFunc(s.Sources, func(is SourceStatus) bool { return was.is(&is) })
	}
	rows := map[Ref]*Row{}
	for _, was := range k.Rows {
		if was != nil && same[was.Source] && read(was.Primitive) && ownersKnown(was.Primitive) {
			rows[was.Ref] = was
		}
	}
	all, listed := *s, map[Ref]bool{}
	all.Rows, all.Scopes = slices.Clone(s.Rows), slices.Clone(s.Scopes)
	for i := range all.Scopes {
		is := &all.Scopes[i]
		was := find(k.Scopes, func(was *ScopeFacts) bool { return was.Source == is.Source && was.Name == is.Name })
		if was != nil && is.About.Became == "" && same[is.Source] && was.About.Incarnation == is.About.Incarnation {
			is.About.Became, is.About.BecameHow = was.About.Became, was.About.BecameHow
		}
	}
	for slot, row := range s.Rows {
		if row != nil {
			listed[row.Ref] = true
		}
		if row != nil && rows[row.Ref] != nil && row.Fresh(s) && ownersKnown(row.Primitive) && !rows[row.Ref].At.After(row.At) {
			was := rows[row.Ref]
			lost := k.believed(was)
			all.Rows[slot] = row.recalling(was, look{after: lost, at: row.At, darkFrom: lost, started: s.Scopes[row.Scope].About.Started})
		}
	}
	for _, was := range k.Rows {
		if was == nil || rows[was.Ref] != was || listed[was.Ref] || was.Kind != KindElection && !was.Expected {
			continue
		}
		scope := slices.IndexFunc(s.Scopes, func(sc Scope) bool { return sc.Source == was.Source && sc.Name == k.Scopes[was.Scope].Name })
		alive := k.believed(was)
		if scope < 0 || !s.Scopes[scope].Whole() || s.Scopes[scope].Health != HealthLive || !was.freeAt(s.At, alive) {
			continue
		}
		if was.At.After(s.Scopes[scope].Since) { // it may be newer than our listing
			continue
		}
		l := look{after: alive, at: s.Scopes[scope].Alive}
		row := (&Row{Slot: len(all.Rows), Scope: scope, Listing: s.Scopes[scope].Listing, Primitive: was.vacated(l.at)}).recalling(was, l)
		all.Rows = append(all.Rows, row)
	}
	return &all
}

// With returns k with a source of the earlier run from, which k does not know. It adds those rows that selected
// accepts, because the configuration may have changed since.
func (k *Keyframe) With(of *SourceStatus, from *Keyframe, selected func(*Primitive) bool) *Keyframe {
	both := *k
	both.At.Wall = Later(k.At.Wall, from.At.Wall)
	both.Sources, both.Scopes, both.Rows = slices.Clip(k.Sources), slices.Clip(k.Scopes), slices.Clip(k.Rows)
	both.Known, both.Queued = cloneSlots(k.Known), cloneSlots(k.Queued)
	for _, f := range from.Sources {
		if f.is(of) {
			both.Sources = append(both.Sources, f)
		}
	}
	places := map[int]int{}
	for i := range from.Scopes {
		if from.Scopes[i].Source == of.Name {
			places[i], both.Scopes = len(both.Scopes), append(both.Scopes, from.Scopes[i])
		}
	}
	for slot, row := range from.Rows {
		if row == nil || row.Source != of.Name || !selected(row.Primitive) {
			continue
		}
		own := row.own()
		own.Slot, own.Scope = len(both.Rows), places[row.Scope]
		if p := from.Known[slot]; p != nil {
			both.Known[own.Slot] = p
		}
		if p := from.Queued[slot]; p != nil {
			both.Queued[own.Slot] = p
		}
		both.Rows = append(both.Rows, own)
	}
	return &both
}

// recalling returns a copy of r with the history of was, the same row at the end of an earlier run. l is
// the first look after that run.
func (r *Row) recalling(was *Row, l look) *Row {
	is := *r
	is.Primitive = l.complete(was.Primitive, r.Primitive)
	goesOn := len(is.Owners) == 0 && len(was.Owners) == 0
	switch {
	case len(is.Owners) > 0:
	case len(was.Owners) > 0:
		is.Nobody = l.stamp()
	case was.Nobody.How != Unknown:
		is.Nobody = was.Nobody
	}
	is.recallLengths(was)
	if is.Activity == nil {
		is.Activity = was.Activity
	}
	is.Terms = slices.Clip(was.Terms)
	if n := len(was.Terms); n > 0 && was.Terms[n-1].End.How == Unknown {
		goesOn = len(is.Owners) == 1 && len(was.Owners) == 1 && l.goesOn(&was.Owners[0], &is.Owners[0])
		if is.Terms = l.doubtTerms(is.Terms); !goesOn {
			is.Terms = slices.Clone(was.Terms)
			is.Terms[n-1].End = l.stamp()
		}
	}
	if !goesOn {
		is.Terms = append(is.Terms, r.Terms...)
	}
	return &is
}

// recallLengths adds since when the waiters that waited already have waited, and the length of a lease that was not
// renewed since, if the first look does not tell them.
func (r *Row) recallLengths(was *Row) {
	is := *r.Primitive
	is.Owners, is.Queue.Waiters = slices.Clone(is.Owners), slices.Clone(is.Queue.Waiters)
	if len(is.Owners) == 1 && len(was.Owners) == 1 && sameTerm(&was.Owners[0], &is.Owners[0]) && sameDeadline(&was.Owners[0], &is.Owners[0]) {
		is.Owners[0].Lease = max(is.Owners[0].Lease, was.Owners[0].Lease) // what is left at the first look is less
	}
	waited := map[waiterKey]Stamp{}
	for i := range was.Queue.Waiters {
		waited[was.Queue.Waiters[i].key()] = was.Queue.Waiters[i].Since
	}
	for i := range is.Queue.Waiters {
		w := &is.Queue.Waiters[i]
		if since := waited[w.key()]; since.How != Unknown && (w.Since.How == Unknown || w.Since.How == AtLeast) {
			w.Since = since
		}
	}
	r.Primitive = &is
}

// believed returns the time up to which a row of the earlier run is believed: the last answer, or one pause before it
// if the row was polled.
func (k *Keyframe) believed(r *Row) time.Time {
	sc := &k.Scopes[r.Scope]
	return Later(Earlier(sc.Alive, k.At.Wall).Add(-sc.About.Sampling), r.At)
}
