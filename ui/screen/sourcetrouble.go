package screen

import (
	"errors"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// sourceTrouble is an outage or a warning of a source.
type sourceTrouble struct {
	source string
	state  string // of a source that does not answer; "": it is a warning
	text   string
	retry  string
	st     paint.Style // of the state
}

// sourceTroubles lists the sources that do not answer, with the error and the next try, then the
// warnings of sources.
func sourceTroubles(sc *Scene) []sourceTrouble {
	var all []sourceTrouble
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		if h := sourceHealth(sc, s); h.loud {
			all = append(all, sourceTrouble{h.name, h.text, why(s), retryText(sc, s), h.st})
		}
	}
	for i := range sc.State.Scopes {
		c := &sc.State.Scopes[i]
		for _, w := range c.About.Warnings {
			name := strings.TrimSpace(paint.Clean(c.Source) + " " + paint.Clean(c.Name))
			all = append(all, sourceTrouble{source: name, text: paint.Clean(w)})
		}
	}
	return all
}

// why returns the error of a source in words.
func why(s *sources.SourceStatus) string {
	if s.Err == nil || errors.Is(s.Err, sources.ErrSilent) { // the text of ErrSilent has an age of its own
		return "its server has stopped answering"
	}
	return paint.Clean(s.Err.Error())
}

// retryText tells when a source is tried again; "": no pause runs.
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

// sourceTroubleLines draws h lines of troubles; the last one counts those that have no room.
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
	if t.state == "" {
		return l.Put(sc.Theme.Warn, sc.Theme.Marks[verdict.Warn]).Skip(1).Put("", t.source).Skip(2).Put(sc.Theme.Dim, t.text).Done()
	}
	l.Put(t.st, sc.Theme.Down).Skip(1).Put(t.st, t.source+" "+t.state).Skip(2)
	return l.Put("", sc.Theme.Cut(t.text, w-l.X-format.Width(t.retry)-4)).Skip(2).Put(sc.Theme.Dim, t.retry).Done()
}
