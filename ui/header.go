package ui

import (
	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
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
	rows := m.idx.problemRows()
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
	case m.idx.bySev[paint.Bad] > 0:
		return paint.Bad
	case m.idx.bySev[paint.Warn] > 0:
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
	say(m.th.Bad, x.byStatus[sources.StatusConflict], "in conflict")
	vacant := m.th.Warn
	if x.vacant[paint.Bad] > 0 {
		vacant = m.th.Bad
	}
	say(vacant, x.vacant[paint.Bad]+x.vacant[paint.Warn], "without a leader")
	say(m.th.Warn, x.byStatus[sources.StatusLedLate], "renewing late")
	say(m.th.Warn, x.byStatus[sources.StatusHeldSilent], "with a silent owner")
	say(m.th.Warn, x.flapping, "flapping")
	say(m.th.Warn, x.waiting, "with a long wait")
	say(m.th.Dim, x.byStatus[sources.StatusStale], "stale")
	say(m.th.Dim, x.byStatus[sources.StatusNotObserved], "not observed yet")
	say(m.th.Dim, x.total, paint.Plural(x.total, "primitive"))
}

// shown says which rows are in the list and in which order, in at most room cells: the
// filter's words are cut before anything is left out.
func (m *model) shown(room int) []paint.Part {
	var parts []paint.Part
	dot := m.th.Dim.Text(" " + m.th.Dot + " ")
	say := func(p ...paint.Part) { parts = append(append(parts, p...), dot) }
	if m.idx.problems && m.view == viewList {
		say(m.th.Warn.Text("only problems"))
	}
	if m.idx.kind != sources.KindUnknown {
		say(m.th.Warn.Text("only " + m.idx.kind.String() + paint.KindPlural(m.idx.kind)))
	}
	if n := len(m.idx.order); n != m.idx.total && m.view == viewList {
		say(m.th.Strong.Text(format.Count(n)), m.th.Dim.Text(" of "+format.Count(m.idx.total)))
	}
	if m.view == viewList && (m.idx.sort != sortProblems || m.idx.reverse || m.idx.held || len(parts) == 0) {
		say(m.th.Dim.Text(m.idx.orderText()))
	}
	parts = parts[:max(len(parts)-1, 0)]
	if left := room - paint.PartsWidth(parts) - len(" · filter "); !m.idx.filter.empty() && !m.typing {
		filter := []paint.Part{m.th.Dim.Text("filter "), m.th.Warn.Text(m.th.Cut(m.typed(), max(left, 12)))}
		if len(parts) > 0 {
			filter = append(filter, dot)
		}
		parts = append(filter, parts...)
	}
	return parts
}
