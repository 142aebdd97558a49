package history

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// Past is the part of a primitive's recording that was read, see Query.
type Past struct {
	Span Span          // that was read
	Step time.Duration // width of the columns for which terms were left out; 0: no terms were
	Lane               // Before is one of the Terms

	joined   []sources.Term // Terms merged with those of joinedTo, for one version of a row
	joinedTo *sources.Row   // nil: not merged yet
}

// Add joins another part that was read. If it does not touch the present part, it replaces that.
func (p *Past) Add(span Span, l Lane) {
	p.joinedTo = nil
	if l.Before != nil {
		l.Terms = append([]sources.Term{*l.Before}, l.Terms...)
	}
	meets := !span.From.After(p.Span.To) && !p.Span.From.After(span.To)
	if !meets || p.Span.From.IsZero() {
		p.Span, p.Lane = span, l
		return
	}
	p.Span = Span{From: sources.Earlier(p.Span.From, span.From), To: sources.Later(p.Span.To, span.To)}
	p.Since = l.Since
	p.Terms = mergeLists(l.Terms, p.Terms, func(a, b sources.Term) int {
		return cmp.Or(a.Start.At.Compare(b.Start.At), cmp.Compare(a.Owner.ID, b.Owner.ID))
	})
	p.Levels = mergeLists(l.Levels, p.Levels, func(a, b sources.Level) int { return a.At.Compare(b.At) })
	p.Dark = mergeLists(l.Dark, p.Dark, func(a, b sources.Dark) int { return a.From.Compare(b.From) })
	p.Holes = mergeLists(l.Holes, p.Holes, func(a, b Hole) int { return a.From.Compare(b.From) })
}

// Forget drops everything that ended before an instant, except the last term and level.
func (p *Past) Forget(before time.Time) {
	if !p.Span.From.Before(before) {
		return
	}
	p.Span.From = before
	over := func(end time.Time) bool { return !end.IsZero() && !end.After(before) }
	terms := p.Terms[:0]
	for i := range p.Terms {
		if t := &p.Terms[i]; !over(t.End.At) || i+1 == len(p.Terms) || !over(p.Terms[i+1].End.At) {
			terms = append(terms, *t)
		}
	}
	p.Terms = terms
	next := slices.IndexFunc(p.Levels, func(l sources.Level) bool { return l.At.After(before) })
	p.Levels = p.Levels[max(next-1, 0):]
	p.Dark = slices.DeleteFunc(p.Dark, func(d sources.Dark) bool { return over(d.To) })
	p.Holes = slices.DeleteFunc(p.Holes, func(h Hole) bool { return over(h.To) })
}

// mergeLists returns both lists in order. If two elements compare equal, it keeps the one in fresh.
func mergeLists[T any](fresh, old []T, compare func(a, b T) int) []T {
	all := slices.Concat(fresh, old)
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b T) bool { return compare(a, b) == 0 })
}

// whole reports whether the recording has nothing older than what was read.
func (p *Past) whole() bool { return p.Since.IsZero() || !p.Since.Before(p.Span.From) }

// begins returns the first instant that is known from the part that was read.
func (p *Past) begins() time.Time { return sources.Later(p.Since, p.Span.From) }

// ObservedFrom returns the first instant, not before at, at which the primitive was observed and recorded; zero
// without such an instant.
func (p *Past) ObservedFrom(at time.Time) time.Time {
	if p.Since.IsZero() {
		return time.Time{}
	}
	forever := time.Unix(1<<40, 0) // after everything that is recorded
	for from := range lane.Observed(sources.Later(at, p.begins()), forever, p.Dark) {
		return from
	}
	return time.Time{}
}

// mergeDark returns the unobserved stretches, and the instant from which they are known. dark has those of memory,
// which is complete from begins on. The time between the end of the part that was read and begins counts as not
// observed.
func (p *Past) mergeDark(dark []sources.Dark, begins time.Time) (merged []sources.Dark, since time.Time) {
	if p.Since.IsZero() || !p.begins().Before(begins) {
		return dark, begins
	}
	for _, d := range p.Dark {
		if !d.From.Before(begins) {
			break
		}
		if d.To.IsZero() || d.To.After(begins) {
			d.To = begins
		}
		merged = append(merged, d)
	}
	if p.Span.To.Before(begins) {
		merged = append(merged, sources.Dark{From: p.Span.To, To: begins})
	}
	return append(merged, dark...), p.begins()
}

// mergeTerms returns the recorded terms from before begins, and then live, the terms of memory. It returns a term that
// is in both once.
func (p *Past) mergeTerms(live []sources.Term, begins time.Time) []sources.Term {
	many := p.Leveled()
	over := begins // end of the recorded terms
	if len(live) > 0 && !many {
		if first := live[0].Start; first.How == sources.AtLeast || first.At.Before(over) { // otherwise the lock was free before
			over = first.At
		}
		begins = sources.Earlier(begins, over)
	}
	hues := sameHues(p.Terms, live)
	live = slices.Clone(live)
	merged := make([]sources.Term, 0, len(p.Terms)+len(live))
	for _, t := range p.Terms {
		if !t.Start.At.Before(begins) && (many || len(live) > 0) {
			continue
		}
		t.Hue = hues[t.Hue]
		lasts := t.End.At.IsZero() || t.End.At.After(over)
		if lasts || t.End.How == sources.Bound {
			if i := goesOn(live, &t, many, over); i >= 0 {
				l := &live[i]
				if unseen := t.End.How == sources.Bound || p.Span.To.Before(l.Start.At); unseen && (l.Owner.Fence == 0 || l.Owner.Fence != t.Owner.Fence) { // nobody saw it continue
					l.Sure = sources.Later(l.Sure, l.Start.At)
				}
				l.Start, l.Sure, l.Every = t.Start, sources.Later(l.Sure, t.Sure), max(l.Every, t.Every)
				continue
			}
		}
		if lasts {
			t.End = sources.Stamp{At: over, How: sources.Bound}
		}
		merged = append(merged, t)
	}
	return append(merged, live...)
}

// goesOn returns the index in live of the term that continues t, whose end was not seen; negative if no term does. If
// only one can own at a time, only the first term can continue t, unless its start after over was seen. If several can
// own, only a term whose start was not seen can.
func goesOn(live []sources.Term, t *sources.Term, many bool, over time.Time) int {
	if !many {
		live = live[:min(len(live), 1)]
	}
	return slices.IndexFunc(live, func(l sources.Term) bool {
		a, b := l.Owner, t.Owner
		return (l.Start.How == sources.AtLeast || !many && !l.Start.At.After(over)) && a.ID == b.ID && (a.Fence == b.Fence || a.Fence == 0 || b.Fence == 0)
	})
}

// sameHues maps the hues of a recording to hues that fit memory: a program in memory keeps its hue, and a program that
// only the recording has gets an unused one.
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
		same := slices.IndexFunc(live, func(l sources.Term) bool { return l.SameProgram(t.Owner, t.Program) })
		if same >= 0 {
			hues[t.Hue] = live[same].Hue
			continue
		}
		hues[t.Hue] = next
		next++
	}
	return hues
}

// mergeLevels yields the recorded levels before the first of memory, and then those of memory.
func (p *Past) mergeLevels(live iter.Seq[sources.Level]) iter.Seq[sources.Level] {
	return func(yield func(sources.Level) bool) {
		past := p.Levels
		for l := range live {
			for ; len(past) > 0 && past[0].At.Before(l.At); past = past[1:] {
				if !yield(past[0]) {
					return
				}
			}
			past = nil
			if !yield(l) {
				return
			}
		}
	}
}
