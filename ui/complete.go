package ui

import (
	"charm.land/bubbles/v2/textinput"

	"coordtop/ui/filter"
	"coordtop/ui/paint"
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

// complete completes the filter that is typed.
func (m *model) complete() {
	m.offer.next(&m.input, func(text string) filter.Completion { return filter.Complete(text, m.idx.Labels(), m.idx.Values) })
	m.refilter()
}

// advise says, behind a filter that is typed, what is wrong with it, or what else it
// could be completed with.
func (m *model) advise(l *paint.Line) {
	switch f := &m.idx.Filter; {
	case m.offer.stands(m.input.Value()) && len(m.offer.list) > 1:
		m.putOffer(l, &m.offer)
	case f.Mistake != nil && f.Mistake.Open:
		l.Put(m.th.Dim, paint.Clean(f.Mistake.Text))
	case f.Mistake != nil:
		l.Put(m.th.Warn, paint.Clean(f.Mistake.Text))
	case len(m.idx.Handles) == 0 && m.idx.Total > 0:
		l.Put(m.th.Dim, m.idx.Meant())
	}
}

// putOffer writes what else there is, the one after the chosen one first.
func (m *model) putOffer(l *paint.Line, o *offer) {
	for i := 1; i < len(o.list) && i <= offerShown; i++ {
		l.Put(m.th.Dim, paint.Clean(o.list[(o.at+i)%len(o.list)])).Skip(1)
	}
}

// offerShown is how many other completions are named.
const offerShown = 6
