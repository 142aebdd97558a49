package lane

import (
	"cmp"
	"time"
)

// Term is one uninterrupted ownership of a row.
type Term struct {
	Owner   OwnerRef
	Hue     uint8   // 0 for the first program that owned the row, 1 for the second...
	Cause   Cause   // of the end
	How     Known   // of the cause
	Program Program // of the owner; 0: not known
	Start   Stamp
	End     Stamp // zero: running

	// Sure is the first look behind the last darkness over which nothing proved that the grant is
	// the same: the term is in doubt, and its least length counts from there. Zero: since Start.
	Sure time.Time
	// Every is the longest pause between two looks from the end of the term before to the end of
	// this one, so far; 0: every write would have been told.
	Every time.Duration
}

// Program identifies what people see as one owner across its sessions: the same program on the same host has
// the same letter and colour, though each of its connections is an owner, with a term of its own.
type Program uint32

// Cause is the reason for the end of a term.
type Cause uint8

// The causes.
const (
	CauseUnknown  Cause = iota
	CauseReleased       // given up by its owner
	CauseExpired        // its lease ran out
	CauseDeleted        // the primitive was deleted, or the data flushed
	CauseEvicted        // ended by force: by us, or by another coordtop
	CauseReplaced       // another owner was written over it
	CauseRestart        // the server restarted
	CauseSession        // its session or connection ended
)

// String returns "unknown", "released", "expired", "deleted", "evicted", "replaced",
// "restart" or "session_ended".
func (c Cause) String() string {
	return [...]string{"unknown", "released", "expired", "deleted", "evicted", "replaced", "restart", "session_ended"}[c]
}

// Loss reports whether a cause, known in this way, shows that the owner did not want the end. A session that is
// only seen to be gone shows nothing: its program may have released what it owned and closed the connection
// between two looks.
func (c Cause) Loss(how Known) bool {
	return c == CauseExpired || c == CauseEvicted || c == CauseRestart || c == CauseSession && how == Told
}

// OwnerRef names an owner in an event or a term.
type OwnerRef struct {
	ID, Label string
	Fence     uint64
}

// Name is its label, or its ID where it has none.
func (o OwnerRef) Name() string { return cmp.Or(o.Label, o.ID) }

// SameProgram reports whether people take the owner of a term and another for the same: by
// program where both are known; else by label, because a program that comes back under its
// own name has a new ID on some backends (a Redis value is made anew for each term). An ID
// decides where there is neither.
func (t *Term) SameProgram(owner OwnerRef, program Program) bool {
	switch {
	case t.Program != 0 && program != 0:
		return t.Program == program
	case t.Owner.Label != "" || owner.Label != "":
		return t.Owner.Label == owner.Label
	}
	return t.Owner.ID == owner.ID
}

// Why returns the cause of its end, with ", inferred" where it is.
func (t *Term) Why() string {
	if t.Cause != CauseUnknown && t.How == Inferred {
		return t.Cause.String() + ", inferred"
	}
	return t.Cause.String()
}

// Changes counts the changes of owner since from: the terms whose beginning was seen, or told.
func Changes(list []Term, from time.Time) (n int) {
	for i := range list {
		if began := list[i].Start; began.Happened() && !began.At.Before(from) {
			n++
		}
	}
	return n
}

// Length returns the time for which the owner of a term has owned it up to now, or did.
func (l *Lane) Length(i int, now time.Time) Interval {
	t := l.Terms[i]
	if t.End.How == Unknown {
		t = t.within(Span{To: now}, l.Dark)
	}
	return t.Held()
}

// within returns the part of a term in a span; a term without an end ends with the span, as far as it is known.
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

// Held returns the time for which the owner of an ended term owned it: see Event.Held.
func (t *Term) Held() Interval { return Length(t.Start, t.Sure, t.End, t.Every) }

// Length returns the time from start to end: see Term for sure and every. A start before the first look gives
// no upper bound, nor does an end that is only a bound; a start that is only a bound gives no lower bound, but
// that it was seen then; the clock of another gives neither.
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
