package screen

import (
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// drawHeader says which environment this is, how far it can be believed, and how much is
// wrong.
func drawHeader(sc *Scene, w, h int) []string {
	if h < 1 {
		return nil
	}
	problems, clock := problemsText(sc, w), headerTime(sc).Format("15:04:05")
	l := sc.Theme.Line(w)
	if WorstSeverity(sc).Problem() { // nothing takes the room of the number
		l.Width = max(w-format.Width(problems)-1, 0)
	}
	l.Put(sc.Theme.Title, " "+sc.Title+" ").Skip(1)
	drawBadge(sc, l)
	if !sc.Paused.IsZero() {
		l.Put(sc.Theme.Notice, " PAUSED "+format.Age(sc.Clock.Sub(sc.Paused))+" ").Skip(1)
	}
	if sc.Slow {
		l.Put(sc.Theme.Notice, " slow terminal ").Skip(1)
	}
	if sc.Unrecorded {
		l.Put(sc.Theme.Notice, " NOT RECORDED ").Skip(1)
	}
	if w >= 100 {
		clock = headerTime(sc).Format("15:04:05 MST")
	}
	right := w - format.Width(problems) - len(clock) - 4
	drawHoldings(sc, l, right)
	if l.X < right {
		drawHealth(sc, l, right)
	}
	l.To(right).Skip(1)
	l.Width = w
	l.Put(sc.Theme.Severity(WorstSeverity(sc)), problems).Skip(2)
	if l.X+len(clock) <= w {
		l.Put("", clock)
	}
	return sc.Theme.Box(append(bannerLines(sc, w), l.Done(), summaryLine(sc, w)), w, h)
}

// headerTime is the time in the header: that of what is shown, and the clock while the picture
// is held.
func headerTime(sc *Scene) time.Time {
	if sc.Replay != nil {
		return sc.Now
	}
	return sc.Clock
}

// problemsText counts the rows that are trouble, as many as the key for only problems
// shows, and beside them the sources that do not answer: their rows cannot be judged. On a
// narrow line those are left out where rows are trouble, and words where it is narrower yet.
// Before the first answer nothing is known, and so nothing is well.
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
	return "nothing known yet"
}

// narrowest is from how many cells on the header has words for the number of problems.
const narrowest = 40

// WorstSeverity is how bad the worst is of what problems counts.
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

// summaryLine is the second line: the screens, what the rows are like, and which of them are
// shown. The filter is never left out: rows would be hidden without a word.
func summaryLine(sc *Scene, w int) string {
	l := sc.Theme.Line(w)
	right := shownRows(sc, w-tabsWidth()-2)
	end := w - paint.PartsWidth(right) - 1
	if sc.Filter.Context != 0 {
		l.Skip(1).Put(sc.Theme.Strong, "/").Skip(1).Put("", sc.Filter.Text).Skip(2)
		filterAdvice(sc, l)
		l.To(24)
	} else {
		room := end - 1 // a cell parts the tabs from what follows
		if sc.Shown == Locks && sc.Rows.ProblemRows() > 0 {
			room -= countRoom
		}
		drawTabs(sc, l, room)
		if sc.Shown == Locks {
			stateCounts(sc, l.Skip(1), end-2)
		}
	}
	if l.X > end {
		return l.Done()
	}
	l.To(end)
	l.Parts(right...)
	return l.Done()
}

// countRoom is how many cells what is wrong with rows gets at least beside the tabs.
const countRoom = 22

// stateCounts counts the problems by the gravest fault of each row, as far as there is room up to end,
// and those for which there was none; then what cannot be judged, and how many rows there are in all.
func stateCounts(sc *Scene, l *paint.Line, end int) {
	x, start := &sc.Rows, l.X
	say := func(st paint.Style, n int, text string, kept int) bool {
		text = format.Count(n) + " " + text
		sep := ""
		if l.X > start {
			sep = " " + sc.Theme.Dot + " "
		}
		fits := l.X+format.Width(sep)+len(text) <= end-kept
		if n > 0 && fits {
			l.Put(sc.Theme.Dim, sep).Put(st, text)
		}
		return fits
	}
	left, full := x.ProblemRows(), false
	for sev := verdict.Bad; sev <= verdict.Warn; sev++ { // faults of which one needs a person, then the others
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
	stale := "stale"
	switch x.StaleProblems {
	case 0:
	case 1:
		stale += ", 1 of them a problem"
	default:
		stale += ", " + format.Count(x.StaleProblems) + " of them problems"
	}
	say(sc.Theme.Dim, x.Stale, stale, 0)
	say(sc.Theme.Dim, x.Unread, "not observed yet", 0)
	say(sc.Theme.Dim, x.Total, paint.Plural(x.Total, "primitive"), 0)
}

// moreRoom is how many cells are kept for the number of problems that have no room.
const moreRoom = len(" - 99 more")

// shownRows says which rows are in the list and in which order, in at most room cells: the
// filter's words are cut before anything is left out.
func shownRows(sc *Scene, room int) []paint.Part {
	var parts []paint.Part
	dot := sc.Theme.Dim.Text(" " + sc.Theme.Dot + " ")
	say := func(p ...paint.Part) { parts = append(append(parts, p...), dot) }
	if sc.Rows.Problems && sc.Shown.Listed() {
		say(sc.Theme.Warn.Text("only problems"))
	}
	if sc.Rows.Kind != sources.KindUnknown {
		say(sc.Theme.Warn.Text("only " + sc.Rows.Kind.String() + paint.KindPlural(sc.Rows.Kind)))
	}
	if n := len(sc.Rows.Handles); n != sc.Rows.Total && sc.Shown.Listed() {
		say(sc.Theme.Strong.Text(format.Count(n)), sc.Theme.Dim.Text(" of "+format.Count(sc.Rows.Total)))
	}
	if sc.Shown == Locks && (sc.Rows.Order != rows.ByProblems || sc.Rows.Reverse || sc.Rows.Held || len(parts) == 0) {
		order := sc.Rows.OrderText()
		if sc.Layout.Width >= splitWidth {
			order = "sorted: " + order
		}
		say(sc.Theme.Dim.Text(order))
	}
	if sc.Shown == Timeline {
		say(shownTime(sc, room-paint.PartsWidth(parts))...)
	}
	parts = parts[:max(len(parts)-1, 0)]
	if left := room - paint.PartsWidth(parts) - len(" · filter "); !sc.Rows.Filter.Empty() && sc.Filter.Context == 0 {
		filter := []paint.Part{sc.Theme.Dim.Text("filter "), sc.Theme.Warn.Text(sc.Theme.Cut(sc.Filter.Text, max(left, 12)))}
		if len(parts) > 0 {
			filter = append(filter, dot)
		}
		parts = append(filter, parts...)
	}
	return parts
}

// drawBadge says in the header whether anything can be changed, and for how long; where nothing
// can, whether something of ours goes on all the same.
func drawBadge(sc *Scene, l *paint.Line) {
	s := sc.Status
	holding, waiting, _ := Held(sc)
	switch {
	case sc.Replay != nil && holding == 0 && waiting == 0 && l.Width >= 40: // nothing is done in the past
		l.Put(sc.Theme.Badge, " READ-ONLY ").Skip(1)
	case sc.Replay == nil && sc.Acts && s.Always:
		l.Put(sc.Theme.Notice, " WRITE ").Skip(1)
	case sc.Replay == nil && sc.Acts && sc.Clock.Before(s.Armed):
		l.Put(sc.Theme.Notice, " WRITE "+format.Left(s.Armed.Sub(sc.Clock))+" ").Skip(1)
	case holding > 0: // they are renewed
		l.Put(sc.Theme.Notice, " HOLDING "+format.Count(holding)+" ").Skip(1)
	case waiting > 0:
		l.Put(sc.Theme.Notice, " CALLING OFF "+format.Count(waiting)+" ").Skip(1)
	case l.Width >= 40:
		l.Put(sc.Theme.Badge, " READ-ONLY ").Skip(1)
	}
}

// drawHoldings writes into the header what we hold, as far as the badge does not say it and there is
// room; end is where something else begins.
func drawHoldings(sc *Scene, l *paint.Line, end int) {
	holding, waiting, until := Held(sc)
	say := func(text string) {
		if l.X+len(text)+2 <= end {
			l.Put(sc.Theme.Accent, text).Skip(2)
		}
	}
	if holding > 0 && sc.Status.CanWrite(sc.Clock) {
		say("we hold " + format.Count(holding))
	}
	if !until.IsZero() {
		say(format.Left(max(until.Sub(sc.Clock), 0)) + " left")
	}
	if waiting > 0 {
		say("in " + paint.Count(waiting, "queue"))
	}
}
