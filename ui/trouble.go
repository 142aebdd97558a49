package ui

import (
	"errors"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// trouble is one thing to know about a source, in a line of its own.
type trouble struct {
	source string
	state  string
	text   string
	retry  string
	loud   bool
	st     paint.Style // where loud
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
			name := paint.Clean(c.Source)
			if c.Name != "" {
				name += " " + paint.Clean(c.Name)
			}
			quiet = append(quiet, trouble{source: name, text: paint.Clean(w)})
		}
	}
	return append(loud, quiet...)
}

// why says what is wrong with a source.
func why(s *sources.SourceStatus) string {
	if s.Err == nil || errors.Is(s.Err, sources.ErrSilent) { // whose text has an age of its own
		return "its server has stopped answering"
	}
	return paint.Clean(s.Err.Error())
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
		lines = append(lines, m.th.Line(w).Skip(3).Put(m.th.Dim, format.Count(more)+" more about sources").Done())
	}
	return m.th.Box(lines, w, h)
}

func (m *model) troubleLine(t trouble, w int) string {
	l := m.th.Line(w).Skip(1)
	if !t.loud {
		return l.Put(m.th.Warn, m.th.Marks[paint.Warn]).Skip(1).Put("", t.source).Skip(2).Put(m.th.Dim, t.text).Done()
	}
	l.Put(t.st, m.th.Down).Skip(1).Put(t.st, t.source+" "+t.state).Skip(2)
	l.Put("", m.th.Cut(t.text, w-l.X-format.Width(t.retry)-4))
	if t.retry != "" {
		l.Skip(2).Put(m.th.Dim, t.retry)
	}
	return l.Done()
}
