package lane

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// Span is a stretch of time: [From, To).
type Span struct{ From, To time.Time }

// length returns the length of the span; 0 where it ends before it begins.
func (s Span) length() time.Duration { return max(s.To.Sub(s.From), 0) }

// Lane is the record of one primitive that one alone can own.
type Lane struct {
	Terms  []Term        // oldest first, the running one last; they do not overlap
	Nobody Stamp         // since when nobody owns it; zero where somebody does
	Since  time.Time     // from when on there is a record; zero: there is none
	Dark   []Dark        // oldest first
	Unread []Span        // what was not read of a recording, oldest first: it hides all else
	Absent time.Time     // since when it does not exist; zero: it does
	Every  time.Duration // the longest pause between two looks since the last term; 0: it is pushed
}

// within returns the terms that touch a span: Terms[first:last].
func (l *Lane) within(s Span) (first, last int) {
	first = sort.Search(len(l.Terms), func(i int) bool { return l.Terms[i].End.How == Unknown || l.Terms[i].End.At.After(s.From) })
	last = sort.Search(len(l.Terms), func(i int) bool { return !l.Terms[i].Start.At.Before(s.To) })
	return first, max(first, last)
}

// Within returns l without the terms and darkness that no computation about the span needs.
func (l Lane) Within(s Span) Lane {
	first, last := l.within(s)
	l.Terms = l.Terms[max(first-1, 0):min(last+1, len(l.Terms))]
	l.Dark = l.Dark[:sort.Search(len(l.Dark), func(i int) bool { return !l.Dark[i].From.Before(s.To) })]
	over := func(d Dark) bool { return !d.To.IsZero() && !d.To.After(s.From) }
	if slices.ContainsFunc(l.Dark, over) {
		l.Dark = slices.DeleteFunc(slices.Clone(l.Dark), over)
	}
	return l
}

// unobserved returns the stretches that were not observed or not read. They must not be changed.
func (l *Lane) unobserved() []Dark {
	if len(l.Unread) == 0 {
		return l.Dark
	}
	all := slices.Clone(l.Dark)
	for _, u := range l.Unread {
		all = append(all, Dark(u))
	}
	slices.SortStableFunc(all, func(a, b Dark) int { return a.From.Compare(b.From) })
	return all
}

// Observed returns the part of a span that was observed.
func (l *Lane) Observed(s Span) time.Duration { return observed(s.From, s.To, l.unobserved()) }

// Length returns the time for which the owner of a term has owned it up to now, or did.
func (l *Lane) Length(i int, now time.Time) Interval {
	t := l.Terms[i]
	if t.End.How == Unknown {
		t = t.within(Span{To: now}, l.Dark)
	}
	return t.Held()
}

// within returns the part of a term in a span; a term without an end ends with the span, as far as it is known.
func (t Term) within(s Span, dark []Dark) Term {
	if t.Start.At.Before(s.From) {
		if t.Start.At = s.From; t.Start.Happened() || t.Start.How == AtLeast {
			t.Start = Stamp{At: s.From, How: Seen}
		}
	} else if t.Start.Earliest().Before(s.From) {
		t.Start = StampBetween(s.From, t.Start.At, t.Start.How)
	}
	switch {
	case t.End.How == Unknown:
		t.End = Stamp{At: t.Start.At, How: Bound}
		for _, to := range Observed(t.Start.At, s.To, dark) {
			t.End.At = to
		}
	case t.End.At.After(s.To):
		t.End = StampBetween(t.End.Earliest(), s.To, t.End.How)
	}
	return t
}

// Held returns the time for which the owner of an ended term owned it: see Event.Held.
func (t *Term) Held() Interval { return Length(t.Start, t.Sure, t.End, t.Every) }

// Length returns the time from start to end: see Term for sure and every. A start before the first look gives
// no upper bound, nor does an end that is only a bound; a start that is only a bound gives no lower bound, but
// that it was seen then; the clock of another gives neither.
func Length(start Stamp, sure time.Time, end Stamp, every time.Duration) Interval {
	if end.How == Unknown || start.At.IsZero() {
		return Interval{}
	}
	held := Interval{Max: max(0, end.At.Sub(start.Earliest())), Every: every}
	switch start.How {
	case Unknown, Claimed:
		if sure.IsZero() {
			return Interval{}
		}
		held.Max = Endless
	case Bound:
	case AtLeast:
		held.Max = Endless
		fallthrough
	default:
		sure = Later(sure, start.At)
	}
	if !sure.IsZero() {
		held.Min = max(0, end.Earliest().Sub(sure))
	}
	if end.How == Bound {
		held.Max = Endless
	}
	return held
}

// Dark is a stretch in which a scope, or one row of it, was not observed. To zero: it lasts.
type Dark struct{ From, To time.Time }

// Observed yields the beginning and the end of each piece of [from, to) that lies in no stretch of
// dark, which is in the order of its beginnings. What lies between two pieces was not observed.
func Observed(from, to time.Time, dark []Dark) iter.Seq2[time.Time, time.Time] {
	return func(yield func(from, to time.Time) bool) {
		at := from
		for _, d := range dark {
			if !d.From.Before(to) {
				break
			}
			if at.Before(d.From) && !yield(at, d.From) || d.To.IsZero() {
				return
			}
			at = Later(at, d.To)
		}
		if at.Before(to) {
			yield(at, to)
		}
	}
}

// observed returns the part of a stretch that lies in no stretch of dark.
func observed(from, to time.Time, dark []Dark) (sum time.Duration) {
	for from, to := range Observed(from, to, dark) {
		sum += to.Sub(from)
	}
	return sum
}
