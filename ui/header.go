package ui

import (
	"coordtop/internal/format"
	"coordtop/sources"
)

// header says which environment this is, how far it can be believed, and how much is
// wrong.
func (m *model) header(w, h int) []string {
	if h < 1 {
		return nil
	}
	problems, clock := m.problems(w), m.clock.Format("15:04:05")
	l := m.th.line(w)
	if m.worst().problem() { // nothing takes the room of the number
		l.w = max(w-format.Width(problems)-1, 0)
	}
	l.put(m.th.title, " "+m.title+" ").skip(1)
	m.badge(l)
	if !m.paused.IsZero() {
		l.put(m.th.notice, " PAUSED "+format.Age(m.clock.Sub(m.paused))+" ").skip(1)
	}
	if m.slow != nil && m.slow() {
		l.put(m.th.notice, " slow terminal ").skip(1)
	}
	if w >= 100 {
		clock = m.clock.Format("15:04:05 MST")
	}
	right := w - format.Width(problems) - len(clock) - 4
	m.holdings(l, right)
	if l.x < right {
		m.health(l, right)
	}
	l.to(right).skip(1)
	l.w = w
	l.put(m.th.severity(m.worst()), problems).skip(2)
	if l.x+len(clock) <= w {
		l.put("", clock)
	}
	return m.th.box([]string{l.done(), m.summary(w)}, w, h)
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
		return count(rows, "problem")
	case rows > 0:
		return count(rows, "problem") + ", " + count(down, "source") + " down"
	case down > 0:
		return count(down, "source") + " down"
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
func (m *model) worst() severity {
	_, silent := m.silentSources()
	switch {
	case m.idx.bySev[sevBad] > 0:
		return sevBad
	case m.idx.bySev[sevWarn] > 0:
		return min(silent, sevWarn)
	}
	return silent
}

// summary is the second line: the screens, what the rows are like, and which of them are
// shown. What is shown is never left out: a hidden filter would hide rows.
func (m *model) summary(w int) string {
	l := m.th.line(w)
	right := m.shown(w - tabsWidth() - 2)
	end := w - partsWidth(right) - 1
	if m.typing {
		l.skip(1).put(m.th.strong, "/").skip(1).put("", m.typed()).skip(2)
		m.advise(l)
		l.to(24)
	} else {
		m.tabs(l, end < tabsWidth())
		if m.view == viewList {
			m.states(l.skip(1), end-2)
		}
	}
	if l.x > end {
		return l.done()
	}
	l.to(end)
	for _, p := range right {
		l.put(p.st, p.text)
	}
	return l.done()
}

// inputAt is where the next character of the filter goes.
func (m *model) inputAt() (x, y int) {
	before := clean(string([]rune(m.input.Value())[:m.input.Position()]))
	x = 3 + format.Width(before)
	if m.lay.small {
		return x, m.lay.h - 1
	}
	return x, 1
}

// states counts the rows by what is wrong with them, as far as there is room up to end:
// the worst first, and how many there are in all last.
func (m *model) states(l *line, end int) {
	x, start := &m.idx, l.x
	say := func(st style, n int, text string) {
		text = format.Count(n) + " " + text
		sep := ""
		if l.x > start {
			sep = " " + m.th.dot + " "
		}
		if n > 0 && l.x+format.Width(sep)+len(text) <= end {
			l.put(m.th.dim, sep).put(st, text)
		}
	}
	say(m.th.bad, x.byStatus[sources.StatusConflict], "in conflict")
	vacant := m.th.warn
	if x.vacant[sevBad] > 0 {
		vacant = m.th.bad
	}
	say(vacant, x.vacant[sevBad]+x.vacant[sevWarn], "without a leader")
	say(m.th.warn, x.byStatus[sources.StatusLedLate], "renewing late")
	say(m.th.warn, x.byStatus[sources.StatusHeldSilent], "with a silent owner")
	say(m.th.warn, x.flapping, "flapping")
	say(m.th.warn, x.waiting, "with a long wait")
	say(m.th.dim, x.byStatus[sources.StatusStale], "stale")
	say(m.th.dim, x.byStatus[sources.StatusNotObserved], "not observed yet")
	say(m.th.dim, x.total, plural(x.total, "primitive"))
}

// shown says which rows are in the list and in which order, in at most room cells: the
// filter's words are cut before anything is left out.
func (m *model) shown(room int) []part {
	var parts []part
	dot := part{m.th.dim, " " + m.th.dot + " "}
	say := func(p ...part) { parts = append(append(parts, p...), dot) }
	if m.idx.problems && m.view == viewList {
		say(part{m.th.warn, "only problems"})
	}
	if m.idx.kind != sources.KindUnknown {
		say(part{m.th.warn, "only " + m.idx.kind.String() + kindEnd(m.idx.kind)})
	}
	if n := len(m.idx.order); n != m.idx.total && m.view == viewList {
		say(part{m.th.strong, format.Count(n)}, part{m.th.dim, " of " + format.Count(m.idx.total)})
	}
	if m.view == viewList && (m.idx.sort != sortProblems || m.idx.reverse || m.idx.held || len(parts) == 0) {
		say(part{m.th.dim, m.idx.orderText()})
	}
	parts = parts[:max(len(parts)-1, 0)]
	if left := room - partsWidth(parts) - len(" · filter "); !m.idx.filter.empty() && !m.typing {
		filter := []part{{m.th.dim, "filter "}, {m.th.warn, m.th.cut(m.typed(), max(left, 12))}}
		if len(parts) > 0 {
			filter = append(filter, dot)
		}
		parts = append(filter, parts...)
	}
	return parts
}
