package ui

import (
	"errors"

	"coordtop/internal/format"
	"coordtop/sources"
)

// trouble is one thing to know about a source, in a line of its own.
type trouble struct {
	source string
	state  string
	text   string
	retry  string
	loud   bool
	st     style // where loud
}

// troubles lists the sources that do not answer, with the error and the next try, then
// what sources warn of.
func (m *model) troubles() []trouble {
	var loud, quiet []trouble
	for i := range m.st.Sources {
		s := &m.st.Sources[i]
		if h := m.sourceHealth(s); h.loud {
			loud = append(loud, trouble{source: h.name, state: h.text, text: why(s), retry: m.retry(s), loud: true, st: h.st})
		}
	}
	for i := range m.st.Scopes {
		c := &m.st.Scopes[i]
		for _, w := range c.About.Warnings {
			name := clean(c.Source)
			if c.Name != "" {
				name += " " + clean(c.Name)
			}
			quiet = append(quiet, trouble{source: name, text: clean(w)})
		}
	}
	return append(loud, quiet...)
}

// why says what is wrong with a source.
func why(s *sources.SourceStatus) string {
	if s.Err == nil || errors.Is(s.Err, sources.ErrSilent) { // whose text has an age of its own
		return "its server has stopped answering"
	}
	return clean(s.Err.Error())
}

// retry says when a source is tried again; "" where no pause runs.
func (m *model) retry(s *sources.SourceStatus) string {
	switch d := s.Retry.Sub(m.now); {
	case s.Retry.IsZero():
		return ""
	case d <= 0:
		return "trying again"
	default:
		return "next try in " + format.Left(d)
	}
}

// troubleLines draws h lines of trouble; when there is more, the last one says how
// much.
func (m *model) troubleLines(w, h int) []string {
	if h < 1 {
		return nil
	}
	all, more := m.troubles(), 0
	if len(all) > h {
		more = len(all) - h + 1
		all = all[:h-1]
	}
	lines := make([]string, 0, h)
	for _, t := range all {
		lines = append(lines, m.troubleLine(t, w))
	}
	if more > 0 {
		lines = append(lines, m.th.line(w).skip(3).put(m.th.dim, format.Count(more)+" more about sources").done())
	}
	return m.th.box(lines, w, h)
}

func (m *model) troubleLine(t trouble, w int) string {
	l := m.th.line(w).skip(1)
	if !t.loud {
		return l.put(m.th.warn, m.th.marks[sevWarn]).skip(1).put("", t.source).skip(2).put(m.th.dim, t.text).done()
	}
	l.put(t.st, m.th.down).skip(1).put(t.st, t.source+" "+t.state).skip(2)
	l.put("", m.th.cut(t.text, w-l.x-format.Width(t.retry)-4))
	if t.retry != "" {
		l.skip(2).put(m.th.dim, t.retry)
	}
	return l.done()
}
