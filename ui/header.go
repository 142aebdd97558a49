package ui

import (
	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// header says which environment this is, how far it can be believed, and how much is
// wrong.
func (m *model) header(w, h int) []string {
	if h < 1 {
		return nil
	}
	problems, clock := m.problems(w), m.clock.Format("15:04:05")
	l := m.th.Line(w)
	if m.worst().Problem() { // nothing takes the room of the number
		l.Width = max(w-format.Width(problems)-1, 0)
	}
	l.Put(m.th.Title, " "+m.title+" ").Skip(1)
	m.badge(l)
	if !m.paused.IsZero() {
		l.Put(m.th.Notice, " PAUSED "+format.Age(m.clock.Sub(m.paused))+" ").Skip(1)
	}
	if m.slow != nil && m.slow() {
		l.Put(m.th.Notice, " slow terminal ").Skip(1)
	}
	if w >= 100 {
		clock = m.clock.Format("15:04:05 MST")
	}
	right := w - format.Width(problems) - len(clock) - 4
	m.holdings(l, right)
	if l.X < right {
		m.health(l, right)
	}
	l.To(right).Skip(1)
	l.Width = w
	l.Put(m.th.Severity(m.worst()), problems).Skip(2)
	if l.X+len(clock) <= w {
		l.Put("", clock)
	}
	return m.th.Box([]string{l.Done(), m.summary(w)}, w, h)
}

// problems counts the rows that are trouble, as many as the key for only problems
// shows, and beside them the sources that do not answer: their rows cannot be judged. On a
// narrow line those are left out where rows are trouble, and words where it is narrower yet.
// Before anything was heard it does not say that all is well.
func (m *model) problems(w int) string {
	rows := m.idx.ProblemRows()
	down, _ := m.silentSources()
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
	for i := range m.st.Sources {
		if m.st.Sources[i].Health == sources.HealthLive {
			return "no problems"
		}
	}
	return "nothing known yet"
}

// narrowest is from how many cells on the header has words for the number of problems.
const narrowest = 40

// worst is how bad the worst is of what problems counts.
func (m *model) worst() paint.Severity {
	_, silent := m.silentSources()
	switch {
	case m.idx.BySeverity[paint.Bad] > 0:
		return paint.Bad
	case m.idx.BySeverity[paint.Warn] > 0:
		return min(silent, paint.Warn)
	}
	return silent
}

// summary is the second line: the screens, what the rows are like, and which of them are
// shown. What is shown is never left out: a hidden filter would hide rows.
func (m *model) summary(w int) string {
	l := m.th.Line(w)
	right := m.shown(w - tabsWidth() - 2)
	end := w - paint.PartsWidth(right) - 1
	if m.typing {
		l.Skip(1).Put(m.th.Strong, "/").Skip(1).Put("", m.typed()).Skip(2)
		m.advise(l)
		l.To(24)
	} else {
		m.tabs(l, end < tabsWidth())
		if m.view == viewList {
			m.states(l.Skip(1), end-2)
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

// inputAt is where the next character of the filter goes.
func (m *model) inputAt() (x, y int) {
	before := paint.Clean(string([]rune(m.input.Value())[:m.input.Position()]))
	x = 3 + format.Width(before)
	if m.lay.small {
		return x, m.lay.h - 1
	}
	return x, 1
}

// states counts the rows by what is wrong with them, as far as there is room up to end:
// the worst first, and how many there are in all last.
func (m *model) states(l *paint.Line, end int) {
	x, start := &m.idx, l.X
	say := func(st paint.Style, n int, text string) {
		text = format.Count(n) + " " + text
		sep := ""
		if l.X > start {
			sep = " " + m.th.Dot + " "
		}
		if n > 0 && l.X+format.Width(sep)+len(text) <= end {
			l.Put(m.th.Dim, sep).Put(st, text)
		}
	}
	say(m.th.Bad, x.ByStatus[sources.StatusConflict], "in conflict")
	vacant := m.th.Warn
	if x.Vacant[paint.Bad] > 0 {
		vacant = m.th.Bad
	}
	say(vacant, x.Vacant[paint.Bad]+x.Vacant[paint.Warn], "without a leader")
	say(m.th.Warn, x.ByStatus[sources.StatusLedLate], "renewing late")
	say(m.th.Warn, x.ByStatus[sources.StatusHeldSilent], "with a silent owner")
	say(m.th.Warn, x.Flapping, "flapping")
	say(m.th.Warn, x.Waiting, "with a long wait")
	say(m.th.Dim, x.ByStatus[sources.StatusStale], "stale")
	say(m.th.Dim, x.ByStatus[sources.StatusNotObserved], "not observed yet")
	say(m.th.Dim, x.Total, paint.Plural(x.Total, "primitive"))
}

// shown says which rows are in the list and in which order, in at most room cells: the
// filter's words are cut before anything is left out.
func (m *model) shown(room int) []paint.Part {
	var parts []paint.Part
	dot := m.th.Dim.Text(" " + m.th.Dot + " ")
	say := func(p ...paint.Part) { parts = append(append(parts, p...), dot) }
	if m.idx.Problems && m.view == viewList {
		say(m.th.Warn.Text("only problems"))
	}
	if m.idx.Kind != sources.KindUnknown {
		say(m.th.Warn.Text("only " + m.idx.Kind.String() + paint.KindPlural(m.idx.Kind)))
	}
	if n := len(m.idx.Handles); n != m.idx.Total && m.view == viewList {
		say(m.th.Strong.Text(format.Count(n)), m.th.Dim.Text(" of "+format.Count(m.idx.Total)))
	}
	if m.view == viewList && (m.idx.Order != rows.ByProblems || m.idx.Reverse || m.idx.Held || len(parts) == 0) {
		say(m.th.Dim.Text(m.idx.OrderText()))
	}
	parts = parts[:max(len(parts)-1, 0)]
	if left := room - paint.PartsWidth(parts) - len(" · filter "); !m.idx.Filter.Empty() && !m.typing {
		filter := []paint.Part{m.th.Dim.Text("filter "), m.th.Warn.Text(m.th.Cut(m.typed(), max(left, 12)))}
		if len(parts) > 0 {
			filter = append(filter, dot)
		}
		parts = append(filter, parts...)
	}
	return parts
}
