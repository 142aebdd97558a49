package screen

import (
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// factLines draws the facts of a backend with their names, as many on a line as fit. Instants are shown
// as ages.
func factLines(sc *Scene, attrs []sources.Attr, w, indent int) []string {
	var lines []string
	l := sc.Theme.Line(w).Skip(indent)
	flush := func() {
		if l.X > indent {
			lines = append(lines, l.Done())
			l = sc.Theme.Line(w).Skip(indent)
		}
	}
	for i := range attrs {
		key, value := paint.Clean(attrs[i].Key), factValue(sc, attrs[i].Value)
		if value == "" {
			continue
		}
		if l.X > indent && l.X+2+format.Width(key)+1+format.Width(value) > w {
			flush()
		}
		if l.X > indent {
			l.Skip(2)
		}
		l.Put(sc.Theme.Dim, key).Skip(1)
		for j, piece := range paint.Wrap(value, max(w-l.X, 20)) {
			if j > 0 {
				flush()
				l.Skip(2)
			}
			l.Put(factStyle(sc, attrs[i]), piece)
		}
	}
	flush()
	return lines
}

// factList draws facts with their names, one below another.
func factList(sc *Scene, attrs []sources.Attr, w int) []string {
	f := factSheet{sc: sc, w: w, label: labelRoom(attrs, 0, w)}
	for _, a := range attrs {
		f.say(factStyle(sc, a), paint.Clean(a.Key), factValue(sc, a.Value))
	}
	return f.lines
}

// factValue returns a fact fit for drawing; an instant with its age.
func factValue(sc *Scene, value string) string {
	if len(value) >= len("2006-01-02T15:04:05Z") && len(value) <= len(time.RFC3339Nano) {
		if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return paint.TimeOfDay(t, sc.Now) + ", " + format.Age(sc.Now.Sub(t)) + " ago"
		}
	}
	return paint.Clean(value)
}

// factStyle returns the style of a fact: odd ones are warnings.
func factStyle(sc *Scene, a sources.Attr) paint.Style { return paint.When(a.Odd, sc.Theme.Warn) }
