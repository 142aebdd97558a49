package action

import (
	"time"

	"coordtop/sources"
)

const (
	// ArmedFor is how long writing stays armed.
	ArmedFor = 5 * time.Minute
	// BoardWait is how long a claim from the board waits where the person has typed nothing.
	BoardWait = 5 * time.Minute
)

// Verb is what is done to a primitive.
type Verb uint8

// The verbs.
const (
	Acquire    Verb = iota + 1 // take it; where it is taken, wait for it in the queue
	Try                        // take it only if it is free now
	Campaign                   // wait to lead
	Proclaim                   // change the data of a term of ours
	Resign                     // give up what we own, or leave the queue
	Release                    // end what somebody else owns, by force
	CancelWait                 // end the wait of somebody else
	Crash                      // end the owner's process without a word; in the demo alone

	// Of what exists by itself, without being owned:
	Create     // make a primitive that is absent
	Update     // replace the data of the primitive, which is nobody's
	Delete     // remove a primitive that nobody owns or waits for
	CreateNode // make the space (Ref.Space) that a primitive is to be in

	afterLast // no verb: a test counts up to it
)

// String returns the name of a verb on the command line and in the audit, as "cancel-wait"; of none "none".
func (v Verb) String() string {
	names := [...]string{
		"none", "acquire", "try", "campaign", "proclaim", "resign", "release", "cancel-wait", "crash", "create", "update", "delete", "create-node",
	}
	if int(v) >= len(names) {
		return names[0]
	}
	return names[v]
}

// Request is one action that a person asks for.
type Request struct {
	Verb    Verb
	Target  Target
	Mode    sources.Mode  // Acquire, Try: Shared where the backend can
	Permits uint64        // of a semaphore; 0: 1
	Wait    time.Duration // Acquire, Campaign: how long to wait; 0: until it is ours
	Limit   uint64        // Create: how many permits there shall be; 0: 1. Of a semaphore whose server takes it with every claim; 0: as the row says
	Data    []byte        // Acquire, Campaign, Proclaim, Create, Update: what others are to see
	Reason  string        // goes to the audit; a protected source demands one
	Typed   string        // the name that the person typed to confirm
}

// Pin is what of the target must still be so when the request is sent, at a row with that
// limit. Some of a semaphore's permits are taken from nobody, and the owners of a busy one
// come and go while a person reads.
func (r *Request) Pin(limit uint64) Pin {
	if r.Verb == Try && r.Target.Kind == sources.KindSemaphore && limit != 1 {
		return PinName
	}
	return Of(r.Verb).Pin
}

// Choice is one line of the menu of actions.
type Choice struct {
	Verb Verb
	// Not is why it cannot be done, in words for the person ("held already, by us"). "":
	// it can be done.
	Not string
}

// Effect is what a request would do, for the person to read before it is done.
type Effect struct {
	Lines []string // in plain words; the first one leads
	Call  string   // what is sent, as exactly as can be said in a line
	Next  string   // who would own it afterwards, as far as known; "": nothing to say
	// NeedsName is the text that the person must type to confirm: a short line without
	// blanks at its ends. "": none.
	NeedsName   string
	NeedsReason bool
	TakesData   bool
	TakesLimit  bool
	TakesMode   bool // the person may choose to own it together with others
	DataMax     int  // bytes that Data may have; 0: it takes none
	Danger      bool // the box gets the frame of things that can do harm
}

// Phase is how far an action is.
type Phase uint8

// The phases, in their order.
const (
	Sending Phase = iota // the audit has its first line, the request is on its way
	Waiting              // in a queue, or campaigning
	Sent                 // the service has answered; it is not on our own watch yet
	Seen                 // observed: done
	Unseen               // answered, and not observed in the time that the watch may take
	Missed               // tried or waited for, and not got
	Changed              // Release, CancelWait: it changed just before, and no ownership or wait was ended
	Failed               // refused, or an error; Text says which
	Dropped              // called off by the person or the end of the program
	Unknown              // whether it is ours at the service is not known; Text says for how long it may be
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
	Changed time.Time // when it came to this phase
	Place   int       // in the queue, from 1, while Waiting; 0: not known
	AtMost  bool      // it may also be an earlier place
	Text    string    // what happened, in words for the person
	Refused bool      // the service refuses us: our login, or a right is missing
	// NotPossible: Failed, and so it would again until a right, a setting or the owner is another.
	NotPossible bool
	Lost        bool // what was ours, or was to be given up, is not ours any more
}

// Holding is what we own or wait for.
type Holding struct {
	Ref     sources.Ref
	Kind    sources.Kind
	Owner   string // ID of ours as the source shows it, of our session while we wait; "": not known
	Fence   uint64
	Permits uint64
	Mode    sources.Mode
	Waiting bool
	GivesUp time.Time // when the wait ends; zero: never, or it is ours
	Since   time.Time
	// Until is the end of trust: zero where it ends with a connection or session alone.
	Until time.Time
	// RunsOut reports whether abandoning leaves it to its TTL at the service; where it is false
	// it ends with our connection.
	RunsOut bool
	Data    []byte
}

// Owns reports whether an owner of its row is us. While we wait: the service has made us the owner, and its
// answer did not arrive yet, or was lost.
func (h *Holding) Owns(o *sources.Owner) bool {
	if h.Owner == "" {
		return h.Fence != 0 && h.Fence == o.Fence
	}
	return h.Owner == o.ID || h.Owner == o.Session
}

// Status is how everything stands, at one instant. It is never changed afterwards.
type Status struct {
	Armed    time.Time // writing is possible until then; zero: it is not
	Always   bool      // writing is possible without an end
	Holdings []Holding // in the order in which they were asked for
	Runs     []Run     // newest last; those that are over stay for some minutes
	Audit    string    // where the audit is written, for people; "": nowhere
}

// CanWrite reports whether writing is possible at now.
func (s *Status) CanWrite(now time.Time) bool { return s.Always || now.Before(s.Armed) }
