package lane

import (
	"cmp"
	"time"
)

// Term is one uninterrupted ownership of a row.
type Term struct {
	Owner   OwnerRef
	Hue     uint8   // 0 for the first program that owned the row, 1 for the second...
	Cause   Cause   // why it ended
	How     Known   // of the cause
	Program Program // of the owner; 0: not known
	Start   Stamp
	End     Stamp // zero while running

	// Sure is the first look after the last darkness without proof that the grant stayed the same. Such a term is in
	// doubt, and its minimum length counts from Sure. If it is zero, the length counts from Start.
	Sure time.Time
	// Every is the longest pause between two looks from the end of the last term to the end of this one, so far; 0 if
	// every write would have been reported.
	Every time.Duration
}

// Program identifies what people see as one owner across its sessions: the same program on the same host has the same
// letter and colour, although each of its connections is an owner with its own term.
type Program uint32

// Cause is the reason for the end of a term.
type Cause uint8

// The causes.
const (
	CauseUnknown  Cause = iota
	CauseReleased       // released by its owner
	CauseExpired        // the lease ran out
	CauseDeleted        // the primitive was deleted, or the data flushed
	CauseEvicted        // ended by force: by us, or by another coordtop
	CauseReplaced       // overwritten by another owner
	CauseRestart        // the server restarted
	CauseSession        // the owner's session or connection ended
)

// String returns "unknown", "released", "expired", "deleted", "evicted", "replaced",
// "restart" or "session_ended".
func (c Cause) String() string {
	return [...]string{"unknown", "released", "expired", "deleted", "evicted", "replaced", "restart", "session_ended"}[c]
}

// Loss reports whether a cause that is known in this way shows that the owner did not want the end. A session that is
// only seen to be gone shows nothing, because its program may have released what it owned and closed the connection
// between two looks.
func (c Cause) Loss(how Known) bool {
	return c == CauseExpired || c == CauseEvicted || c == CauseRestart || c == CauseSession && how == Told
}

// OwnerRef names an owner in an event or a term.
type OwnerRef struct {
	ID, Label string
	Fence     uint64
}

// Name returns the label, or without a label the ID.
func (o OwnerRef) Name() string { return cmp.Or(o.Label, o.ID) }

// SameProgram reports whether people see the owner of a term and another owner as the same. It compares their programs
// if both are known, else their labels, because a program that returns has a new ID on some backends (a Redis value is
// new for each term). If there is neither, it compares IDs.
func (t *Term) SameProgram(owner OwnerRef, program Program) bool {
	switch {
	case t.Program != 0 && program != 0:
		return t.Program == program
	case t.Owner.Label != "" || owner.Label != "":
		return t.Owner.Label == owner.Label
	}
	return t.Owner.ID == owner.ID
}

// Why returns the cause of the term's end, with ", inferred" if the cause is inferred.
func (t *Term) Why() string {
	if t.Cause != CauseUnknown && t.How == Inferred {
		return t.Cause.String() + ", inferred"
	}
	return t.Cause.String()
}

// Changes returns the number of owner changes since an instant, that is, of the terms whose beginning was seen or told.
func Changes(list []Term, from time.Time) (n int) {
	for i := range list {
		if began := list[i].Start; began.Happened() && !began.At.Before(from) {
			n++
		}
	}
	return n
}

// Length returns the length of a term, until now if it is running.
func (l *Lane) Length(i int, now time.Time) Interval {
	t := l.Terms[i]
	if t.End.How == Unknown {
		t = t.within(Span{To: now}, l.Dark)
	}
	return t.Held()
}

// within returns the part of a term in a span; a term without an end ends with the span, as far as is known.
func (t Term) within(s Span, dark []Dark) Term {
	if t.Start.At.Before(s.From) {
		if t.Start.At = s.From; t.Start.Happened() || t.Start.How == AtLeast {
			t.Start = Stamp{At: s.From, How: Seen}
		}
	} else if t.Start.Earliest().Before(s.From) {
		t.Start = StampBetween(s.From, t.Start.At, t.Start.How)
	}
	switch {
	case t.End.How == Unknown:
		t.End = Stamp{At: t.Start.At, How: Bound}
		for _, to := range Observed(t.Start.At, s.To, dark) {
			t.End.At = to
		}
	case t.End.At.After(s.To):
		t.End = StampBetween(t.End.Earliest(), s.To, t.End.How)
	}
	return t
}

// Held returns the length of an ended term, see Event.Held.
func (t *Term) Held() Interval { return Length(t.Start, t.Sure, t.End, t.Every) }

// Length returns the time from start to end; see Term about sure and every. If the start was before the first look, or
// the end is only a bound, there is no upper bound. If the start is only a bound, the lower bound counts from the first
// look. A start from the owner's clock gives neither bound.
func Length(start Stamp, sure time.Time, end Stamp, every time.Duration) Interval {
	if end.How == Unknown || start.At.IsZero() {
		return Interval{}
	}
	held := Interval{Max: max(0, end.At.Sub(start.Earliest())), Every: every}
	switch start.How {
	case Unknown, Claimed:
		if sure.IsZero() {
			return Interval{}
		}
		held.Max = Endless
	case Bound:
	case AtLeast:
		held.Max = Endless
		fallthrough
	default:
		sure = Later(sure, start.At)
	}
	if !sure.IsZero() {
		held.Min = max(0, end.Earliest().Sub(sure))
	}
	if end.How == Bound {
		held.Max = Endless
	}
	return held
}
