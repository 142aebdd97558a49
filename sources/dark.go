package sources

import (
	"slices"
	"time"
)

// Unobserved returns the stretches in which the row was not observed since it was first
// read, oldest first: those of its scope, and those in which its own owners could not be
// told, or may have changed and changed back unseen (Change.Unseen). They may overlap. s is the
// State that the row is from; the result must not be changed.
func (r *Row) Unobserved(s *State) []Dark {
	var dark []Dark
	if r.Scope < len(s.Scopes) {
		dark = s.Scopes[r.Scope].Dark
	}
	return mergeDark(dark, r.OwnersUnknown.stretches())
}

// mergeDark returns both lists in one, in the order of their beginnings. It copies only
// where neither is empty.
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

// darkAge is how long a stretch is kept after its end, at least until the next begins.
const darkAge = 24 * time.Hour

// DarkList is the stretches of one row, oldest first. A published list is never
// changed: each change makes a new one.
type DarkList struct{ List []Dark }

// stretches are those in the list; nil: none.
func (l *DarkList) stretches() []Dark {
	if l == nil {
		return nil
	}
	return l.List
}

// withDark returns the list with a stretch that begins, unless one lasts. Its ends are on
// the wall clock, because the monotonic one stops while this machine sleeps.
func withDark(list []Dark, from time.Time) []Dark {
	if n := len(list); n > 0 && list[n-1].To.IsZero() {
		return list
	}
	first := max(0, len(list)-(maxDark-1))
	for first < len(list) && list[first].To.Before(from.Add(-darkAge)) {
		first++
	}
	return append(slices.Clone(list[first:]), Dark{From: from.Round(0)})
}

// withDarkEnd returns the list with the end of the stretch that lasts, or without it where it
// has no length.
func withDarkEnd(list []Dark, to time.Time) []Dark {
	n := len(list)
	if n == 0 || !list[n-1].To.IsZero() {
		return list
	}
	if !to.After(list[n-1].From) {
		return list[:n-1]
	}
	list = slices.Clone(list)
	list[n-1].To = to.Round(0)
	return list
}

// unseen adds a stretch that is over, to the last one where they meet. A time at which the row
// was seen to be free is not part of it.
func (r *Row) unseen(from, to time.Time) {
	from = Later(from, r.Nobody.At)
	list := r.OwnersUnknown.stretches()
	n := len(list)
	switch {
	case n > 0 && list[n-1].To.IsZero():
		return
	case n > 0 && !list[n-1].To.Before(from):
		from = list[n-1].From
		to = Later(to, list[n-1].To)
		list = list[:n-1]
	}
	r.OwnersUnknown = &DarkList{withDarkEnd(withDark(list, from), to)}
}

// wentDark reports whether a stretch that was not observed began between from and to. One
// that had begun before was over when the row was read at from.
func wentDark(from, to time.Time, dark []Dark) bool {
	return slices.ContainsFunc(dark, func(d Dark) bool { return !d.From.Before(from) && d.From.Before(to) })
}

// observedSince is since when the scope of the row is observed; zero: s has none of it.
func (r *Row) observedSince(s *State) time.Time {
	if r.Scope >= len(s.Scopes) {
		return time.Time{}
	}
	return s.Scopes[r.Scope].Since
}

// RecordedSince is from when on the terms, or levels, of the row are a whole record; zero:
// nothing was observed yet. Nothing is known of the time before: it was not observed, or its
// record is not kept any more. s is the State that the row is from.
func (r *Row) RecordedSince(s *State) time.Time {
	since := r.observedSince(s)
	switch {
	case len(r.Terms) == MaxTerms || len(r.Terms) > 0 && r.Activity != nil && r.Activity.Cut:
		return Later(since, r.Terms[0].Start.Earliest())
	case r.Leveled() && r.Counted.first().After(since):
		return r.Counted.first()
	}
	return since
}

// Darkened returns s with what was not observed then shown as stale, though that became known only later. since says from when on a
// scope (row is nil), or one row, was not observed; zero: it was. What s shows as dark stays so.
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

// Promptness is how long ago the server can have sent a push, or the look before can be, for what is told to count as
// told at its instant.
const Promptness = 25 * time.Millisecond

// LookPace is how far apart the looks at a scope are from an instant on; 0: writes are pushed.
type LookPace struct {
	From  time.Time
	Every time.Duration
}

// maxPaces bounds the paces that are kept of a scope.
const maxPaces = 32

// setPace keeps how far apart the looks are from at on. Of more than maxPaces the two oldest
// become one, which is the slower of both.
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

// Every is the longest pause between two looks at the scope from one instant to another; 0: all of
// it was pushed, as far as is kept.
func (s *Scope) Every(from, to time.Time) (longest time.Duration) {
	for i := range s.Paces {
		over := i+1 < len(s.Paces) && !s.Paces[i+1].From.After(from)
		if !over && s.Paces[i].From.Before(to) {
			longest = max(longest, s.Paces[i].Every)
		}
	}
	return longest
}

// every is the longest pause between two looks at the row in a stretch that this look ends; 0: any
// write would have been told. A pause may be longer than was told, by what the looks took. Where a push was
// held up, and no proof shows the grant to be the same, it is no more than a look.
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

// pacedTerms returns a list of terms with the paces of those that ran at this look, or ended by it.
// It copies what it changes.
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
