package action

import (
	"time"

	"coordtop/sources"
)

const (
	// ArmedFor is the time for which writing stays armed.
	ArmedFor = 5 * time.Minute
	// BoardWait is the default time for which a claim from the board waits.
	BoardWait = 5 * time.Minute
)

// Verb is an action on a primitive.
type Verb uint8

// The verbs.
const (
	Acquire    Verb = iota + 1 // take it; if it is taken, wait for it in the queue
	Try                        // take it only if it is free now
	Campaign                   // wait to lead
	Proclaim                   // change the data of a term of ours
	Resign                     // give up what we own, or leave the queue
	Release                    // end what somebody else owns, by force
	CancelWait                 // end the wait of somebody else
	Crash                      // kill the owner's process; only in the demo

	// Verbs for primitives that exist without an owner:
	Create     // make a primitive that is absent
	Update     // replace the primitive's own data
	Delete     // remove a primitive that nobody owns or waits for
	CreateNode // make a space (Ref.Space)
	AlterNode  // change the settings of a space
	DropNode   // remove a space with everything in it

	afterLast // no verb; the end of the list for tests
)

// String returns the name of a verb on the command line and in the audit, such as "cancel-wait"; "none" for no verb.
func (v Verb) String() string {
	names := [...]string{
		"none", "acquire", "try", "campaign", "proclaim", "resign", "release", "cancel-wait", "crash", "create", "update", "delete", "create-node", "alter-node", "drop-node",
	}
	if int(v) >= len(names) {
		return names[0]
	}
	return names[v]
}

// Request is an action that a person wants.
type Request struct {
	Verb     Verb
	Target   Target
	Mode     sources.Mode   // Acquire, Try: Shared if the backend supports it
	Permits  uint64         // of a semaphore; 0: 1
	Wait     time.Duration  // Acquire, Campaign: how long to wait; 0: until it is ours
	Limit    uint64         // Create: the new semaphore's limit; 0: 1. Claims: the limit, if each must name it; 0: the row's
	Data     []byte         // Acquire, Campaign, Proclaim, Create, Update: the data for others
	Reason   string         // for the audit; a protected source demands one
	Typed    string         // the name that the person typed to confirm
	Force    bool           // Delete, DropNode: also while somebody owns or awaits it
	Was      string         // Update: the SHA-256, in hex, that the data must have just before; "": any
	Settings []sources.Attr // CreateNode, AlterNode: by the names that About.Config has; others stay, or are left to the service
	Session  Session        // Acquire, Try, Campaign
	// Ephemeral makes a claim of a semaphore create it if it is absent, and the service remove it with its last owner.
	Ephemeral bool
	// Proceed, if not nil, makes Acquire take only a place in the queue; it waits there once Proceed is closed.
	Proceed <-chan struct{}
}

// Session has the wishes of a claim for its session and its lease. The zero value leaves all of them to the backend.
type Session struct {
	Lease        time.Duration // the time for which the service keeps the lease after its last renewal
	Recovers     bool          // Lease must also be the time for which a session outlives its connection
	RenewEvery   time.Duration // the longest pause between two renewals
	StartTimeout time.Duration // bounds each try to open the session
	RetryDelay   time.Duration // the longest pause between two tries, after an error or where the service keeps no queue
	Description  string        // shown to others where the service keeps the description of a session
}

// Pin returns which part of the target must be unchanged when the request is sent. limit is that of the row. A try of a
// semaphore does not depend on the owners, because these come and go while a person reads.
func (r *Request) Pin(limit uint64) Pin {
	if r.Force {
		return PinUse
	}
	if r.Verb == Try && r.Target.Kind == sources.KindSemaphore && limit != 1 {
		return PinName
	}
	return Of(r.Verb).Pin
}

// Choice is one line of the menu of actions.
type Choice struct {
	Verb Verb
	// Not is the reason, for the person, why it cannot be done ("held already, by us"). "": it can be done.
	Not string
}

// Effect describes for the person what a request would do, before it is sent.
type Effect struct {
	Lines []string // in plain words, the most important first
	Call  string   // what is sent, on one line, as exactly as possible
	Next  string   // who would own it afterwards, as far as known; "": nothing is known
	// NeedsName is the text that the person must type to confirm: a short line without blanks at its ends. "": nothing
	// must be typed.
	NeedsName   string
	NeedsReason bool
	TakesData   bool
	TakesLimit  bool
	TakesMode   bool // the person may choose to own it together with others
	DataMax     int  // the most bytes of Data; 0: the verb takes no data
	Danger      bool // the action can do harm, so its box has a warning frame
}

// Phase is the progress of an action.
type Phase uint8

// The phases, in their order.
const (
	Sending Phase = iota // the audit has its first line, the request is on its way
	Waiting              // in a queue, or campaigning
	Sent                 // the service has answered; our own watch does not show the result yet
	Seen                 // our watch shows the result: done
	Unseen               // the service has answered, but our watch did not show the result in time
	Missed               // a try that missed, or a wait that ended without the lease
	Changed              // the row changed just before, so nothing was released, updated or deleted
	Failed               // refused, or an error; Text has the reason
	Dropped              // called off by the person or the end of the program
	Unknown              // the lease may be ours at the service; Text says for how long
)

// String returns the word for people: "sending", "waiting", "sent", "done", "not seen",
// "missed" (also for Changed), "failed", "called off" or "not known".
func (p Phase) String() string {
	return [...]string{"sending", "waiting", "sent", "done", "not seen", "missed", "missed", "failed", "called off", "not known"}[p]
}

// Over reports whether an action in this phase has ended.
func (p Phase) Over() bool { return p >= Seen }

// Run is one action that was started.
type Run struct {
	ID      uint64 // 1, 2, 3 ... within one run of the program
	Request Request
	Phase   Phase
	Started time.Time
	Changed time.Time // when the phase began
	Place   int       // in the queue, from 1, while Waiting; 0: not known
	AtMost  bool      // Place is only the upper bound
	Text    string    // what happened, in words for the person
	Refused bool      // the service refuses our login, or we lack a right
	// NotPossible means that the run Failed and that a retry would also fail until a right, a setting or the owner
	// changes.
	NotPossible bool
	Lost        bool // the lease that we had, or should give up, is not ours any more
}

// Holding is a lease that we own or wait for.
type Holding struct {
	Ref     sources.Ref
	Owner   string // our ID in the form of the source; while we wait that of our session; "": not known
	Label   string // our label for others
	Fence   uint64
	Permits uint64
	Mode    sources.Mode
	Waiting bool
	// Enqueued means that we have a place in the queue (see Run.Place), or it is granted to us, and do not wait there yet.
	Enqueued bool
	GivesUp  time.Time // when the wait ends; zero: never, or the lease is ours
	Since    time.Time
	// Until is the end of trust; zero if the lease ends only with a connection or session.
	Until time.Time
	// RunsOut reports whether the lease stays at the service for its TTL if we abandon it. Otherwise it ends with our
	// connection.
	RunsOut bool
	Data    []byte
}

// Owns reports whether o, an owner of the row, is us. We may own it even while we wait, if the service's answer has not
// arrived yet or was lost.
func (h *Holding) Owns(o *sources.Owner) bool {
	if h.Owner == "" {
		return h.Fence != 0 && h.Fence == o.Fence
	}
	return h.Owner == o.ID || h.Owner == o.Session
}

// Status is a snapshot of an Operator. It never changes.
type Status struct {
	Armed    time.Time // writing is possible until then; zero: not armed
	Always   bool      // writing is possible without an end
	Holdings []Holding // in the order of their requests
	Runs     []Run     // newest last; ended ones stay for some minutes
	Audit    string    // the path of the audit, for people; "": no audit
}

// CanWrite reports whether writing is possible at now.
func (s *Status) CanWrite(now time.Time) bool { return s.Always || now.Before(s.Armed) }
