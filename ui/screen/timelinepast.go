package screen

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/timeline"
)

// Past is what was recorded of a row, from before what is kept of it in memory.
type Past struct {
	Span history.Span // that was read of the recording
	history.Lane
	row   *sources.Row // that terms was joined for
	terms []sources.Term
}

// Add takes what was read beside what is there, or instead of it where the two do not meet.
func (p *Past) Add(span history.Span, l history.Lane) {
	if l.Before != nil {
		l.Terms = append([]sources.Term{*l.Before}, l.Terms...)
	}
	meets := !span.From.After(p.Span.To) && !p.Span.From.After(span.To)
	if p.row = nil; !meets || p.Span.From.IsZero() {
		p.Span, p.Lane = span, l
		return
	}
	p.Span = history.Span{From: sources.Earlier(p.Span.From, span.From), To: sources.Later(p.Span.To, span.To)}
	p.Since = l.Since
	p.Terms = merged(l.Terms, p.Terms, func(a, b sources.Term) int {
		return cmp.Or(a.Start.At.Compare(b.Start.At), cmp.Compare(a.Owner.ID, b.Owner.ID))
	})
	p.Levels = merged(l.Levels, p.Levels, func(a, b sources.Level) int { return a.At.Compare(b.At) })
	p.Dark = merged(l.Dark, p.Dark, func(a, b sources.Dark) int { return a.From.Compare(b.From) })
}

// merged is both lists in order, with one of those that compare equal: the one of fresh.
func merged[T any](fresh, old []T, compare func(a, b T) int) []T {
	all := slices.Concat(fresh, old)
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b T) bool { return compare(a, b) == 0 })
}

// Whole reports whether nothing is recorded from before what was read.
func (p *Past) Whole() bool {
	return !p.Since.IsZero() && !p.Since.Before(p.Span.From) || p.Since.IsZero()
}

// ObservedFrom is the first instant from a time on at which the row was observed and recorded; zero:
// there is none.
func (p *Past) ObservedFrom(at time.Time) time.Time {
	if p.Since.IsZero() {
		return time.Time{}
	}
	at = sources.Later(at, sources.Later(p.Since, p.Span.From))
	for _, d := range p.Dark {
		if d.From.After(at) {
			break
		}
		if d.To.IsZero() {
			return time.Time{}
		}
		at = sources.Later(at, d.To)
	}
	return at
}

// JoinPast joins what was recorded of a row to what is kept of it in memory.
func JoinPast(sc *Scene, row *sources.Row) {
	if p := sc.Time.Past[row.Ref]; p != nil && p.row != row {
		p.row, p.terms = row, joined(p.Terms, row.Terms, memoryBegins(sc, row))
	}
}

// memoryBegins is from when on what is kept of a row in memory is whole.
func memoryBegins(sc *Scene, row *sources.Row) time.Time {
	if since := row.RecordedSince(sc.State); !since.IsZero() {
		return since
	}
	return sc.State.At // it was not listed yet
}

// KnownFrom is from when on all that is recorded of a row is known here; zero: nothing is recorded
// before that.
func KnownFrom(sc *Scene, row *sources.Row) time.Time {
	if spans := unreadOf(sc, row); len(spans) > 0 {
		return spans[len(spans)-1].To
	}
	return time.Time{}
}

// unreadOf is what of a row may be recorded, and was not read.
func unreadOf(sc *Scene, row *sources.Row) (spans []timeline.Span) {
	if !sc.Time.Reads {
		return nil
	}
	begins, p := memoryBegins(sc, row), sc.Time.Past[row.Ref]
	if p == nil {
		return []timeline.Span{{To: begins}}
	}
	if !p.Whole() {
		spans = append(spans, timeline.Span{To: sources.Earlier(p.Span.From, begins)})
	}
	if p.Span.To.Before(begins) {
		spans = append(spans, timeline.Span{From: p.Span.To, To: begins})
	}
	return spans
}

// withPast is a lane with what was recorded before it.
func withPast(sc *Scene, row *sources.Row, lane timeline.Lane) timeline.Lane {
	lane.Unread = unreadOf(sc, row)
	p := sc.Time.Past[row.Ref]
	if p == nil || p.Since.IsZero() || p.row == nil {
		return lane
	}
	begins := memoryBegins(sc, row)
	if since := sources.Later(p.Since, p.Span.From); since.Before(begins) {
		before := slices.DeleteFunc(slices.Clone(p.Dark), func(d sources.Dark) bool { return !d.From.Before(begins) })
		if n := len(before) - 1; n >= 0 && (before[n].To.IsZero() || before[n].To.After(begins)) {
			before[n].To = begins
		}
		if p.Span.To.Before(begins) { // between the two nothing was read
			before = append(before, sources.Dark{From: p.Span.To, To: begins})
		}
		lane.Dark, lane.Since = append(before, lane.Dark...), since
	}
	if !row.Leveled() {
		lane.Terms = p.terms
	}
	return lane
}

// joined is the terms of a recording from before since, and those of memory. A term that goes on
// in both is one.
func joined(past, live []sources.Term, since time.Time) []sources.Term {
	hues := sameHues(past, live)
	var all []sources.Term
	for _, t := range past {
		first := since
		if len(live) > 0 {
			first = live[0].Start.At
		}
		if !t.Start.At.Before(sources.Earlier(first, since)) && len(live) > 0 {
			continue
		}
		t.Hue = hues[t.Hue]
		if over := t.End.At; over.IsZero() || over.After(first) || t.End.How == sources.Bound {
			if len(live) > 0 && sameOwner(live[0].Owner, t.Owner) {
				live = slices.Clone(live)
				live[0].Start = t.Start
				continue
			}
			if over.IsZero() || over.After(first) {
				t.End = sources.Stamp{At: first, How: sources.Bound}
			}
		}
		all = append(all, t)
	}
	return append(all, live...)
}

func sameOwner(a, b sources.OwnerRef) bool {
	return a.ID == b.ID && (a.Fence == b.Fence || a.Fence == 0 || b.Fence == 0)
}

// sameHues maps the hues of a recording to those of memory: a program keeps the letter that it has
// in the list, and one that is in the recording alone has a letter of its own.
func sameHues(past, live []sources.Term) map[uint8]uint8 {
	hues, next := map[uint8]uint8{}, uint8(0)
	for i := range live {
		next = max(next, live[i].Hue+1)
	}
	for i := range past {
		t := &past[i]
		if _, known := hues[t.Hue]; known {
			continue
		}
		same := slices.IndexFunc(live, func(l sources.Term) bool {
			return l.SameProgram(t.Owner, t.Program)
		})
		if same >= 0 {
			hues[t.Hue] = live[same].Hue
			continue
		}
		hues[t.Hue] = next
		next++
	}
	return hues
}

// levelsOf are the counts of a semaphore, also those that were recorded before what is kept in
// memory.
func levelsOf(sc *Scene, row *sources.Row) iter.Seq[sources.Level] {
	p := sc.Time.Past[row.Ref]
	if p == nil || len(p.Levels) == 0 {
		return row.Levels()
	}
	return func(yield func(sources.Level) bool) {
		at := 0
		for l := range row.Levels() {
			for ; at < len(p.Levels) && p.Levels[at].At.Before(l.At); at++ {
				if !yield(p.Levels[at]) {
					return
				}
			}
			at = len(p.Levels)
			if !yield(l) {
				return
			}
		}
	}
}

// ownerTermsOf are the terms of a semaphore's owners, also those that were recorded before what is
// kept in memory, and from when on they are whole.
func ownerTermsOf(sc *Scene, row *sources.Row) (terms []sources.Term, since time.Time) {
	terms, since = row.OwnerTerms(), row.OwnerTermsSince(sc.State)
	p := sc.Time.Past[row.Ref]
	if p == nil || p.Since.IsZero() {
		return terms, since
	}
	hues := sameHues(p.Terms, terms)
	for _, t := range p.Terms {
		if !t.Start.At.Before(since) {
			continue
		}
		if at := slices.IndexFunc(terms, func(l sources.Term) bool {
			return l.Start.How == sources.AtLeast && sameOwner(l.Owner, t.Owner)
		}); at >= 0 {
			terms[at].Start = t.Start
			continue
		}
		if t.End.At.IsZero() || t.End.At.After(since) {
			t.End = sources.Stamp{At: since, How: sources.Bound}
		}
		t.Hue = hues[t.Hue]
		terms = append(terms, t)
	}
	return terms, sources.Earlier(since, sources.Later(p.Since, p.Span.From))
}
