package history

import (
	"iter"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// Query answers who owned a row, from memory and the recording together. Memory is complete from one instant on, so
// only the recording before that instant is used, even if a clock that was set back gave the recording later times. A
// Query is not safe for concurrent use with other Queries that have the same Past.
type Query struct {
	State        *sources.State
	Row          *sources.Row
	RecordedOnly bool                  // only the recording has the row, and no State
	Reads        bool                  // there is a recording to read the rest from
	Past         *Past                 // the part of it that was read; nil: nothing was read
	Totals       map[sources.Ref]Total // the recording's sums for the span of Sum; nil: they were not read
}

// memorySince returns the time from which on memory is complete; zero if memory does not have the row.
func (q Query) memorySince() time.Time {
	if q.RecordedOnly {
		return time.Time{}
	}
	return q.Row.RecordedSince(q.State)
}

// begins returns the beginning of the time for which memory is used.
func (q Query) begins() time.Time {
	if since := q.memorySince(); !since.IsZero() {
		return since
	}
	if q.RecordedOnly && q.Past != nil {
		return q.Past.Span.To
	}
	return q.State.At // the row was not listed yet
}

// unread returns the spans that may be recorded and were not read.
func (q Query) unread() (spans []Span) {
	if !q.Reads {
		return nil
	}
	begins, p := q.begins(), q.Past
	if p == nil {
		return []Span{{To: begins}}
	}
	if !p.whole() {
		spans = append(spans, Span{To: sources.Earlier(p.Span.From, begins)})
	}
	if p.Span.To.Before(begins) {
		spans = append(spans, Span{From: p.Span.To, To: begins})
	}
	return spans
}

// KnownFrom returns the time from which on everything recorded of the row was read; zero if everything was read.
func (q Query) KnownFrom() time.Time {
	if spans := q.unread(); len(spans) > 0 {
		return spans[len(spans)-1].To
	}
	return time.Time{}
}

// Missing returns the part of longer that must be read so that all of window is known. It returns false if nothing must
// be read.
func (q Query) Missing(window, longer Span) (Span, bool) {
	p, known := q.Past, q.memorySince()
	switch {
	case !known.IsZero() && !window.From.Before(known):
		return Span{}, false
	case p == nil || window.To.Before(p.Span.From) || window.From.After(p.Span.To):
		return longer, true
	case window.From.Before(p.Span.From) && !p.whole():
		return Span{From: longer.From, To: p.Span.From}, true
	case p.Span.To.Before(window.To) && p.Span.To.Before(known):
		return Span{From: p.Span.To, To: longer.To}, true
	}
	return Span{}, false
}

// Lane returns the lane of the row. It has no terms if several can own the row at once, see Owners.
func (q Query) Lane() lane.Lane {
	l, begins, p := q.Row.Lane(q.State), q.begins(), q.Past
	if l.Unread = q.unread(); q.RecordedOnly {
		l.Dark = q.darkBehind(l.Dark, begins)
	}
	if p == nil || p.Since.IsZero() {
		return l
	}
	if dark, since := p.mergeDark(l.Dark, begins); since.Before(begins) {
		l.Dark, l.Since = dark, since
	}
	if !q.Row.Leveled() {
		if p.joinedTo != q.Row {
			p.joinedTo, p.joined = q.Row, p.mergeTerms(q.Row.Terms, begins)
		}
		l.Terms = p.joined
	}
	return l
}

// darkBehind returns the unobserved stretches, after from, of a row that only the recording has. While its source is
// observed, the missing row means that nobody owns it.
func (q Query) darkBehind(list []sources.Dark, from time.Time) (dark []sources.Dark) {
	for _, d := range list {
		if d.To.IsZero() || d.To.After(from) {
			d.From = sources.Later(d.From, from)
			dark = append(dark, d)
			from = d.To
		}
	}
	if !from.IsZero() && !q.Row.Watched(q.State) {
		dark = append(dark, sources.Dark{From: from})
	}
	return dark
}

// Levels yields the levels of a semaphore.
func (q Query) Levels() iter.Seq[sources.Level] {
	if q.Past != nil {
		return q.Past.mergeLevels(q.Row.Levels())
	}
	return q.Row.Levels()
}

// Owners returns the terms of a semaphore's owners, and the time from which on these are complete.
func (q Query) Owners() (terms []sources.Term, since time.Time) {
	terms, since = q.Row.OwnerTerms(), q.Row.OwnerTermsSince(q.State)
	if p := q.Past; p != nil && !p.Since.IsZero() {
		terms = p.mergeTerms(terms, since)
		_, since = p.mergeDark(nil, since)
	}
	return terms, since
}

// Holes returns a lane that has only the holes in the record. It leaves out a hole without an end, because that may
// have ended since it was read.
func (q Query) Holes(now time.Time) (recorded Lane) {
	if q.Past != nil {
		recorded.Holes = slices.DeleteFunc(slices.Clone(q.Past.Holes), func(h Hole) bool { return h.To.IsZero() || !h.From.Before(now) })
	}
	return recorded
}

// Sum sums up a span as if it ended at now, if that is earlier. The changes of a semaphore are those of its count.
// unread reports that a part of the span was not read; then the sum is the one in Totals, if there is one.
func (q Query) Sum(span Span, now time.Time) (sum lane.Sum, unread bool) {
	l := q.Lane()
	sum = l.Sum(span, now)
	if q.Row.Leveled() {
		sum.Changes += q.recounted(span)
	}
	if sum.Unread == 0 || q.Totals == nil {
		return sum, sum.Unread > 0
	}
	if t, recorded := q.Totals[q.Row.Ref]; recorded {
		return t.Sum, true
	}
	sum.Unseen, sum.Unread = sum.Unseen+sum.Unread, 0
	return sum, true
}

// recounted counts the changes of a semaphore's count in a span.
func (q Query) recounted(span Span) (n int) {
	first := true
	for l := range q.Levels() {
		if !first && !l.At.Before(span.From) && l.At.Before(span.To) {
			n++
		}
		first = false
	}
	return n
}

// Change returns the last change before an instant, or with step 1 the first one after it; zero if none is known.
func (q Query) Change(at time.Time, step int) (found time.Time) {
	look := func(t time.Time) {
		if step < 0 && t.Before(at) && t.After(found) || step > 0 && t.After(at) && (found.IsZero() || t.Before(found)) {
			found = t
		}
	}
	first := true
	for l := range q.Levels() {
		if !first {
			look(l.At)
		}
		first = false
	}
	terms := q.Lane().Terms
	for i := range terms {
		if s := terms[i].Start; s.Happened() {
			look(s.At)
		}
		if e := terms[i].End; !e.At.IsZero() && e.How != sources.Bound { // otherwise nobody saw it end
			look(e.At)
		}
	}
	return found
}

// Record returns everything that is known of the row in a span, in the form of a recorded Lane. Its Dark includes the
// time of which nothing is known.
func (q Query) Record(span Span) Lane {
	l := q.Lane()
	dark := slices.Clone(l.Dark)
	for _, u := range l.Unread {
		dark = append(dark, sources.Dark(u))
	}
	if l.Since.After(span.From) {
		dark = append(dark, sources.Dark{From: span.From, To: l.Since})
	}
	slices.SortFunc(dark, func(a, b sources.Dark) int { return a.From.Compare(b.From) })
	record := Lane{Ref: q.Row.Ref, Kind: q.Row.Kind, Terms: l.Terms, Dark: dark, Since: l.Since}
	if q.Row.Leveled() {
		record.Levels, record.Terms = slices.Collect(q.Levels()), nil
	}
	return record
}
