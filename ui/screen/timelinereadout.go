package screen

import (
	"slices"
	"strconv"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// selectedLane returns the row of the lane under the cursor; nil without a row.
func selectedLane(sc *Scene) *sources.Row {
	h, ok := sc.Time.Lanes.Selected()
	if !ok {
		return nil
	}
	row, _ := sc.Rows.At(h)
	return row
}

// timeReadout draws two lines: the instant under the cursor with its marks, and the state of the selected
// lane then.
func timeReadout(sc *Scene, win timeline.Window, w int) []string {
	row := selectedLane(sc)
	head := []paint.Part{paint.Plain(" "), sc.Theme.Strong.Text(clockAt(sc, CursorAt(sc), win.Step)), sc.Theme.Dim.Text("  now")}
	if !sc.Time.At.IsZero() {
		head[2].Text = "  cursor"
	}
	first, second := sc.Theme.Line(w).Fit(append(head, marksAt(sc, win)...), w), sc.Theme.Line(w)
	if row != nil {
		only := "recorded only" + paint.When(!row.Watched(sc.State), ", unknown now") + "   "
		parts := []paint.Part{paint.Plain(" "), sc.Theme.Dim.Text(paint.When(rows.HandleOf(row).Recorded(), only))}
		second.Fit(append(parts, laneAt(sc, row, CursorAt(sc))...), w)
	}
	return []string{first.Done(), second.Done()}
}

// clockAt writes an instant, with its date if it is not today, and with tenths of a second if columns are
// short.
func clockAt(sc *Scene, t time.Time, step time.Duration) string {
	t = t.In(sc.Now.Location())
	otherDay := t.YearDay() != sc.Now.YearDay() || t.Year() != sc.Now.Year()
	return t.Format(paint.When(otherDay, "Jan 2 ") + "15:04:05" + paint.When(step < 10*time.Second, ".0"))
}

// exactTime writes an instant to a tenth of a second, with a sign if it is not exact.
func exactTime(sc *Scene, s sources.Stamp) string {
	return sc.Theme.Roughly(s) + clockAt(sc, s.At, 0)
}

// laneAt describes the state of a lane at an instant: who owned it, from when to when, and who did before
// and after.
func laneAt(sc *Scene, row *sources.Row, at time.Time) []paint.Part {
	l := laneOf(sc, row)
	now := DrawnTo(sc)
	if !at.Before(now) {
		at = now.Add(-1)
	}
	pieces := l.Pieces(timeline.Span{From: at, To: at.Add(1)}, now)
	if len(pieces) == 0 {
		return []paint.Part{sc.Theme.Dim.Text("not known yet")}
	}
	switch p := pieces[0]; {
	case p.Kind == lane.Unread:
		return []paint.Part{sc.Theme.Dim.Text(sc.Theme.Unknown + " "), unreadText(sc, "before "+clockAt(sc, l.Unread[0].To, 0))}
	case p.Kind == lane.Unobserved, p.Kind == lane.Unrecorded:
		return unseenAt(sc, row, &l, at)
	case p.Kind == lane.Absent:
		return []paint.Part{sc.Theme.Dim.Text("it did not exist")}
	case row.Leveled():
		return levelAt(sc, row, at)
	case p.Kind == lane.Blank:
		return []paint.Part{sc.Theme.Dim.Text("nobody was seen to own it yet")}
	case p.Kind == lane.Owned:
		return termAt(sc, &l, p.Term)
	}
	return nobodyAt(sc, row, &l, at)
}

// unreadText reports that a part of the recording is being read, or why it could not be read.
func unreadText(sc *Scene, what string) paint.Part {
	if sc.Time.ReadError != "" {
		return sc.Theme.Warn.Text(what + " could not be read: " + sc.Time.ReadError)
	}
	return sc.Theme.Dim.Text("reading what is recorded " + what)
}

// unseenAt explains why nothing is known of an instant.
func unseenAt(sc *Scene, row *sources.Row, lane *timeline.Lane, at time.Time) []paint.Part {
	recorded := QueryOf(sc, row).Holes(DrawnTo(sc))
	for _, d := range recorded.WhyUnknown(lane.Dark) {
		if at.Before(d.From) || !d.To.IsZero() && !at.Before(d.To) {
			continue
		}
		text := d.Why.String() + " from " + clockAt(sc, d.From, 0)
		if d.To.IsZero() {
			return []paint.Part{sc.Theme.Dim.Text(text + ": " + paint.Clean(row.Source) + " is silent")}
		}
		return []paint.Part{sc.Theme.Dim.Text(text + " to " + clockAt(sc, d.To, 0) + ", " + format.Precise(d.To.Sub(d.From)))}
	}
	if lane.Since.IsZero() {
		return []paint.Part{sc.Theme.Dim.Text("not observed yet")}
	}
	return []paint.Part{sc.Theme.Dim.Text("not observed: what is known begins at " + clockAt(sc, lane.Since, 0))}
}

// levelAt returns the number of permits that were taken at an instant.
func levelAt(sc *Scene, row *sources.Row, at time.Time) []paint.Part {
	var held, next sources.Level
	for l := range QueryOf(sc, row).Levels() {
		if l.At.After(at) {
			next = l
			break
		}
		held = l
	}
	if held.At.IsZero() {
		return []paint.Part{sc.Theme.Dim.Text("not recorded")}
	}
	text := strconv.FormatInt(sources.Permits(held.Taken), 10) +
		paint.When(row.Limited(), " of "+strconv.FormatUint(row.Limit, 10)) + " taken" +
		paint.When(held.High > held.Taken, ", "+strconv.FormatInt(sources.Permits(held.High), 10)+" at most")
	end := " to now"
	if !next.At.IsZero() {
		end = " to " + clockAt(sc, next.At, 0)
	}
	return []paint.Part{paint.Plain(text), sc.Theme.Dim.Text("   from " + clockAt(sc, held.At, 0) + end)}
}

// termAt describes one term, with its neighbours and the gaps between them.
func termAt(sc *Scene, lane *timeline.Lane, i int) []paint.Part {
	th, t := &sc.Theme, &lane.Terms[i]
	end, length := termEnd(sc, lane, i)
	cause := th.Dim.Text(paint.When(!t.End.At.IsZero(), "   "+th.Cause(t.Cause, t.How)))
	cause.Yield = paint.Aside
	parts := append(ownerParts(th, t), paint.Plain("   "+exactTime(sc, t.Start)+" to "+end), th.Strong.Text("  "+length),
		paint.Plain(paint.When(t.Owner.Fence != 0, "   fence "+Fence(t.Owner.Fence))), cause)
	if i > 0 {
		parts = append(parts, besideTerm(sc, lane, "   before: ", i-1, i-1)...)
	}
	if i+1 < len(lane.Terms) {
		parts = append(parts, besideTerm(sc, lane, "   after: ", i+1, i)...)
	}
	return parts
}

// termEnd returns the end of a term and its length.
func termEnd(sc *Scene, lane *timeline.Lane, i int) (end, length string) {
	th, t, now := &sc.Theme, &lane.Terms[i], DrawnTo(sc)
	held := lane.Length(i, now)
	switch {
	case !t.End.At.IsZero() && held.Min == held.Max:
		return exactTime(sc, t.End), format.Precise(held.Max)
	case !t.End.At.IsZero():
		return exactTime(sc, t.End), th.TermLength(t)
	case held.Min > 0 && (!t.Sure.IsZero() || held.Min < now.Sub(t.Start.At)): // it may have ended since it was seen last
		return "now", th.AtLeast + format.Age(held.Min)
	}
	return "now", th.Age(t.Start, now)
}

// unreadBetween reports whether a part between two instants was not read.
func unreadBetween(lane *timeline.Lane, from, to time.Time) bool {
	return slices.ContainsFunc(lane.Unread, func(u timeline.Span) bool {
		return !u.From.IsZero() && u.From.Before(to) && u.To.After(from) // parts are read with the term before them
	})
}

// ownerParts returns the letter and the name of an owner; only a long name may be shortened.
func ownerParts(th *paint.Theme, t *sources.Term) []paint.Part {
	name := paint.Plain(paint.CleanLabel(t.Owner.Label))
	if format.Width(name.Text) >= longOwner {
		name.Yield = paint.Name
	}
	return []paint.Part{th.OwnerLetter(t.Hue).Text(paint.Letter(t.Hue)), paint.Plain(" "), name}
}

// longOwner is the width from which on the name of an owner is long.
const longOwner = 16

// besideTerm names a neighbour of a term, and the gap after term end.
func besideTerm(sc *Scene, lane *timeline.Lane, word string, i, end int) []paint.Part {
	th, t := &sc.Theme, &lane.Terms[i]
	if unreadBetween(lane, lane.Terms[end].End.At, lane.Terms[end+1].Start.At) {
		return []paint.Part{th.Dim.Text(word + "not read")}
	}
	gap, st := gapText(sc, lane, end)
	return slices.Concat([]paint.Part{th.Dim.Text(word)}, ownerParts(th, t), []paint.Part{th.Dim.Text(", "), st.Text(gap)})
}

// gapText describes the gap after a term, and returns its style.
func gapText(sc *Scene, lane *timeline.Lane, i int) (string, paint.Style) {
	gap := lane.GapAfter(i, DrawnTo(sc))
	switch {
	case gap.Sum.Max == 0:
		return "no gap", sc.Theme.Dim
	case !gap.Seen && lane.Observed(timeline.Span{From: gap.Start.Earliest(), To: gap.End.At}) < gap.Sum.Max:
		return "gap not observed", sc.Theme.Dim
	case lane.Trouble && gap.Unbroken.Min > lane.Gap:
		return "gap " + lengthText(&gap), sc.Theme.Bad
	}
	return "gap " + lengthText(&gap), ""
}

// lengthText writes the length of a gap at a stretch, and the sum of its pieces if it has several.
func lengthText(g *lane.Gap) string {
	if g.Sum.Min > g.Unbroken.Min {
		return g.Unbroken.Bounds() + ", at least " + format.Precise(g.Sum.Min) + " in all" + g.Unbroken.Looks()
	}
	return g.Unbroken.Text()
}

// nobodyAt describes a stretch in which nobody owned the row, with the owners before and after it.
func nobodyAt(sc *Scene, row *sources.Row, lane *timeline.Lane, at time.Time) []paint.Part {
	th := &sc.Theme
	word, st := "free", th.Dim
	if row.Kind == sources.KindElection {
		word = "no leader"
	}
	if lane.Trouble {
		st = th.Bad
	}
	now := DrawnTo(sc)
	next, from, to := slices.IndexFunc(lane.Terms, func(t sources.Term) bool { return t.Start.At.After(at) }), lane.Nobody, "now"
	unread := next >= 0 && unreadBetween(lane, at, lane.Terms[next].Start.At)
	if next < 0 {
		next = len(lane.Terms)
	}
	length := th.Age(from, now)
	if next > 0 {
		from = lane.Terms[next-1].End
		gap := lane.GapAfter(next-1, now)
		if length = lengthText(&gap); next == len(lane.Terms) && gap.Unbroken.Min == now.Sub(from.At) {
			length = th.Age(from, now)
		}
	}
	switch {
	case unread:
		to, length = "?", "?"
	case next < len(lane.Terms):
		to = exactTime(sc, lane.Terms[next].Start)
	}
	parts := []paint.Part{st.Text(word)}
	if !from.At.IsZero() {
		parts = append(parts, paint.Plain("   "+exactTime(sc, from)+" to "+to), th.Strong.Text("  "+length))
	}
	name := func(word string, i int) {
		parts = slices.Concat(parts, []paint.Part{th.Dim.Text(word)}, ownerParts(th, &lane.Terms[i]))
	}
	if next > 0 {
		name("   before: ", next-1)
		parts = append(parts, paint.Part{Style: th.Dim, Text: ", " + th.Cause(lane.Terms[next-1].Cause, lane.Terms[next-1].How), Yield: paint.Aside})
	}
	if next < len(lane.Terms) && !unread {
		name("   after: ", next)
	}
	return parts
}
