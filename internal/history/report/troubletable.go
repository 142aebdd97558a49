package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// readTrouble reads the lanes, their trouble, and the longest waits.
func (r *Report) readTrouble(ctx context.Context, reader history.Reader, refs []sources.Ref) error {
	in, err := trouble.Read(ctx, reader, refs, r.Span, r.Actions, r.Thresholds)
	if err != nil {
		return err
	}
	r.lanes, r.acts, r.holes = in.Lanes, in.Acts, in.Holes()
	r.trouble = trouble.Worst(trouble.Find(&in))
	for _, w := range trouble.Waits(&in) {
		if w.Length.Min >= shortWait && len(r.waits) < mostWaits {
			r.waits = append(r.waits, w)
		}
	}
	return nil
}

// foremost is the number of primitives of each trouble that come first in the tables. More primitives of one trouble
// come after the first ones of all.
const foremost = 3

// chooseLanes orders the lanes: first those in trouble, then those that nobody owned for longest, unless they may be
// free. With all it first removes the lanes without a change or trouble.
func (r *Report) chooseLanes(all bool) {
	grave, free := map[sources.Ref]int{}, map[sources.Ref]time.Duration{}
	for i, n := 0, len(r.trouble); i < n; i++ {
		for j, ref := range r.trouble[i].Refs {
			order := i - n
			if j < foremost {
				order -= n
			}
			grave[ref] = min(grave[ref], order)
		}
	}
	if all {
		r.lanes = slices.DeleteFunc(r.lanes, func(l history.Lane) bool {
			return grave[l.Ref] == 0 && len(l.Terms) < 2 && lane.Changes(l.Terms, r.Span.From) == 0 && len(l.Gaps(r.Span)) == 0
		})
	}
	for i := range r.lanes {
		if l := &r.lanes[i]; l.Kind != sources.KindMutex {
			known := l.Known()
			free[l.Ref] = known.Sum(r.Span, r.Span.To).Nobody.Max
		}
	}
	slices.SortStableFunc(r.lanes, func(x, y history.Lane) int {
		if order := grave[x.Ref] - grave[y.Ref]; order != 0 || grave[x.Ref] < 0 {
			return order
		}
		return cmp.Compare(free[y.Ref], free[x.Ref])
	})
}

// words returns functions that write names as table cells.
func (r *Report) words() trouble.Words { return trouble.Words{Ref: r.called, Text: cell} }

// summarized is the most troubles that the first paragraph describes.
const summarized = 3

// summary writes the worst trouble in plain words.
func (r *Report) summary(b *strings.Builder) {
	if len(r.trouble) == 0 {
		fmt.Fprintf(b, "Nothing is known to have gone wrong in what was recorded: no election was seen without a leader for %s, nobody is known to have lost what they owned against their will, nobody was seen to wait for long, and every source answered.",
			format.Precise(cmp.Or(r.Thresholds, sources.DefaultThresholds()).LossGap))
		if n := r.unknownEnds(); n > 0 {
			fmt.Fprintf(b, " Why what was owned ended is not known of %s of the ends.", format.Count(n))
		}
		b.WriteString("\n")
		return
	}
	w := r.words()
	for i := range r.trouble[:min(len(r.trouble), summarized)] {
		t := &r.trouble[i]
		if i > 0 {
			b.WriteString(" ")
		}
		from := "From " + r.clock(t, t.From)
		switch {
		case t.From.Before(r.Span.From):
			from = "Before that, since " + r.clock(t, t.From)
		case t.Lasts():
			from = "Since " + r.clock(t, t.From)
		case t.To.IsZero() || !t.To.After(t.From) || t.Kind == trouble.Lost:
			from = "At " + r.clock(t, t.From)
		default:
			from += " to " + r.clock(t, t.To)
		}
		text := from + " " + t.What(w)
		if why := t.Why(w); why != "" {
			text += ": " + why
		}
		if then := t.Then(w); then != "" {
			text += "; " + then
		}
		b.WriteString(strings.TrimSuffix(text, ".") + ".")
	}
	if n := len(r.trouble) - summarized; n > 0 {
		verb := "stand"
		if n == 1 {
			verb = "stands"
		}
		fmt.Fprintf(b, " %s more %s in the table.", format.Count(n), verb)
	}
	b.WriteString("\n")
}

// unknownEnds counts the ends that were seen but have an unknown cause.
func (r *Report) unknownEnds() (n int) {
	for i := range r.lanes {
		for j := range r.lanes[i].Terms {
			if t := &r.lanes[i].Terms[j]; t.End.Happened() && t.Cause == sources.CauseUnknown {
				n++
			}
		}
	}
	return n
}

// clock returns a time for a sentence, with milliseconds if the trouble was short, and with the date if it is not on
// the first day.
func (r *Report) clock(t *trouble.Trouble, at time.Time) string {
	layout := "15:04:05"
	if !t.To.IsZero() && t.To.Sub(t.From) < time.Minute {
		layout += ".000"
	}
	if at.In(r.Zone).Format(time.DateOnly) != r.Span.From.In(r.Zone).Format(time.DateOnly) {
		layout = "2006-01-02 " + layout
	}
	return at.In(r.Zone).Format(layout)
}

// troubleTable writes a line for each trouble, the worst first.
func (r *Report) troubleTable(b *strings.Builder) {
	if len(r.trouble) == 0 {
		return
	}
	w := r.words()
	b.WriteString("\n## What went wrong\n\nThe worst first.\n\n| from | length | what | why | then |\n|---|--:|---|---|---|\n")
	for i := range r.trouble[:min(len(r.trouble), mostRows)] {
		t := &r.trouble[i]
		from := r.at(t.From)
		if t.From.Before(r.Span.From) {
			from = "began before: " + from
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", from, t.Lasted(r.Span.To), t.What(w), t.Why(w), t.Then(w))
	}
	if n := len(r.trouble); n > mostRows {
		fmt.Fprintf(b, "\nThese are the worst of %s.\n", format.Count(n))
	}
}

// The waits that a report lists.
const (
	mostWaits = 20
	shortWait = time.Second // shorter waits are left out
)

// waitTable writes a line for each of the longest waits.
func (r *Report) waitTable(b *strings.Builder) {
	b.WriteString("\n## Longest waits\n\n")
	if len(r.waits) == 0 {
		b.WriteString("Nobody was seen to wait for a second. Not every server tells who waits.\n")
		return
	}
	b.WriteString("| from | to | waited | primitive | who | under | end |\n|---|---|--:|---|---|---|---|\n")
	for i := range r.waits {
		w := &r.waits[i]
		under := ""
		if at := slices.IndexFunc(r.lanes, func(l history.Lane) bool { return l.Ref == w.Refs[0] }); at >= 0 {
			under = ownersOf(trouble.Under(&r.lanes[at], w))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.at(w.From), r.at(w.To), w.Length.Short(), r.called(w.Refs[0]), cell(w.Who.Name()), under, w.Detail)
	}
}
