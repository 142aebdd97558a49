package ui

import (
	"charm.land/bubbles/v2/textinput"

	"coordtop/sources"
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
	m.offer.next(&m.input, func(text string) filter.Completion { return filter.Complete(text, m.labels(), m.values) })
	m.refilter()
}

// advise says, behind a filter that is typed, what is wrong with it, or what else it
// could be completed with.
func (m *model) advise(l *paint.Line) {
	switch f := &m.idx.filter; {
	case m.offer.stands(m.input.Value()) && len(m.offer.list) > 1:
		m.putOffer(l, &m.offer)
	case f.mend != nil && f.mend.Open:
		l.Put(m.th.Dim, paint.Clean(f.mend.Text))
	case f.mend != nil:
		l.Put(m.th.Warn, paint.Clean(f.mend.Text))
	case len(m.idx.order) == 0 && m.idx.total > 0:
		l.Put(m.th.Dim, m.meant())
	}
}

// meant asks whether a filter that selects nothing was meant otherwise; "": nothing else is
// likely.
func (m *model) meant() string {
	meant := filter.Meant(m.idx.filter.text, m.labels(), func(field string) []string { return append(m.values(field), always(field)...) })
	if meant == "" {
		return ""
	}
	return "did you mean " + paint.Clean(meant) + "?"
}

// always are the values of a field that make sense whether or not a row has them now.
func always(field string) []string {
	var list []string
	switch field {
	case "kind":
		for _, k := range []sources.Kind{sources.KindElection, sources.KindMutex, sources.KindSemaphore} {
			list = append(list, k.String())
		}
	case "state":
		for s := sources.StatusNotObserved; s <= sources.StatusAbsent; s++ {
			list = append(list, stateWord(s))
		}
		list = append(list, "flapping")
	}
	return list
}

// putOffer writes what else there is, the one after the chosen one first.
func (m *model) putOffer(l *paint.Line, o *offer) {
	for i := 1; i < len(o.list) && i <= offerShown; i++ {
		l.Put(m.th.Dim, paint.Clean(o.list[(o.at+i)%len(o.list)])).Skip(1)
	}
}

// offerShown is how many other completions are named.
const offerShown = 6
