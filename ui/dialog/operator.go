package dialog

import (
	"context"

	"coordtop/internal/action"
	"coordtop/sources"
)

// Operator carries out what a person decides. Nothing that it keeps depends on the
// screen: leases are renewed however long a frame takes. All methods may be called at
// any time from any goroutine. Describe may block, and Start, Arm and Disarm may wait some
// seconds for a disk; the others return at once.
type Operator interface {
	Adviser
	Actor
	Switch
}

// Adviser says what can be done, and what that would do.
type Adviser interface {
	// Caps lists what can be done with each source at all, by name. It asks no server.
	Caps() []action.Ability
	// Choices lists what can be done to a row, possible actions first, the impossible ones
	// with the reason.
	Choices(row *sources.Row) []action.Choice
	// NotEnded is why the ownership or wait of that owner or waiter of a row cannot be ended by
	// force; "": it can.
	NotEnded(row *sources.Row, t action.Target) string
	// Describe says what a request would do; it may ask the server, until ctx ends.
	Describe(ctx context.Context, r action.Request) (action.Effect, error)
}

// Actor does it.
type Actor interface {
	// Start checks every guard, writes the audit's first line and begins; what becomes of
	// it is in Status under the number returned. An error means that nothing was sent, and
	// its text is for the person.
	Start(r action.Request) (id uint64, err error)
	// CallOff ends an action that is not over; a lease that it has won already is given
	// back. One that is over is left as it is.
	CallOff(id uint64)
	// Status returns the latest snapshot, never nil.
	Status() *action.Status
}

// Switch arms and disarms the program, and chooses what happens to our leases when it ends.
type Switch interface {
	// Arm makes writing possible for some minutes. For a protected source typed must be its
	// name; elsewhere it is ignored. An error says why it is not possible.
	Arm(source, typed string) error
	// Disarm makes writing impossible at once; what we hold is kept.
	Disarm()
	// LetRunOut makes Close of the program leave our leases to their TTL instead of
	// resigning them, where a lease can run out.
	LetRunOut()
}
