package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// count writes a number of things: "1 source", "3 sources".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return format.Count(n) + " " + thing + "s"
}

// header says which environment this is, how far it can be believed, and how much is
// wrong.
func (m *model) header(w, h int) []string {
	if h < 1 {
		return nil
	}
	l := m.th.line(w)
	l.put(m.th.title, " "+m.title+" ").skip(1)
	m.badge(l)
	if !m.paused.IsZero() {
		l.put(m.th.notice, " PAUSED "+format.Age(m.clock.Sub(m.paused))+" ").skip(1)
	}
	if m.slow != nil && m.slow() {
		l.put(m.th.notice, " slow terminal ").skip(1)
	}
	problems, clock := m.problems(), m.clock.Format("15:04:05")
	if w >= 100 {
		clock = m.clock.Format("15:04:05 MST")
	}
	right := w - format.Width(problems) - len(clock) - 4
	m.holdings(l, right)
	m.health(l, right)
	l.to(right).skip(1)
	st := m.th.dim
	if m.troubled() > 0 {
		st = m.th.bad
	}
	l.put(st, problems).skip(2).put("", clock)
	return m.th.box([]string{l.done(), m.summary(w)}, w, h)
}

// problems counts the rows that are trouble, as many as the key for only problems
// shows, and beside them the sources that do not answer: their rows cannot be judged.
// Before anything was heard it does not say that all is well.
func (m *model) problems() string {
	rows, down := m.idx.problemRows(), m.silentSources()
	switch {
	case rows > 0 && down > 0:
		return count(rows, "problem") + ", " + count(down, "source") + " down"
	case down > 0:
		return count(down, "source") + " down"
	case rows > 0:
		return count(rows, "problem")
	}
	for i := range m.st.Sources {
		if m.st.Sources[i].Health == sources.HealthLive {
			return "no problems"
		}
	}
	return "nothing known yet"
}

func (m *model) troubled() int { return m.idx.problemRows() + m.silentSources() }

// silentSources counts the sources that do not answer.
func (m *model) silentSources() int {
	n := 0
	for i := range m.st.Sources {
		if m.sourceHealth(&m.st.Sources[i]).loud {
			n++
		}
	}
	return n
}

// sign is what the header says of one source.
type sign struct {
	name, text, short string
	mark              string
	st                style // of the mark
	loud              bool  // not well: the text has the mark's style
	live              bool
}

// sourceHealth sums up a source from its scopes.
func (m *model) sourceHealth(s *sources.SourceStatus) sign {
	h := sign{name: clean(s.Name)}
	scope := m.worstScope(s)
	switch {
	case s.Health == sources.HealthConnecting:
		h.mark, h.st, h.text, h.short = m.th.connecting, m.th.dim, "connecting", "connecting"
		if s.Err != nil {
			h.mark, h.st, h.text, h.short, h.loud = m.th.down, m.th.bad, "no answer", "no answer", true
		}
	case s.Health == sources.HealthStale:
		h.mark, h.st, h.text, h.short, h.loud = m.th.down, m.th.bad, "STALE", "STALE", true
		if scope != nil && !scope.Alive.IsZero() {
			h.text += " " + format.Age(m.now.Sub(scope.Alive))
		}
	default:
		h.mark, h.st, h.live = m.th.up, m.th.good, true
		if scope != nil {
			h.text = modeText(&scope.About)
			if age := m.now.Sub(scope.Alive); age >= 2*time.Second {
				h.text += ", " + format.Age(age) + " old"
			}
		}
	}
	return h
}

// modeText says how a scope is read: "tracking", "polling 1s".
func modeText(a *sources.About) string {
	mode := clean(a.Mode)
	if a.Sampling > 0 {
		return strings.TrimSpace(mode + " " + shortDuration(a.Sampling))
	}
	return mode
}

// shortDuration writes a sampling interval: "250ms", "1s", "1.5s".
func shortDuration(d time.Duration) string {
	return d.Round(10 * time.Millisecond).String()
}

// worstScope returns the scope of a source that has been silent for longest.
func (m *model) worstScope(s *sources.SourceStatus) *sources.Scope {
	var worst *sources.Scope
	for i := range m.st.Scopes {
		c := &m.st.Scopes[i]
		if c.Source == s.Name && (worst == nil || c.Health > worst.Health || c.Health == worst.Health && c.Alive.Before(worst.Alive)) {
			worst = c
		}
	}
	return worst
}

// health writes the sources up to column end. When there is no room for all, those
// that are well lose their text, then are only counted.
func (m *model) health(l *line, end int) {
	all := make([]sign, len(m.st.Sources))
	long, short := 0, 0
	for i := range m.st.Sources {
		h := m.sourceHealth(&m.st.Sources[i])
		all[i] = h
		long += 5 + format.Width(h.name) + format.Width(h.text)
		short += 4 + format.Width(h.name)
		if h.loud {
			short += 1 + len(h.short)
		}
	}
	l.skip(1)
	switch room := end - l.x; {
	case long <= room:
		for _, h := range all {
			m.putHealth(l, h, h.text)
		}
	case short <= room:
		for _, h := range all {
			m.putHealth(l, h, h.short)
		}
	default:
		m.healthCounts(l, all, end)
	}
}

func (m *model) putHealth(l *line, h sign, text string) {
	l.put(h.st, h.mark).skip(1)
	if h.loud {
		l.put(h.st, strings.TrimRight(h.name+" "+text, " "))
	} else {
		l.put("", h.name)
		if text != "" {
			l.skip(1).put(m.th.dim, text)
		}
	}
	l.skip(2)
}

// healthCounts is for many sources, or a narrow screen: those that are not well by name
// as far as there is room, the rest counted.
func (m *model) healthCounts(l *line, all []sign, end int) {
	live, down := 0, 0
	for _, h := range all {
		switch {
		case h.live:
			live++
		case h.loud:
			down++
		}
	}
	var tail []part
	say := func(n int, mark string, st style, text string) {
		if n > 0 {
			tail = append(tail, part{st, mark}, part{m.th.dim, " " + format.Count(n) + " " + text + "  "})
		}
	}
	say(live, m.th.up, m.th.good, "live")
	say(len(all)-live-down, m.th.connecting, m.th.dim, "connecting")
	for _, h := range all {
		if h.loud && l.x+6+format.Width(h.name)+len(h.short)+partsWidth(tail)+len("9 more down") <= end {
			m.putHealth(l, h, h.short)
			down--
		}
	}
	say(down, m.th.down, m.th.bad, "down")
	for _, p := range tail {
		if l.x+format.Width(p.text) <= end+2 {
			l.put(p.st, p.text)
		}
	}
}

func partsWidth(parts []part) int {
	w := 0
	for _, p := range parts {
		w += format.Width(p.text)
	}
	return w
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

// part is text with its style.
type part struct {
	st   style
	text string
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
	say(m.th.bad, x.byStatus[sources.StatusNoLeader]+x.byStatus[sources.StatusNoCandidates], "without a leader")
	say(m.th.warn, x.byStatus[sources.StatusLedLate], "renewing late")
	say(m.th.warn, x.byStatus[sources.StatusHeldSilent], "with a silent owner")
	say(m.th.warn, x.flapping, "flapping")
	say(m.th.warn, x.waiting, "with a long wait")
	say(m.th.dim, x.byStatus[sources.StatusStale], "stale")
	say(m.th.dim, x.byStatus[sources.StatusNotObserved], "not observed yet")
	say(m.th.dim, x.total, plural(x.total, "primitive"))
}

func plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
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

// kindEnd makes the name of a kind a plural.
func kindEnd(k sources.Kind) string {
	if k == sources.KindMutex {
		return "es"
	}
	return "s"
}
