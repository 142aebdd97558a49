package operate

import "errors"

// Errors of Start and Arm that a caller branches on. They are wrapped in sentences for the
// person. With each of them nothing was sent.
var (
	ErrReadOnly    = errors.New("read-only source")
	ErrNotArmed    = errors.New("writing is not armed")
	ErrUnconfirmed = errors.New("not confirmed")      // a name or a reason is missing
	ErrNotPossible = errors.New("not possible")       // for this row, now
	ErrTaken       = errors.New("taken")              // a try would only miss
	ErrChanged     = errors.New("changed")            // since the person looked
	ErrNoAudit     = errors.New("no audit")           // it cannot be written
	ErrClosed      = errors.New("coordtop is ending") // Close was called
)
