package sources

import (
	"slices"
	"strings"
)

// The attributes of an owner whose session is called otherwise than when it took what it owns: TakenBy is
// what it was called then, FirstSeenAs what the first look after that showed, and Leaked warns that a
// pooler lends the session to others, or may do so.
const (
	TakenBy     = "taken by"
	FirstSeenAs = "first seen as"
	Leaked      = "leaked"
)

// taker returns the label and the attributes of o with what old, which is the same owner at the look
// before, or nil, has of who took it: a source that has begun since knows only what the session is called
// now. What may come of that holds as long as nothing was done in the session.
func (l *look) taker(old, o *Owner) (label string, attrs []Attr) {
	label, attrs = o.Label, o.Attrs
	if old == nil || l.doubts(old, o) {
		return label, attrs
	}
	for _, a := range old.Attrs {
		took := a.Key == TakenBy || a.Key == FirstSeenAs
		switch {
		case slices.ContainsFunc(o.Attrs, func(b Attr) bool { return a.Key == b.Key }):
		case took && !strings.HasPrefix(label, a.Value): // else it is called so again
			label, attrs = a.Value+", now "+label, append(slices.Clip(attrs), a)
		case a.Key == Leaked && o.Proof != 0 && o.Proof == old.Proof:
			attrs = append(slices.Clip(attrs), a)
		}
	}
	return label, attrs
}
