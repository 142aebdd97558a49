package screen

import (
	"errors"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// sourceTrouble is one thing to know about a source, in a line of its own.
type sourceTrouble struct {
	source string
	state  string
	text   string
	retry  string
	loud   bool
	st     paint.Style // where loud
}

// sourceTroubles lists the sources that do not answer, with the error and the next try, then
// what sources warn of.
func sourceTroubles(sc *Scene) []sourceTrouble {
	var loud, quiet []sourceTrouble
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		if h := sourceHealth(sc, s); h.loud {
			loud = append(loud, sourceTrouble{source: h.name, state: h.text, text: why(s), retry: retryText(sc, s), loud: true, st: h.st})
		}
	}
	for i := range sc.State.Scopes {
		c := &sc.State.Scopes[i]
		for _, w := range c.About.Warnings {
			name := paint.Clean(c.Source)
			if c.Name != "" {
				name += " " + paint.Clean(c.Name)
			}
			quiet = append(quiet, sourceTrouble{source: name, text: paint.Clean(w)})
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

// retryText says when a source is tried again; "" where no pause runs.
func retryText(sc *Scene, s *sources.SourceStatus) string {
	switch d := s.Retry.Sub(sc.Now); {
	case s.Retry.IsZero():
		return ""
	case d <= 0:
		return "trying again"
	default:
		return "next try in " + format.Left(d)
	}
}

// sourceTroubleLines draws h lines of trouble; when there is more, the last one says how
// much.
func sourceTroubleLines(sc *Scene, w, h int) []string {
	if h < 1 {
		return nil
	}
	all, more := sourceTroubles(sc), 0
	if len(all) > h {
		more = len(all) - h + 1
		all = all[:h-1]
	}
	lines := make([]string, 0, h)
	for _, t := range all {
		lines = append(lines, sourceTroubleLine(sc, t, w))
	}
	if more > 0 {
		lines = append(lines, sc.Theme.Line(w).Skip(3).Put(sc.Theme.Dim, format.Count(more)+" more about sources").Done())
	}
	return sc.Theme.Box(lines, w, h)
}

func sourceTroubleLine(sc *Scene, t sourceTrouble, w int) string {
	l := sc.Theme.Line(w).Skip(1)
	if !t.loud {
		return l.Put(sc.Theme.Warn, sc.Theme.Marks[verdict.Warn]).Skip(1).Put("", t.source).Skip(2).Put(sc.Theme.Dim, t.text).Done()
	}
	l.Put(t.st, sc.Theme.Down).Skip(1).Put(t.st, t.source+" "+t.state).Skip(2)
	l.Put("", sc.Theme.Cut(t.text, w-l.X-format.Width(t.retry)-4))
	if t.retry != "" {
		l.Skip(2).Put(sc.Theme.Dim, t.retry)
	}
	return l.Done()
}
