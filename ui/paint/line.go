package paint

import (
	"slices"
	"strings"

	"coordtop/internal/ground/format"
)

// Line builds one line of a box, which has exactly Width cells when Done. Text that does not fit is
// cut. Text given to a Line must be clean (see Clean).
type Line struct {
	th       *Theme
	b        strings.Builder
	Width, X int
	Over     Style // if set, it replaces every style: the cursor row is of one piece
}

// Line begins a line of w cells.
func (th *Theme) Line(w int) *Line {
	l := &Line{th: th, Width: max(w, 0), Over: th.Over}
	l.b.Grow(2*l.Width + 64)
	return l
}

// Put writes s, cut at the end of the line.
func (l *Line) Put(st Style, s string) *Line {
	room := l.Width - l.X
	if room <= 0 || s == "" {
		return l
	}
	s, n := l.th.fit(s, room)
	l.X += n
	if l.Over != "" {
		st = l.Over
	}
	if st == "" {
		l.b.WriteString(s)
		return l
	}
	l.b.WriteString(string(st))
	l.b.WriteString(s)
	l.b.WriteString(Reset)
	return l
}

// Parts writes parts one after another.
func (l *Line) Parts(parts ...Part) *Line {
	for _, p := range parts {
		l.Put(p.Style, p.Text)
	}
	return l
}

// Fit writes parts up to column end: FitParts shortens them, and the last one is cut there.
func (l *Line) Fit(parts []Part, end int) *Line {
	w := l.Width
	l.Width = end
	l.Parts(l.th.FitParts(parts, end-l.X)...)
	l.Width = w
	return l
}

// Cursor writes the cell of the cursor. If on, the rest of the line has the style of the cursor too.
func (l *Line) Cursor(on bool) *Line {
	if !on {
		return l.Skip(1)
	}
	l.Over = l.th.Selected
	return l.Put("", l.th.Glyphs.Cursor)
}

// Cell writes s in exactly w cells, aligned on the left.
func (l *Line) Cell(st Style, s string, w int) *Line {
	s, n := l.th.fit(s, w)
	return l.Put(st, s).Skip(w - n)
}

// Right writes s in exactly w cells, aligned on the right.
func (l *Line) Right(st Style, s string, w int) *Line {
	s, n := l.th.fit(s, w)
	return l.Skip(w-n).Put(st, s)
}

// Skip leaves n cells empty.
func (l *Line) Skip(n int) *Line {
	n = min(n, l.Width-l.X)
	if n <= 0 {
		return l
	}
	l.X += n
	if l.Over != "" {
		l.b.WriteString(string(l.Over))
	}
	for ; n > 0; n -= min(n, len(blanks)) {
		l.b.WriteString(blanks[:min(n, len(blanks))])
	}
	if l.Over != "" {
		l.b.WriteString(Reset)
	}
	return l
}

// To moves to column x; it does nothing if the line is already longer.
func (l *Line) To(x int) *Line { return l.Skip(x - l.X) }

// Rule fills the rest of the line with the rule's glyph.
func (l *Line) Rule() *Line {
	return l.Put(l.th.Dim, strings.Repeat(l.th.Glyphs.Rule, max(l.Width-l.X, 0)))
}

// Done returns the line, filled up with blanks.
func (l *Line) Done() string {
	l.Skip(l.Width - l.X)
	return l.b.String()
}

// Wrapped writes text in one style over lines of w cells, see Wrap.
func (th *Theme) Wrapped(st Style, text string, w int) []string {
	var lines []string
	for _, s := range Wrap(text, w) {
		lines = append(lines, th.Line(w).Put(st, s).Done())
	}
	return lines
}

const blanks = "                                                                                "

// Box cuts lines, which have w cells each, to h lines, or fills them up with empty ones.
func (th *Theme) Box(lines []string, w, h int) []string {
	h = max(h, 0)
	lines = lines[:min(len(lines), h)]
	for len(lines) < h {
		lines = append(lines, th.Line(w).Done())
	}
	return lines
}

// Part is text with its style.
type Part struct {
	Style Style
	Text  string
	Yield Yield
}

// Yield is the way in which FitParts shortens a part.
type Yield uint8

const (
	Stays Yield = iota // not at all: it is cut only if it is the last one
	Name               // by whole words first
	Aside              // it may be left out
)

// leastName is the least number of cells to which FitParts shortens a name.
const leastName = 6

// FitParts shortens parts to w cells, as far as they yield: first it shortens names to their
// leastWords, then it leaves out asides, then it shortens names to leastName cells.
func (th *Theme) FitParts(parts []Part, w int) []Part {
	over := PartsWidth(parts) - w
	if over <= 0 {
		return parts
	}
	parts = slices.Clone(parts)
	become := func(p *Part, text string) {
		over -= format.Width(p.Text) - format.Width(text)
		p.Text = text
	}
	for i := range parts {
		if p := &parts[i]; p.Yield == Name && over > 0 {
			become(p, th.FitWords(p.Text, max(format.Width(p.Text)-over, format.Width(th.leastWords(p.Text)))))
		}
	}
	for i := len(parts) - 1; i >= 0 && over > 0; i-- {
		if parts[i].Yield == Aside {
			become(&parts[i], "")
		}
	}
	for over > 0 {
		var longest *Part
		for i := range parts {
			if p := &parts[i]; p.Yield == Name && (longest == nil || format.Width(p.Text) > format.Width(longest.Text)) {
				longest = p
			}
		}
		if longest == nil || format.Width(longest.Text) <= leastName {
			break
		}
		become(longest, th.Cut(strings.TrimSuffix(longest.Text, th.ellipsis), format.Width(strings.TrimSuffix(longest.Text, th.ellipsis))-1))
	}
	return parts
}

// Text returns a part of this style.
func (st Style) Text(s string) Part { return Part{Style: st, Text: s} }

// Plain returns a part without a style.
func Plain(s string) Part { return Part{Text: s} }

// PartsWidth returns the number of cells that parts take.
func PartsWidth(parts []Part) int {
	w := 0
	for _, p := range parts {
		w += format.Width(p.Text)
	}
	return w
}

// barText is the least number of cells for the number beside a bar.
const barText = 4

// Bar draws a bar with its number in w cells; if there is no room, the number alone.
func (l *Line) Bar(st Style, part float64, text string, w int) {
	cells := w - 1 - max(len(text), min(barText, w/2))
	if cells < 3 {
		l.Cell("", text, w)
		return
	}
	full := min(int(part*float64(cells)+0.5), cells)
	if full == 0 && part > 0 {
		full = 1
	}
	end := l.X + w
	for i := range cells {
		if i < full {
			l.Put(st, l.th.barFull)
		} else {
			l.Put(l.th.Dim, l.th.barEmpty)
		}
	}
	l.Skip(1).Put("", text).To(end)
}

// Indented moves lines one cell to the right.
func Indented(lines []string) []string {
	for i := range lines {
		lines[i] = " " + lines[i]
	}
	return lines
}
