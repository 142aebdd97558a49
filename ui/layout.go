package ui

// layout holds the boxes of the board for one size. Lines from top to bottom: header,
// trouble, rule, list with its heading, rule, lower panes, footer.
type layout struct {
	w, h  int
	small bool // too small for more than the list

	header  int // lines
	trouble int // lines about sources that do not answer
	rules   int // lines around the list: 0 or 2
	list    int // rows, without the heading
	lower   int // lines of the panes below

	split   int // cells of the left pane; 0: panes are not side by side
	stacked int // lines of the upper one of two panes that stand one on the other; 0: they do not
}

const (
	fullWidth, fullHeight = 80, 24 // below this the list stands alone
	splitWidth            = 150    // from here two panes stand side by side
	stackHeight           = 36     // from here two panes stand one on the other
)

// measure cuts a screen of w x h cells. rows is how many rows there are in all,
// whatever is filtered, so that typing a filter moves nothing; trouble is how many
// lines of it there are to say.
func measure(w, h, rows, trouble int) layout {
	l := layout{w: max(w, 0), h: max(h, 0)}
	if w < fullWidth || h < fullHeight {
		l.small = true
		l.header = min(l.h, 1)
		l.list = max(l.h-l.header-2, 0) // the heading and the footer
		return l
	}
	l.header, l.rules = 2, 2
	l.trouble = min(trouble, 2+(h-fullHeight)/6)
	body := h - l.header - l.trouble - l.rules - 2 // the heading and the footer
	if h < stackHeight {
		l.lower = 5 + (h-fullHeight)/3
		l.list = body - l.lower
	} else {
		l.lower = body * 2 / 5
		l.list = min(body-l.lower, max(rows, 8))
		l.lower = body - l.list
	}
	switch {
	case w >= splitWidth:
		l.split = w * 9 / 20 // events are sentences: they need more
	case h >= stackHeight:
		l.stacked = l.lower * 3 / 5
	}
	return l
}

// body is how many lines stand between the header and the footer.
func (l layout) body() int { return max(l.h-l.header-1, 0) }

// rowsAt is the line of the screen in which the first row stands.
func (l layout) rowsAt() int {
	if l.rules > 0 {
		return l.header + l.trouble + 2
	}
	return l.header + 1
}
