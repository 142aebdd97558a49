package dialog

import (
	"context"

	"coordtop/internal/action"
	"coordtop/sources"
)

// Operator carries out the decisions of a person. It does not depend on the screen: it renews
// leases however long a frame takes. All methods may be called at any time from any goroutine.
// Describe may block, and Start, Arm and Disarm may wait some seconds for a disk; the others return
// at once.
type Operator interface {
	Adviser
	Actor
	Switch
}

// Adviser lists the possible actions and describes their effects.
type Adviser interface {
	// Caps lists the actions that each source supports, by name. It asks no server.
	Caps() []action.Ability
	// Choices lists the actions for a row, possible ones first, impossible ones with the reason.
	Choices(row *sources.Row) []action.Choice
	// NotEnded returns why the ownership or wait in t cannot be ended by force; "": it can.
	NotEnded(row *sources.Row, t action.Target) string
	// Describe returns the effect of a request; it may ask the server, until ctx ends.
	Describe(ctx context.Context, r action.Request) (action.Effect, error)
}

// Actor carries out actions.
type Actor interface {
	// Start checks every guard, writes the first line of the audit and begins the action, which
	// Status then lists under id. An error means that nothing was sent; its text is for the person.
	Start(r action.Request) (id uint64, err error)
	// CallOff ends an action that is not over, and gives back a lease that it has won already. It
	// does nothing to an action that is over.
	CallOff(id uint64)
	// Status returns the latest snapshot, never nil.
	Status() *action.Status
}

// Switch arms and disarms the program, and chooses what happens to our leases when it ends.
type Switch interface {
	// Arm makes writing possible for some minutes. For a protected source typed must be its name;
	// for others it is ignored. The error's text is for the person.
	Arm(source, typed string) error
	// Disarm makes writing impossible at once; what we hold is kept.
	Disarm()
	// LetRunOut makes Close of the program leave our leases to their TTL instead of
	// resigning them, where a lease can run out.
	LetRunOut()
}
