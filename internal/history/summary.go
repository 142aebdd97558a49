package history

import (
	"slices"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// Summary sums up a lane in a span.
type Summary struct {
	Ref  sources.Ref
	Kind sources.Kind
	lane.Sum
	NotKnown Unknowns // the parts of Sum.Unseen
	Leveled  bool     // several can own it, so it has no times without an owner
	Terms    int      // that touch the span
	Handed   int      // how often an owner gave it up and another took it
	Losses   int      // how often an owner lost it against its will
	Unknown  int      // ends with an unknown cause, or that nobody saw
	Owners   []string // by name, the last one first
}

// Summary returns the Summary of the lane in a span.
func (l *Lane) Summary(span Span) Summary {
	known := l.Known()
	s := Summary{Ref: l.Ref, Kind: l.Kind, Sum: known.Sum(span, span.To), NotKnown: l.Unknowns(known.Pieces(span, span.To)), Leveled: l.Leveled(), Terms: len(l.Terms)}
	if s.Leveled {
		s.Changes = lane.Changes(l.Terms, span.From)
	}
	named := map[string]bool{}
	for i := range slices.Backward(l.Terms) {
		t := &l.Terms[i]
		if name := t.Owner.Name(); !named[name] {
			s.Owners, named[name] = append(s.Owners, name), true
		}
		switch {
		case t.End.How == sources.Unknown || !t.End.At.Before(span.To): // it lasted beyond span, or the recording ends here
		case t.End.How == sources.Bound || t.Cause == sources.CauseUnknown:
			s.Unknown++
		case t.Cause.Loss(t.How):
			s.Losses++
		case !s.Leveled && i+1 < len(l.Terms) && l.Terms[i+1].Owner.ID != t.Owner.ID:
			s.Handed++
		}
	}
	return s
}
