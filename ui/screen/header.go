package screen

import (
	"slices"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// drawHeader draws the environment, the health of the sources, and the number of problems.
func drawHeader(sc *Scene, w, h int) []string {
	if h < 1 {
		return nil
	}
	at := sc.Clock // it runs even while the picture is held
	if sc.Replay != nil {
		at = sc.Now
	}
	problems, clock := problemsText(sc, w), at.Format("15:04:05"+paint.When(w >= 100, " MST"))
	muted := paint.When(sc.Rows.Muted > 0, " "+sc.Theme.Dot+" "+format.Count(sc.Rows.Muted)+" muted")
	l := sc.Theme.Line(w)
	if WorstSeverity(sc).Problem() || muted != "" { // keep room for the number of problems
		l.Width = max(w-format.Width(problems+muted)-1, 0)
	}
	l.Put(sc.Theme.Title, " "+sc.Title+" ").Skip(1)
	drawBadge(sc, l)
	notice := func(on bool, text string) {
		if on {
			l.Put(sc.Theme.Notice, text).Skip(1)
		}
	}
	notice(!sc.Paused.IsZero(), " PAUSED "+format.Age(sc.Clock.Sub(sc.Paused))+" ")
	notice(sc.Slow, " slow terminal ")
	notice(sc.Unrecorded, " NOT RECORDED ")
	right := w - format.Width(problems+muted) - len(clock) - 4
	drawSeen(sc, l, right)
	drawHoldings(sc, l, right)
	if l.X < right && !sc.SeenOld {
		drawHealth(sc, l, right)
	}
	l.To(right).Skip(1)
	l.Width = w
	l.Put(sc.Theme.Severity(WorstSeverity(sc)), problems).Put(sc.Theme.Dim, muted).Skip(2)
	if l.X+len(clock) <= w {
		l.Put("", clock)
	}
	return sc.Theme.Box(append(bannerLines(sc, w), l.Done(), summaryLine(sc, w)), w, h)
}

// drawSeen tells who saw the present, if that is not this program. That it is old is never left out.
func drawSeen(sc *Scene, l *paint.Line, right int) {
	seen := paint.Clean(sc.Seen)
	switch {
	case seen == "" || sc.Replay != nil:
	case sc.SeenOld:
		l.Put(sc.Theme.Notice, " "+sc.Theme.Cut(seen, l.Width-l.X-3)+" ").Skip(1)
	case l.X+format.Width(seen) < right:
		l.Put(sc.Theme.Dim, seen).Skip(1)
	}
}

// problemsText counts the rows with a problem, as many as the key for only problems shows, and the
// sources that do not answer: their rows cannot be judged. A narrow line leaves the sources out if
// there are rows, and an even narrower one has a number only. Before the first answer nothing is
// known, which is not the same as no problems.
func problemsText(sc *Scene, w int) string {
	rows := sc.Rows.ProblemRows()
	down, _ := SilentSources(sc)
	switch {
	case w < narrowest && rows+down > 0:
		return format.Count(rows+down) + "!"
	case rows > 0 && (down == 0 || w < fullWidth):
		return paint.Count(rows, "problem")
	case rows > 0:
		return paint.Count(rows, "problem") + ", " + paint.Count(down, "source") + " down"
	case down > 0:
		return paint.Count(down, "source") + " down"
	}
	if slices.ContainsFunc(sc.State.Sources, func(s sources.SourceStatus) bool { return s.Health == sources.HealthLive }) {
		return "no problems"
	}
	return "nothing known " + paint.When(sc.SeenOld, "now") + paint.When(!sc.SeenOld, "yet")
}

// narrowest is the width from which on the header has words for the number of problems.
const narrowest = 40

// WorstSeverity returns the severity of the worst problem that problemsText counts.
func WorstSeverity(sc *Scene) verdict.Severity {
	_, silent := SilentSources(sc)
	switch {
	case sc.Rows.BySeverity[verdict.Bad] > 0:
		return verdict.Bad
	case sc.Rows.BySeverity[verdict.Warn] > 0:
		return min(silent, verdict.Warn)
	}
	return silent
}

// summaryLine draws the second line: the tabs, the states of the rows, and which rows are listed. The
// filter is never left out: rows would be hidden without a hint.
func summaryLine(sc *Scene, w int) string {
	l := sc.Theme.Line(w)
	tabs, _ := tabWidths()
	right := shownRows(sc, w-tabs-2)
	end := w - paint.PartsWidth(right) - 1
	if sc.Filter.Context != 0 {
		typedFilter(sc, l.Skip(1))
		l.To(24)
	} else {
		room := end - 1 // a cell separates the tabs from the rest
		if sc.Shown == Locks && sc.Rows.ProblemRows() > 0 {
			room -= countRoom
		}
		drawTabs(sc, l, room)
		if sc.Shown == Locks {
			stateCounts(sc, l.Skip(1), end-2)
		}
	}
	if l.X <= end {
		l.To(end).Parts(right...)
	}
	return l.Done()
}

// countRoom is the least number of cells for the problems of rows beside the tabs.
const countRoom = 22

// stateCounts counts the problems by the gravest fault of each row as far as there is room up to end,
// and those that have none; then the rows that cannot be judged, and all rows.
func stateCounts(sc *Scene, l *paint.Line, end int) {
	x, start := &sc.Rows, l.X
	say := func(st paint.Style, n int, text string, kept int) bool {
		text = format.Count(n) + " " + text
		sep := paint.When(l.X > start, " "+sc.Theme.Dot+" ")
		fits := l.X+format.Width(sep)+len(text) <= end-kept
		if n > 0 && fits {
			l.Put(sc.Theme.Dim, sep).Put(st, text)
		}
		return fits
	}
	left, full := x.ProblemRows(), false
	for sev := verdict.Bad; sev <= verdict.Warn; sev++ { // faults that need a person first
		for f, of := range x.ByFault {
			n, kept := of[verdict.Bad]+of[verdict.Warn], moreRoom
			if n == 0 || (of[verdict.Bad] > 0) != (sev == verdict.Bad) {
				continue
			}
			if n == left {
				kept = 0
			}
			if full = full || !say(sc.Theme.Severity(sev), n, verdict.Fault(f).Chip(), kept); !full {
				left -= n
			}
		}
	}
	say(sc.Theme.Severity(WorstSeverity(sc)), left, "more", 0)
	n := x.StaleProblems
	bad := paint.When(n == 1, ", 1 of them a problem") + paint.When(n > 1, ", "+format.Count(n)+" of them problems")
	say(sc.Theme.Dim, x.Stale, "stale"+bad, 0)
	say(sc.Theme.Dim, x.Unread, "not observed yet", 0)
	say(sc.Theme.Dim, x.Total, paint.Plural(x.Total, "primitive"), 0)
}

// moreRoom is the number of cells that are kept for the number of the other problems.
const moreRoom = len(" - 99 more")

// leastFocus is the least number of cells for what the listed rows are, before it is cut.
const leastFocus = 26

// shownRows describes which rows are listed and in which order, in at most room cells. It cuts the
// filter's words before it leaves anything out.
func shownRows(sc *Scene, room int) []paint.Part {
	if sc.Shown == Pulse {
		return nil // it leaves nothing out
	}
	var parts []paint.Part
	dot := sc.Theme.Dim.Text(" " + sc.Theme.Dot + " ")
	say := func(on bool, p ...paint.Part) {
		if on {
			parts = append(append(parts, p...), dot)
		}
	}
	n, kind := len(sc.Rows.Handles), sc.Rows.Kind
	order := paint.When(sc.Layout.Width >= splitWidth, "sorted: ") + sc.Rows.OrderText()
	of := sc.Rows.Filter.Of
	say(of != "", sc.Theme.Warn.Text(sc.Theme.Cut(of, max(room/2, leastFocus))))
	say(sc.Rows.Problems && sc.Shown.Listed(), sc.Theme.Warn.Text("only problems"))
	say(kind != sources.KindUnknown, sc.Theme.Warn.Text("only "+kind.String()+paint.KindPlural(kind)))
	listed, all := sc.Theme.Strong.Text(format.Count(n)), sc.Theme.Dim.Text(" of "+format.Count(sc.Rows.Total))
	say(n != sc.Rows.Total && sc.Shown.Listed(), listed, all)
	usual := sc.Rows.Order == rows.ByProblems && !sc.Rows.Reverse && !sc.Rows.Held
	say(sc.Shown == Locks && (!usual || len(parts) == 0), sc.Theme.Dim.Text(order))
	if sc.Shown == Timeline {
		say(true, shownTime(sc, room-paint.PartsWidth(parts))...)
	}
	parts = parts[:max(len(parts)-1, 0)]
	if left := room - paint.PartsWidth(parts) - len(" · filter "); sc.Rows.Filter.Text != "" && sc.Filter.Context == 0 {
		filter := []paint.Part{sc.Theme.Dim.Text("filter "), sc.Theme.Warn.Text(sc.Theme.Cut(sc.Filter.Text, max(left, 12)))}
		if len(parts) > 0 {
			filter = append(filter, dot)
		}
		parts = append(filter, parts...)
	}
	return parts
}

// drawBadge shows in the header whether writing is possible, and for how long; if it is not, whether
// we still hold or wait for something.
func drawBadge(sc *Scene, l *paint.Line) {
	s, st, text := sc.Status, sc.Theme.Notice, ""
	holding, waiting, _ := Held(sc)
	switch acts := sc.Acts && sc.Replay == nil; {
	case acts && s.Always:
		text = " WRITE "
	case acts && sc.Clock.Before(s.Armed):
		text = " WRITE " + format.Left(s.Armed.Sub(sc.Clock)) + " "
	case holding > 0: // they are renewed
		text = " HOLDING " + format.Count(holding) + " "
	case waiting > 0:
		text = " CALLING OFF " + format.Count(waiting) + " "
	case l.Width >= 40:
		st, text = sc.Theme.Badge, " READ-ONLY "
	default:
		return
	}
	l.Put(st, text).Skip(1)
}

// drawHoldings shows in the header what we hold, unless the badge shows it, as far as there is room
// before column end.
func drawHoldings(sc *Scene, l *paint.Line, end int) {
	holding, waiting, until := Held(sc)
	say := func(on bool, text string) {
		if on && l.X+len(text)+2 <= end {
			l.Put(sc.Theme.Accent, text).Skip(2)
		}
	}
	say(holding > 0 && sc.Status.CanWrite(sc.Clock), "we hold "+format.Count(holding))
	say(!until.IsZero(), format.Left(max(until.Sub(sc.Clock), 0))+" left")
	say(waiting > 0, "in "+paint.Count(waiting, "queue"))
}
