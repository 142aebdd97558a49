package ui

import (
	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// empty says why the list has no rows, and what can be done.
func (m *model) empty(w int) []string {
	say := func(st paint.Style, text string) string { return m.th.Line(w).Skip(3).Put(st, text).Done() }
	blank := m.th.Line(w).Done()
	switch x := &m.idx; {
	case x.Total > 0 && x.Problems:
		return append([]string{blank}, m.noProblems(say)...)
	case x.Total > 0 && !x.Filter.Empty():
		lines := []string{blank, say("", "the filter selects none of "+paint.Count(x.Total, "row")+": "+m.typed())}
		if x.Filter.Expr.CountsWaiters() {
			lines = append(lines, say("", "wait without a unit counts the waiters; wait>30s is about how long they wait"))
		} else if mend := x.Filter.Mistake; mend != nil {
			lines = append(lines, say(m.th.Warn, paint.Clean(mend.Text)))
		} else if meant := m.idx.Meant(); meant != "" {
			lines = append(lines, say("", meant))
		}
		return append(lines, say(m.th.Dim, m.table.KeyIn(keys.InList, keys.Clear)+" clears the filter"))
	case x.Total > 0:
		return []string{blank, say("", "none of "+paint.Count(x.Total, "primitive")+" is a "+x.Kind.String()),
			say(m.th.Dim, m.table.KeyOf(keys.Kind)+" shows other kinds, "+m.table.KeyIn(keys.InList, keys.Clear)+" all")}
	case len(m.st.Sources) == 0:
		return []string{blank, say("", "no source has started yet")}
	}
	lines := []string{blank}
	for i := range m.st.Sources {
		s := &m.st.Sources[i]
		lines = append(lines, say("", m.expectation(s)))
	}
	return lines
}

// noProblems says that only problems are looked for and there are none, as far as can be
// told.
func (m *model) noProblems(say func(paint.Style, string) string) []string {
	x := &m.idx
	blind := x.Blind
	of := "among " + paint.Count(x.Total-blind, "primitive")
	esc := m.table.KeyOf(keys.Problems) + " shows all of them"
	if x.Kind != sources.KindUnknown {
		of = "among the " + x.Kind.String() + paint.KindPlural(x.Kind)
	}
	if !x.Filter.Empty() {
		of = "in what the filter \"" + m.typed() + "\" selects"
		esc = m.table.KeyOf(keys.Problems) + " shows all that it selects, " + m.table.KeyIn(keys.InList, keys.Clear) + " clears the filter"
	}
	lines := []string{say(m.th.Good, "no problems "+of)}
	if blind == x.Total {
		lines = nil // nothing is known to be well
	} else if n := x.ProblemRows(); n > 0 {
		lines[0] = say("", "no problems "+of+"; "+format.Count(n)+" elsewhere")
	}
	if blind > 0 {
		lines = append(lines, say(m.th.Warn, paint.Count(blind, "row")+" cannot be judged: stale, or not told by the backend"))
	}
	return append(lines, say(m.th.Dim, esc))
}

// expectation says what a source without rows is doing.
func (m *model) expectation(s *sources.SourceStatus) string {
	where := paint.Clean(s.Name) + " (" + paint.Clean(s.Type) + " " + paint.Clean(s.Address) + ")"
	switch {
	case s.Health == sources.HealthConnecting && s.Err == nil:
		return "connecting to " + where
	case s.Health == sources.HealthLive && m.synced(s):
		return where + " answers: nothing there matches what is watched"
	case s.Health == sources.HealthLive:
		return "reading " + where
	}
	text := where + " does not answer: " + why(s)
	if retry := m.retry(s); retry != "" {
		text += ", " + retry
	}
	return text
}

// synced says whether all of a source's listings are complete.
func (m *model) synced(s *sources.SourceStatus) bool {
	for i := range m.st.Scopes {
		if c := &m.st.Scopes[i]; c.Source == s.Name && !c.Synced {
			return false
		}
	}
	return true
}
