package timeline

import (
	"slices"
	"sort"
	"time"

	"coordtop/sources"
)

// inWindow leaves of a lane what touches the window: the terms in it, the one before them, whose end
// begins a gap, and the one behind them, which ends one. Searching takes no longer for a long past.
func (w Window) inWindow(l Lane, now time.Time) Lane {
	first, last := w.within(l.Terms)
	l.Terms = l.Terms[max(first-1, 0):min(last+1, len(l.Terms))]
	end := w.End()
	from := sort.Search(len(l.Dark), func(i int) bool { return !l.Dark[i].From.Before(end) })
	l.Dark = l.Dark[:from]
	over := func(d sources.Dark) bool { return !endOf(d, now).After(w.Start) }
	if slices.ContainsFunc(l.Dark, over) {
		l.Dark = slices.DeleteFunc(slices.Clone(l.Dark), over)
	}
	return l
}

// within returns the terms that touch the window: terms[first:last].
func (w Window) within(terms []sources.Term) (first, last int) {
	end := w.End()
	first = sort.Search(len(terms), func(i int) bool { return terms[i].End.At.IsZero() || terms[i].End.At.After(w.Start) })
	last = sort.Search(len(terms), func(i int) bool { return !terms[i].Start.At.Before(end) })
	return first, max(first, last)
}

// endOf is when a stretch without observation was over: now, while it lasts.
func endOf(d sources.Dark, now time.Time) time.Time {
	if d.To.IsZero() {
		return now
	}
	return d.To
}
