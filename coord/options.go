package coord

import (
	"time"

	"coordtop/internal/backoff"
)

// SessionOptions are the wishes for a session. The zero value is usable with every
// driver.
type SessionOptions struct {
	// Description is shown to others where the service keeps one. At most 40 ASCII
	// characters are sure to survive. "": "coordtop".
	Description string
	// TTL is how long the service keeps what we own after our last sign of life, where
	// it takes such a wish. 0: the driver's default.
	TTL time.Duration
	// RenewEvery is the pause between two renewals. 0: what Window.RenewIn asks for. It
	// must leave room for a second try before the window ends, else Open refuses.
	RenewEvery time.Duration
	// Margin is taken off every window before we trust it: room for a scheduler that
	// wakes us late and for clocks that do not run at quite the same rate. 0: a
	// twentieth of the window, at least 100 ms and at most a quarter of the window.
	Margin time.Duration
	// StartTimeout bounds each try of Sessions and Candidate to open a session. 0: 10 s.
	StartTimeout time.Duration
	// Retry paces the tries of Sessions and Candidate.
	Retry backoff.Policy
	// OnState receives what the session goes through, in order, never two calls at a
	// time. It must not block, nor close the session, which waits for it. Nil: nothing
	// is called.
	OnState func(StateChange)
	// OnTrouble is called each time a claim that waits meets an error that may pass, when it
	// waits again as it should, and when its place is told. It must not block. Nil: nothing is
	// called.
	OnTrouble func(Trouble)
}

// Trouble is why a claim that waits does not get on for now.
type Trouble struct {
	Kind  Kind
	Name  string
	Err   error         // see Passing; nil: the claim waits as it should
	Pause time.Duration // until it is claimed again
	Place int           // of the claim in the queue when it joined, at most; 0: not told
}

// State is what a session goes through.
type State uint8

// The states of a session.
const (
	StateOpening  State = iota // no session yet; Err is why the last try failed, if any
	StateOpen                  // open, and the last renewal (if any) was confirmed
	StateDoubtful              // a renewal failed or is late; what we own is still trusted
	StateEnded                 // over; Err is the cause
)

// String returns "opening", "open", "doubtful" or "ended".
func (s State) String() string {
	return [...]string{"opening", "open", "doubtful", "ended"}[s]
}

// StateChange is one step of a session.
type StateChange struct {
	State State
	Err   error         // why, where there is a reason
	Retry time.Duration // StateOpening: the pause before the next try; 0: the try runs now
}
