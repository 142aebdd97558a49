package ui

import (
	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// drawHeader says which environment this is, how far it can be believed, and how much is
// wrong.
func drawHeader(sc *scene, w, h int) []string {
	if h < 1 {
		return nil
	}
	problems, clock := problemsText(sc, w), sc.clock.Format("15:04:05")
	l := sc.th.Line(w)
	if worstSeverity(sc).Problem() { // nothing takes the room of the number
		l.Width = max(w-format.Width(problems)-1, 0)
	}
	l.Put(sc.th.Title, " "+sc.title+" ").Skip(1)
	drawBadge(sc, l)
	if !sc.paused.IsZero() {
		l.Put(sc.th.Notice, " PAUSED "+format.Age(sc.clock.Sub(sc.paused))+" ").Skip(1)
	}
	if sc.slow {
		l.Put(sc.th.Notice, " slow terminal ").Skip(1)
	}
	if w >= 100 {
		clock = sc.clock.Format("15:04:05 MST")
	}
	right := w - format.Width(problems) - len(clock) - 4
	drawHoldings(sc, l, right)
	if l.X < right {
		drawHealth(sc, l, right)
	}
	l.To(right).Skip(1)
	l.Width = w
	l.Put(sc.th.Severity(worstSeverity(sc)), problems).Skip(2)
	if l.X+len(clock) <= w {
		l.Put("", clock)
	}
	return sc.th.Box([]string{l.Done(), summaryLine(sc, w)}, w, h)
}

// problemsText counts the rows that are trouble, as many as the key for only problems
// shows, and beside them the sources that do not answer: their rows cannot be judged. On a
// narrow line those are left out where rows are trouble, and words where it is narrower yet.
// Before anything was heard it does not say that all is well.
func problemsText(sc *scene, w int) string {
	rows := sc.idx.ProblemRows()
	down, _ := silentSources(sc)
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
	for i := range sc.st.Sources {
		if sc.st.Sources[i].Health == sources.HealthLive {
			return "no problems"
		}
	}
	return "nothing known yet"
}

// narrowest is from how many cells on the header has words for the number of problems.
const narrowest = 40

// worstSeverity is how bad the worst is of what problems counts.
func worstSeverity(sc *scene) paint.Severity {
	_, silent := silentSources(sc)
	switch {
	case sc.idx.BySeverity[paint.Bad] > 0:
		return paint.Bad
	case sc.idx.BySeverity[paint.Warn] > 0:
		return min(silent, paint.Warn)
	}
	return silent
}

// summaryLine is the second line: the screens, what the rows are like, and which of them are
// shown. What is shown is never left out: a hidden filter would hide rows.
func summaryLine(sc *scene, w int) string {
	l := sc.th.Line(w)
	right := shownRows(sc, w-tabsWidth()-2)
	end := w - paint.PartsWidth(right) - 1
	if sc.filter.scope != 0 {
		l.Skip(1).Put(sc.th.Strong, "/").Skip(1).Put("", sc.filter.text).Skip(2)
		filterAdvice(sc, l)
		l.To(24)
	} else {
		drawTabs(sc, l, end < tabsWidth())
		if sc.view == viewList {
			stateCounts(sc, l.Skip(1), end-2)
		}
	}
	if l.X > end {
		return l.Done()
	}
	l.To(end)
	for _, p := range right {
		l.Put(p.Style, p.Text)
	}
	return l.Done()
}

// stateCounts counts the rows by what is wrong with them, as far as there is room up to end:
// the worst first, and how many there are in all last.
func stateCounts(sc *scene, l *paint.Line, end int) {
	x, start := &sc.idx, l.X
	say := func(st paint.Style, n int, text string) {
		text = format.Count(n) + " " + text
		sep := ""
		if l.X > start {
			sep = " " + sc.th.Dot + " "
		}
		if n > 0 && l.X+format.Width(sep)+len(text) <= end {
			l.Put(sc.th.Dim, sep).Put(st, text)
		}
	}
	say(sc.th.Bad, x.ByStatus[sources.StatusConflict], "in conflict")
	vacant := sc.th.Warn
	if x.Vacant[paint.Bad] > 0 {
		vacant = sc.th.Bad
	}
	say(vacant, x.Vacant[paint.Bad]+x.Vacant[paint.Warn], "without a leader")
	say(sc.th.Warn, x.ByStatus[sources.StatusLedLate], "renewing late")
	say(sc.th.Warn, x.ByStatus[sources.StatusHeldSilent], "with a silent owner")
	say(sc.th.Warn, x.Flapping, "flapping")
	say(sc.th.Warn, x.Waiting, "with a long wait")
	say(sc.th.Dim, x.ByStatus[sources.StatusStale], "stale")
	say(sc.th.Dim, x.ByStatus[sources.StatusNotObserved], "not observed yet")
	say(sc.th.Dim, x.Total, paint.Plural(x.Total, "primitive"))
}

// shownRows says which rows are in the list and in which order, in at most room cells: the
// filter's words are cut before anything is left out.
func shownRows(sc *scene, room int) []paint.Part {
	var parts []paint.Part
	dot := sc.th.Dim.Text(" " + sc.th.Dot + " ")
	say := func(p ...paint.Part) { parts = append(append(parts, p...), dot) }
	if sc.idx.Problems && sc.view == viewList {
		say(sc.th.Warn.Text("only problems"))
	}
	if sc.idx.Kind != sources.KindUnknown {
		say(sc.th.Warn.Text("only " + sc.idx.Kind.String() + paint.KindPlural(sc.idx.Kind)))
	}
	if n := len(sc.idx.Handles); n != sc.idx.Total && sc.view == viewList {
		say(sc.th.Strong.Text(format.Count(n)), sc.th.Dim.Text(" of "+format.Count(sc.idx.Total)))
	}
	if sc.view == viewList && (sc.idx.Order != rows.ByProblems || sc.idx.Reverse || sc.idx.Held || len(parts) == 0) {
		say(sc.th.Dim.Text(sc.idx.OrderText()))
	}
	parts = parts[:max(len(parts)-1, 0)]
	if left := room - paint.PartsWidth(parts) - len(" · filter "); !sc.idx.Filter.Empty() && sc.filter.scope == 0 {
		filter := []paint.Part{sc.th.Dim.Text("filter "), sc.th.Warn.Text(sc.th.Cut(sc.filter.text, max(left, 12)))}
		if len(parts) > 0 {
			filter = append(filter, dot)
		}
		parts = append(filter, parts...)
	}
	return parts
}
