package ui

import (
	"strings"
	"unicode/utf8"

	"coordtop/internal/format"
)

// line is one line of a box while it is drawn: exactly w cells when taken. Text that
// does not fit is cut. Text given to it must be clean (see clean).
type line struct {
	th   *theme
	b    strings.Builder
	w, x int
	over style // if set, it replaces every style: the cursor row is of one piece
}

func (th *theme) line(w int) *line {
	l := &line{th: th, w: max(w, 0)}
	l.b.Grow(2*l.w + 64)
	return l
}

// put writes s as it is, cut at the end of the line.
func (l *line) put(st style, s string) *line {
	room := l.w - l.x
	if room <= 0 || s == "" {
		return l
	}
	s, n := l.th.fit(s, room)
	l.x += n
	if l.over != "" {
		st = l.over
	}
	if st == "" {
		l.b.WriteString(s)
		return l
	}
	l.b.WriteString(string(st))
	l.b.WriteString(s)
	l.b.WriteString(reset)
	return l
}

// cell writes s in exactly w cells, on the left of them.
func (l *line) cell(st style, s string, w int) *line {
	s, n := l.th.fit(s, w)
	return l.put(st, s).skip(w - n)
}

// right writes s in exactly w cells, on the right of them.
func (l *line) right(st style, s string, w int) *line {
	s, n := l.th.fit(s, w)
	return l.skip(w-n).put(st, s)
}

// skip leaves n cells empty.
func (l *line) skip(n int) *line {
	n = min(n, l.w-l.x)
	if n <= 0 {
		return l
	}
	l.x += n
	if l.over != "" {
		l.b.WriteString(string(l.over))
	}
	for ; n > 0; n -= min(n, len(blanks)) {
		l.b.WriteString(blanks[:min(n, len(blanks))])
	}
	if l.over != "" {
		l.b.WriteString(reset)
	}
	return l
}

// to moves to column x; where that is passed already, nothing happens.
func (l *line) to(x int) *line { return l.skip(x - l.x) }

// rule fills the rest of the line with the rule's glyph.
func (l *line) rule() *line {
	return l.put(l.th.dim, strings.Repeat(l.th.glyphs.rule, max(l.w-l.x, 0)))
}

// done returns the line, filled up with blanks.
func (l *line) done() string {
	l.skip(l.w - l.x)
	return l.b.String()
}

const blanks = "                                                                                "

// fit cuts s to w cells, with an ellipsis where something is missing, and returns the
// cells taken.
func (th *theme) fit(s string, w int) (string, int) {
	if w <= 0 {
		return "", 0
	}
	if ascii(s) {
		if len(s) <= w {
			return s, len(s)
		}
		if th.glyphs.ascii {
			return s[:w-1] + th.ellipsis, w
		}
	} else if th.glyphs.ascii {
		return th.fit(toASCII(s), w)
	}
	n := format.Width(s)
	if n > w {
		s = strings.TrimRight(format.Fit(s, w), " ")
		n = format.Width(s)
	}
	return s, n
}

// cut is fit for text that is put somewhere later.
func (th *theme) cut(s string, w int) string {
	s, _ = th.fit(s, w)
	return s
}

// fitWords is cut for text of several words: it ends with a whole word where one fits, and
// of "pid 30122" both go where the number does.
func (th *theme) fitWords(s string, w int) string {
	if format.Width(s) <= w {
		return s
	}
	words := strings.Fields(s)
	n := len(words) - 1
	for n > 0 && format.Width(strings.Join(words[:n], " "))+1 > w {
		n--
	}
	if n > 1 && words[n][0] >= '0' && words[n][0] <= '9' {
		n--
	}
	if n < 1 {
		return th.cut(s, w)
	}
	return strings.Join(words[:n], " ") + th.ellipsis
}

// fitName cuts s in the middle: the ends of a long name tell it from its neighbours.
func (th *theme) fitName(s string, w int) string {
	if len(s) <= w || w < 8 || !ascii(s) {
		return s
	}
	head := (w - 1) / 3
	return s[:head] + th.ellipsis + s[len(s)-(w-1-head):]
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// toASCII puts a question mark in place of each character that an ASCII terminal does
// not have.
func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, s)
}

// cleanLimit is how much of a stranger's text is looked at for one cell.
const cleanLimit = 512

// clean makes text from outside fit for a cell.
func clean(s string) string { return format.Clean(s, cleanLimit) }

// cleanLabel is clean for the name of an owner.
func cleanLabel(s string) string { return format.Label(s, cleanLimit) }

// blank returns h empty lines of w cells.
func (th *theme) blank(w, h int) []string { return th.box(nil, w, h) }

// box returns exactly h lines of exactly w cells: lines, which have that width, cut or
// filled up with empty ones.
func (th *theme) box(lines []string, w, h int) []string {
	h = max(h, 0)
	lines = lines[:min(len(lines), h)]
	for len(lines) < h {
		lines = append(lines, th.line(w).done())
	}
	return lines
}

// part is text with its style.
type part struct {
	st   style
	text string
}

func partsWidth(parts []part) int {
	w := 0
	for _, p := range parts {
		w += format.Width(p.text)
	}
	return w
}
