package headless

import (
	"io"
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// HistoryOptions are the options of History.
type HistoryOptions struct {
	Format Format
	Gaps   bool // the times without an owner instead of the terms
	Span   history.Span
	Past   bool            // the span ends before now, and what is recorded may not
	Zone   *time.Location  // of text
	Acts   []sources.Event // what people did, see history.ForcedBy
	// Aliases are shown beside the numbers that they stand for.
	Aliases map[sources.Ref]history.Alias
}

// past is one line of History: a term, a gap, or a time that was not observed.
type past struct {
	lane *history.Lane
	from time.Time
	term int              // its number; -1: no term
	by   string           // who ended it by force; "": nobody is known to have
	held sources.Interval // by the owner of the term
	gap  lane.Gap
	dark history.Unknown
}

// History prints what is recorded of each lane, the oldest first.
func History(out io.Writer, lanes []history.Lane, o HistoryOptions) error {
	var table [][]string
	for i := range lanes {
		for _, p := range pastOf(&lanes[i], o) {
			if o.Format == JSON {
				if err := writeLine(out, p.json(o.Aliases[p.lane.Ref])); err != nil {
					return err
				}
				continue
			}
			if len(table) == 0 {
				table = [][]string{{"WHAT", "NAME", "START " + zoneOf(o), "END " + zoneOf(o), "LENGTH", "OWNER", "FENCE", "CAUSE", "GAP BEFORE"}}
			}
			table = append(table, p.text(o))
		}
	}
	if len(table) == 0 {
		return nil
	}
	return align(out, table)
}

// zoneOf names the zone of the times; both, where daylight saving begins or ends within the span.
func zoneOf(o HistoryOptions) string {
	from, to := o.Span.From.In(o.Zone).Format("MST"), o.Span.To.In(o.Zone).Format("MST")
	if from == to {
		return to
	}
	return from + "/" + to
}

// pastOf returns the lines of a lane, sorted by their start.
func pastOf(l *history.Lane, o HistoryOptions) []past {
	var lines []past
	known, before := lane.Lane{Terms: l.Terms, Dark: l.Dark}, 0
	if l.Before != nil {
		known.Terms, before = slices.Insert(slices.Clone(l.Terms), 0, *l.Before), 1
	}
	if o.Gaps || len(l.Terms) == 0 && !l.Leveled() {
		for _, g := range l.Gaps(o.Span) {
			lines = append(lines, past{lane: l, from: g.Start.At, term: -1, gap: g})
		}
	} else {
		for i := range l.Terms {
			p := past{lane: l, from: l.Terms[i].Start.At, term: i, by: history.ForcedBy(l.Ref, &l.Terms[i], o.Acts), held: known.Length(before+i, o.Span.To)}
			if before+i > 0 && !l.Leveled() {
				p.gap = known.GapAfter(before+i-1, p.from)
			}
			lines = append(lines, p)
		}
	}
	for _, d := range l.WhyUnknown(notObserved(l, o.Span)) {
		if !d.From.Before(o.Span.To) || !d.To.IsZero() && !o.Span.From.Before(d.To) {
			continue
		}
		d.From = sources.Later(d.From, o.Span.From)
		if !d.To.IsZero() {
			d.To = sources.Earlier(d.To, o.Span.To)
		}
		lines = append(lines, past{lane: l, from: d.From, term: -1, dark: d})
	}
	slices.SortStableFunc(lines, func(a, b past) int { return a.from.Compare(b.from) })
	return lines
}

// notObserved returns the times in span in which a lane was not observed, including the time before the
// first look at it: a run that recorded other sources then knows nothing about this one.
func notObserved(l *history.Lane, span history.Span) []sources.Dark {
	first := sources.Dark{From: span.From, To: sources.Earlier(l.Since, span.To)}
	if !first.From.Before(first.To) || len(l.Terms) > 0 && l.Terms[0].Start.How != sources.AtLeast {
		return l.Dark
	}
	rest := l.Dark
	for ; len(rest) > 0 && !rest[0].From.After(first.To); rest = rest[1:] { // they are one stretch
		if rest[0].To.IsZero() {
			return []sources.Dark{{From: first.From}}
		}
		first.To = sources.Later(first.To, rest[0].To)
	}
	return append([]sources.Dark{first}, rest...)
}

// goesOn returns the end of a term or gap that was not over at the end of the span.
func (o *HistoryOptions) goesOn() string {
	if o.Past {
		return "≥ " + o.Span.To.In(o.Zone).Format(clock)
	}
	return "it lasts"
}

// text returns a line of the table.
func (p *past) text(o HistoryOptions) []string {
	zone := o.Zone
	at := func(s sources.Stamp) string {
		switch s.How {
		case sources.Unknown:
			return "-"
		case sources.AtLeast:
			return "≤ " + s.At.In(zone).Format(clock)
		case sources.Bound:
			return "≥ " + s.At.In(zone).Format(clock)
		case sources.Told:
			return s.At.In(zone).Format(clock)
		}
		return "~ " + s.At.In(zone).Format(clock)
	}
	name := format.Clean(p.lane.Ref.Source+"/"+p.lane.Ref.Name, maxText) + aside(o.Aliases[p.lane.Ref].Text)
	switch {
	case p.term >= 0:
		t := &p.lane.Terms[p.term]
		held, gap, cause, fence, end := "?", "-", "-", "-", at(t.End)
		if p.held != (sources.Interval{}) {
			held = p.held.Short()
		}
		known := lane.Lane{Dark: p.lane.Dark}
		if t.End.How == sources.Unknown && known.Observed(lane.Span{From: o.Span.To.Add(-1), To: o.Span.To}) > 0 {
			end = o.goesOn()
		}
		if p.gap.Sum.Max > 0 {
			gap = p.gap.Short()
		}
		if endSeen(t) {
			cause = t.Why()
		}
		if p.by != "" {
			cause = sources.CauseEvicted.String() + " by " + format.Clean(p.by, maxText)
		}
		if f := number(t.Owner.Fence); f != nil {
			fence = *f
		}
		return []string{"term", name, at(t.Start), end, held, format.Clean(t.Owner.Name(), maxText), fence, cause, gap}
	case p.gap.Sum.Max > 0:
		end := at(p.gap.End)
		if p.gap.Lasts {
			end = o.goesOn()
		}
		return []string{"gap", name, at(p.gap.Start), end, p.gap.Short(), "-", "-", "-", "-"}
	}
	length, end := "-", "-"
	if !p.dark.To.IsZero() {
		length, end = format.Precise(p.dark.To.Sub(p.dark.From)), p.dark.To.In(zone).Format(clock)
	}
	return []string{p.dark.Why.String(), name, p.dark.From.In(zone).Format(clock), end, length, "-", "-", "-", "-"}
}

// endSeen reports whether a term ended, and was seen to.
func endSeen(t *sources.Term) bool {
	return t.End.How != sources.Unknown && t.End.How != sources.Bound
}
