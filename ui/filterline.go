package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coordtop/ui/dialog"
	"coordtop/ui/filter"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// offer is the completion of a line: each tab puts the next of the list in place.
type offer struct {
	base string // the text before what is replaced
	list []string
	at   int
}

// next puts what fits into the line: the next of the list where the line is as the last
// one left it, else the first of what complete finds.
func (o *offer) next(in *dialog.Input, complete func(string) filter.Completion) {
	text := in.Value()
	if o.stands(text) && len(o.list) > 1 {
		o.at = (o.at + 1) % len(o.list)
	} else {
		c := complete(text)
		*o = offer{base: text[:c.From], list: c.List}
	}
	if len(o.list) > 0 {
		in.SetValue(o.base + o.list[o.at])
		in.CursorEnd()
	}
}

// stands reports whether text is still the result of the last completion.
func (o *offer) stands(text string) bool { return len(o.list) > 0 && text == o.base+o.list[o.at] }

// others are the other completions of the line, the next one first; none where it
// is not as the last completion left it.
func (o *offer) others(text string) []string {
	if !o.stands(text) {
		return nil
	}
	return slices.Concat(o.list[o.at+1:], o.list[:o.at])
}

// complete completes what is typed: a command, or a filter.
func (m *model) complete() {
	if m.line.context == keys.InCommand {
		m.line.offer.next(&m.line.input, m.completeLine)
		return
	}
	f := &m.rowList.filtering
	f.offer.next(&f.input, m.rowList.completeFilter)
	m.rowList.refilter()
}

// filterLine is the line in which a filter is typed, and the filters before it.
type filterLine struct {
	typing bool
	input  dialog.Input
	offer  offer       // what it was completed with last
	sought filter.Expr // the last filter that was not empty

	byOwner, beforeOwner string // the filter of the same owner, and what it replaced
}

// begin has a filter typed.
func (f *filterLine) begin() tea.Cmd {
	f.typing = true
	f.input.CursorEnd()
	return f.input.Focus()
}

// end ends the typing.
func (f *filterLine) end() {
	f.typing = false
	f.input.Blur()
}

// typed returns the text of the line, fit for drawing.
func (f *filterLine) typed() string { return paint.Clean(f.input.Value()) }
