package ui

import (
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// facts are what a backend tells under its own names, as many to a line as fit. Instants
// are shown as ages.
func (m *model) facts(attrs []sources.Attr, w, indent int) []string {
	return m.factsOf("", attrs, w, indent)
}

// factsOf are facts behind the name of whom they are about, which has the room that they
// are indented by.
func (m *model) factsOf(name string, attrs []sources.Attr, w, indent int) []string {
	var lines []string
	l := m.th.line(w)
	if name != "" {
		l.skip(4).cell("", name, indent-6)
	}
	l.to(indent)
	flush := func() {
		if l.x > indent {
			lines = append(lines, l.done())
			l = m.th.line(w).skip(indent)
		}
	}
	for i := range attrs {
		key, value := clean(attrs[i].Key), m.factValue(attrs[i].Value)
		if value == "" {
			continue
		}
		if l.x > indent && l.x+2+format.Width(key)+1+format.Width(value) > w {
			flush()
		}
		if l.x > indent {
			l.skip(2)
		}
		l.put(m.th.dim, key).skip(1)
		pieces := wrapWords(value, max(w-l.x, 20))
		for j, piece := range pieces {
			if j > 0 {
				flush()
				l.skip(2)
			}
			l.put(m.factStyle(attrs[i]), piece)
		}
	}
	flush()
	return lines
}

// factValue is a fact fit for drawing: an instant as how long ago it was.
func (m *model) factValue(value string) string {
	if len(value) >= len("2006-01-02T15:04:05Z") && len(value) <= len(time.RFC3339Nano) {
		if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return m.timeOfDay(t) + ", " + format.Age(m.now.Sub(t)) + " ago"
		}
	}
	return clean(value)
}

// factStyle draws attention to a transaction that was left open.
func (m *model) factStyle(a sources.Attr) style {
	if a.Key == "state" && idleInTransaction(a.Value) {
		return m.th.warn
	}
	return ""
}

// attr is a backend's fact by its name; "": it is not told.
func attr(list []sources.Attr, key string) string {
	for i := range list {
		if list[i].Key == key {
			return list[i].Value
		}
	}
	return ""
}
