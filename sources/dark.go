package sources

import (
	"slices"
	"time"
)

// Unobserved returns the stretches in which the row was not observed since it was first
// read, oldest first: those of its scope, and those in which its own owners were unknown, or may
// have changed and changed back unseen (Change.Unseen). They may overlap. s is the
// State that the row is from; the result must not be changed.
func (r *Row) Unobserved(s *State) []Dark {
	return mergeDark(s.scopeOf(r).Dark, r.OwnersUnknown.stretches())
}

// mergeDark returns both lists in one, ordered by From. It copies only where neither is empty.
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

// maxDark bounds the stretches that are kept of a scope, and of a row.
const maxDark = 256

// darkAge is the age at which an ended stretch may be dropped, when the next one begins.
const darkAge = 24 * time.Hour

// DarkList is the stretches of one row, oldest first. A published list is never
// changed: each change makes a new one.
type DarkList struct{ List []Dark }

// stretches returns the list; l may be nil.
func (l *DarkList) stretches() []Dark {
	if l == nil {
		return nil
	}
	return l.List
}

// withDark returns the list with a new stretch from on, unless one lasts. Stretches are on
// the wall clock, because the monotonic one stops while this machine sleeps.
func withDark(list []Dark, from time.Time) []Dark {
	if lasts(list) {
		return list
	}
	first := max(0, len(list)-(maxDark-1))
	for first < len(list) && list[first].To.Before(from.Add(-darkAge)) {
		first++
	}
	return append(slices.Clone(list[first:]), Dark{From: from.Round(0)})
}

// withDarkEnd returns the list with the lasting stretch ended, or without it where it has no length.
func withDarkEnd(list []Dark, to time.Time) []Dark {
	n := len(list)
	if !lasts(list) {
		return list
	}
	if !to.After(list[n-1].From) {
		return list[:n-1]
	}
	list = slices.Clone(list)
	list[n-1].To = to.Round(0)
	return list
}

// unseen adds a stretch that has ended, and joins it to the last one where they meet. It begins
// no earlier than the look that last showed the row to be free.
func (r *Row) unseen(from, to time.Time) {
	from = Later(from, r.Nobody.At)
	list := r.OwnersUnknown.stretches()
	n := len(list)
	switch {
	case lasts(list):
		return
	case n > 0 && !list[n-1].To.Before(from):
		from = list[n-1].From
		to = Later(to, list[n-1].To)
		list = list[:n-1]
	}
	r.OwnersUnknown = &DarkList{withDarkEnd(withDark(list, from), to)}
}

// wentDark reports whether a dark stretch began between from and to. An earlier one had ended when
// the row was read at from.
func wentDark(from, to time.Time, dark []Dark) bool {
	return slices.ContainsFunc(dark, func(d Dark) bool { return !d.From.Before(from) && d.From.Before(to) })
}

// RecordedSince returns the start of the complete record of the row's terms, or levels; zero:
// nothing was observed yet. The time before was not observed, or its record is not kept any
// more. s is the State that the row is from.
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

// Darkened returns s with scopes and rows shown as stale that were not observed then, as became known only
// later. since returns the start of the dark stretch of a scope (row is nil), or of one row; zero: it was
// observed. Dark stretches in s stay.
func (s *State) Darkened(since func(c *Scope, row *Row) time.Time) *State {
	out := *s
	out.Scopes, out.Sources, out.Rows = slices.Clone(s.Scopes), slices.Clone(s.Sources), slices.Clone(s.Rows)
	for i := range out.Scopes {
		c := &out.Scopes[i]
		from := since(c, nil)
		if from.IsZero() || c.Health != HealthLive || c.Since.IsZero() || lasts(c.Dark) {
			continue
		}
		c.Health, c.Dark = HealthStale, withDark(c.Dark, from)
		if at := slices.IndexFunc(out.Sources, func(f SourceStatus) bool { return f.Name == c.Source }); at >= 0 {
			out.Sources[at].Health = HealthStale
		}
	}
	for i, row := range out.Rows {
		if row == nil || !row.Fresh(&out) || lasts(row.OwnersUnknown.stretches()) {
			continue
		}
		if from := since(&out.Scopes[row.Scope], row); !from.IsZero() {
			dark := *row
			dark.Listing--
			dark.OwnersUnknown = &DarkList{withDark(row.OwnersUnknown.stretches(), from)}
			out.Rows[i] = &dark
		}
	}
	return &out
}

// lasts reports whether the last stretch of a list has no end yet.
func lasts(list []Dark) bool { return len(list) > 0 && list[len(list)-1].To.IsZero() }

// Promptness bounds the age of a push, or of the look before, for a change to count as told at its
// instant.
const Promptness = 25 * time.Millisecond

// LookPace is the pause between two looks at a scope, Every, from an instant on; 0: writes are pushed.
type LookPace struct {
	From  time.Time
	Every time.Duration
}

// maxPaces bounds the paces that are kept of a scope.
const maxPaces = 32

// setPace records the pause between looks from at on. Beyond maxPaces, the two oldest paces become
// one with the longer pause.
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

// Every returns the longest pause between two looks at the scope from one instant to another; 0: all
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

// every returns the longest pause between two looks at the row in a stretch that this look ends; 0: any
// write would have been pushed. The look itself may be longer than the scope's pause. A late push counts
// as a look, unless a proof shows that the grant is the same.
func (l *look) every(from, to time.Time) time.Duration {
	if l.of == nil {
		return 0
	}
	every := l.of.Every(from, to)
	pause := l.at.Sub(l.after)
	if (every > 0 || l.unproved && pause > Promptness) && !l.after.IsZero() && !l.darkened() && !wentDark(l.after, l.at, l.of.Dark) {
		every = max(every, pause)
	}
	return every
}

// pacedTerms returns a list of terms with Every set for those that ran at this look, or ended by it.
// It copies a list that it changes.
func (l *look) pacedTerms(list []Term) []Term {
	own := false
	for i := max(0, len(list)-2); i < len(list); i++ {
		t := &list[i]
		from, to := t.Start.Earliest(), t.End.At
		if i > 0 {
			from = list[i-1].End.Earliest()
		}
		if to.IsZero() {
			to = l.at
		}
		if every := l.every(from, to); every > t.Every && !to.Before(l.at) {
			if !own {
				list, own = slices.Clone(list), true
			}
			list[i].Every = every
		}
	}
	return list
}
