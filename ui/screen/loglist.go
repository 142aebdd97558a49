package screen

import (
	"coordtop/internal/ground/format"
	"coordtop/ui/paint"
)

// logList is a list of entries, with all facts about the entry under the cursor below.
type logList struct {
	title, text string // of the heading
	warn        string
	under       []string // lines below the heading
	pos, count  int      // of the cursor; of all entries
	empty       string   // shown if there is no line
	lines       int      // visible entries
	height      int      // of the list
	readout     []string
}

// listedRows returns the number of entries in h lines above a readout of so many lines. The readout is
// left out if the list would be shorter than the readout.
func listedRows(h, readout int) int {
	if h < 2*readout+3 {
		return h - 2
	}
	return h - 2 - readout
}

// draw draws the list; line draws visible entry i.
func (g *logList) draw(sc *Scene, line func(i int, l *paint.Line)) Frame {
	w, h := sc.Layout.Width, sc.Layout.Body()
	lines := append([]string{sc.Theme.Line(w).Rule().Done(), g.heading(sc, w)}, g.under...)
	for i := range g.lines {
		l := sc.Theme.Line(w)
		line(i, l)
		lines = append(lines, l.Done())
	}
	if g.lines == 0 {
		lines = append(lines, sc.Theme.Line(w).Done(), sc.Theme.Line(w).Skip(3).Put("", g.empty).Done())
	}
	top := g.height + 2 + len(g.under)
	lines = sc.Theme.Box(lines, w, top)
	if top < h {
		lines = append(append(lines, sc.Theme.Line(w).Rule().Done()), g.readout...)
	}
	return fixed(sc, sc.Theme.Box(lines, w, h))
}

func (g *logList) heading(sc *Scene, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Heading, g.title).Skip(1).Put(sc.Theme.Dim, g.text)
	l.Skip(2).Put(sc.Theme.Warn, g.warn)
	right := format.Count(g.pos+min(g.count, 1)) + " of " + format.Count(g.count)
	if x := w - len(right) - 1; l.X < x {
		l.To(x).Put(sc.Theme.Dim, right)
	}
	return l.Done()
}

// readoutLine draws a line of a readout, with its name.
func readoutLine(sc *Scene, w int, name string, parts ...paint.Part) string {
	return sc.Theme.Line(w).Skip(1).Cell(sc.Theme.Dim, name, 8).Parts(parts...).Done()
}
