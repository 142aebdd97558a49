package ui

import (
	"slices"

	"charm.land/bubbles/v2/textinput"

	"coordtop/ui/filter"
)

// offer is how a line was completed: each tab puts the next of the list in place.
type offer struct {
	base string // the text before what is replaced
	list []string
	at   int
}

// next puts what fits into the line: the next of the list where the line is as the last
// one left it, else the first of what complete finds.
func (o *offer) next(in *textinput.Model, complete func(string) filter.Completion) {
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

// stands says whether text is what the last completion made of it.
func (o *offer) stands(text string) bool { return len(o.list) > 0 && text == o.base+o.list[o.at] }

// others are what the line could be completed with besides, the next one first; none where it
// is not as the last completion left it.
func (o *offer) others(text string) []string {
	if !o.stands(text) {
		return nil
	}
	return slices.Concat(o.list[o.at+1:], o.list[:o.at])
}

// complete completes the filter that is typed.
func (m *model) complete() {
	m.offer.next(&m.input, func(text string) filter.Completion { return filter.Complete(text, m.Rows.Labels(), m.Rows.Values) })
	m.refilter()
}
