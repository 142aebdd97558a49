package ui

import (
	"coordtop/internal/format"
	"coordtop/sources"
)

// empty says why the list has no rows, and what can be done.
func (m *model) empty(w int) []string {
	say := func(st style, text string) string { return m.th.line(w).skip(3).put(st, text).done() }
	blank := m.th.line(w).done()
	switch x := &m.idx; {
	case x.total > 0 && !x.filter.empty():
		return []string{blank, say("", "no row of "+format.Count(x.total)+" holds \""+m.typed()+"\""), say(m.th.dim, "esc clears the filter")}
	case x.total > 0:
		return []string{blank, say(m.th.good, "no problems among "+count(x.total, "primitive")), say(m.th.dim, "! shows all of them")}
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

// expectation says what a source without rows is doing.
func (m *model) expectation(s *sources.SourceStatus) string {
	where := clean(s.Name) + " (" + clean(s.Type) + " " + clean(s.Address) + ")"
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
