package sources

import (
	"time"

	"coordtop/internal/ground/format"
)

// EventKind is what happened.
type EventKind uint8

// The kinds of events.
const (
	EventPresent EventKind = iota // was already so when we first looked; Detail says why no owner is seen
	EventSynced                   // a scope's listing is complete
	EventAcquired
	EventReleased // gone before its lease ran out, as far as known
	EventExpired  // gone at the end of its lease or after it
	EventOwnerChanged
	EventRenewed
	EventProclaimed
	EventWaiterJoined
	EventWaiterLeft
	EventCreated
	EventDeleted
	EventSourceUp
	EventSourceDown
	EventRestarted
	EventClockStep
	EventAction       // somebody did something through this program; Detail says what, and what was seen of it
	EventOwnerUnknown // who owns it cannot be told any more; nothing shows that the ownership ended
	EventLeaseChanged // the lease of an owner ends sooner, has no end any more, or has one now: no renewal. Detail says which
	EventAbsent       // was configured and did not exist when we first looked; Detail says what is missing
	EventNote         // a person noted something: Detail
	EventCountChanged // how many permits are owned, exist or are waited for, of a semaphore whose owners are not told: Was, Now
)

// String returns the word of the JSON documentation, as "owner_changed".
func (k EventKind) String() string {
	return [...]string{"present", "synced", "acquired", "released", "expired", "owner_changed", "renewed", "proclaimed",
		"waiter_joined", "waiter_left", "created", "deleted", "source_up", "source_down", "restarted", "clock_step",
		"action", "owner_unknown", "lease_changed", "absent", "note", "count_changed"}[k]
}

// Happened reports whether an event of this kind means that something happened: not what was
// already so when we first looked, nor that all goes on as it should.
func (k EventKind) Happened() bool {
	return k != EventPresent && k != EventAbsent && k != EventSynced && k != EventRenewed
}

// EndsOwner reports whether an event of this kind means that Event.Previous no longer owns
// the primitive.
func (k EventKind) EndsOwner() bool {
	return k == EventReleased || k == EventExpired || k == EventOwnerChanged
}

// BeginsOwner reports whether an event of this kind means that Event.Owner owns the
// primitive from now on, or did already when we first looked. An EventPresent
// without an Owner tells that nobody does, unless its How is Unknown.
func (k EventKind) BeginsOwner() bool {
	return k == EventAcquired || k == EventOwnerChanged || k == EventPresent
}

// Event is one thing that happened, with the stretch of time in which it did.
type Event struct {
	Seq       uint64        // 1, 2, 3 ... within one run of the program
	At, After time.Time     // it happened in (After, At]; After zero: at At, told
	Mono      time.Duration // since the Hub was made, on the monotonic clock
	Kind      EventKind
	RefKind   Kind   // of what Ref names; KindUnknown: not known, or no primitive
	Cause     Cause  // why Previous is gone
	How       Known  // of the least certain thing it says: a cause that is not told makes it Inferred
	Ref       Ref    // Name "" for events of a source or scope
	Alias     string // of the primitive
	AliasHow  Known
	Owner     OwnerRef      // who owns it by this event, or goes on owning it; the waiter where a waiter joins or leaves
	Previous  OwnerRef      // whose ownership ended by it
	Last      OwnerRef      // where nobody owned it before, or it is not known any more who does: who did until then; zero: not known
	LastSeen  OwnerRef      // who was seen to own it last then, whoever may have owned it unseen since; zero: nobody was
	Loss      bool          // no polite end: see Thresholds. Of an end, or of the take-over after a gap without a told cause
	LeaseLeft time.Duration // of Previous at At, of Owner just before it renewed, or its lease changed; 0: unknown or none
	Gap       Interval      // how long nobody owned it before Owner took it; zero: no gap known
	Held      Interval      // how long Previous had owned it, Max Endless where it may have been any longer; zero: not known
	Was, Now  Counts        // of EventCountChanged; Now also of an EventPresent whose owners are only counted
	Scope     string
	Detail    string // for people: the new data, quoted; an error; a sentence; who else owns what Owner acquired and only one may own
}

// Counts are the numbers of a semaphore whose owners are not told.
type Counts struct{ Taken, Limit, Waiting uint64 } // Limit 0: not known

// Text writes them for people: "2 of 3 taken, 1 waits".
func (c Counts) Text() string {
	text := format.Count(int(Permits(c.Taken)))
	if c.Limit > 0 {
		text += " of " + format.Count(int(Permits(c.Limit)))
	}
	switch text += " taken"; c.Waiting {
	case 0:
		return text
	case 1:
		return text + ", 1 waits"
	}
	return text + ", " + format.Count(int(c.Waiting)) + " wait"
}
