package screen

// Layout holds the boxes of the board for one size. Lines from top to bottom: header,
// trouble, rule, list with its heading, rule, lower panes, footer.
type Layout struct {
	Width, Height int
	Small         bool // too small for more than the list

	Header  int // lines
	Trouble int // lines about sources that do not answer
	rules   int // lines around the list: 0 or 2
	List    int // rows, without the heading
	lower   int // lines of the panes below

	Split   int // cells of the left one of two panes side by side; 0: they are not
	Stacked int // lines of the upper one of two panes, one above the other; 0: they are not
}

const (
	fullWidth, fullHeight = 80, 24 // a smaller screen has only the list
	splitWidth            = 150    // from this width on two panes are side by side
	stackHeight           = 36     // from this height on two panes are one above the other
)

// measure returns the layout of a screen of w x h cells. rows is the number of rows without the
// filter, so that typing a filter moves nothing; trouble is the number of troubles of sources. Below
// the banner the layout is that of a screen without its lines.
func measure(w, h, rows, trouble, banner int) Layout {
	l := Layout{Width: max(w, 0), Height: max(h, 0)}
	if w < fullWidth || h < fullHeight {
		l.Small = true
		l.Header = min(l.Height, 1+banner)
		l.List = max(l.Height-l.Header-2, 0) // the heading and the footer
		return l
	}
	h -= banner
	l.Header, l.rules = 2, 2
	l.Trouble = min(trouble, 2+(h-fullHeight)/6)
	body := h - l.Header - l.Trouble - l.rules - 2 // the heading and the footer
	if l.lower = 5 + (h-fullHeight)/3; h >= stackHeight {
		l.lower = body * 2 / 5
	}
	l.List = min(body-l.lower, max(rows, 8))
	l.lower = body - l.List
	switch {
	case w >= splitWidth:
		l.Split = w * 9 / 20 // events are sentences: they need more
	case h >= stackHeight:
		l.Stacked = l.lower * 3 / 5
	}
	l.Header += banner
	return l
}

// Body returns the number of lines between header and footer.
func (l Layout) Body() int { return max(l.Height-l.Header-1, 0) }

// RowsAt returns the line of the first row.
func (l Layout) RowsAt() int {
	if l.rules > 0 {
		return l.Header + l.Trouble + 2
	}
	return l.Header + 1
}
