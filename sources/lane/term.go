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

// Changes counts the changes of owner since from: the terms whose beginning was seen, or told.
func Changes(list []Term, from time.Time) (n int) {
	for i := range list {
		if began := list[i].Start; began.Happened() && !began.At.Before(from) {
			n++
		}
	}
	return n
}

// Why returns the cause of its end, with ", inferred" where it is.
func (t *Term) Why() string {
	if t.Cause != CauseUnknown && t.How == Inferred {
		return t.Cause.String() + ", inferred"
	}
	return t.Cause.String()
}
