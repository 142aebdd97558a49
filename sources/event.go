package sources

import (
	"time"

	"coordtop/internal/ground/format"
)

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of events.
const (
	EventPresent EventKind = iota // state at the first look; if no owner is seen, Detail is the reason
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
	EventAction       // a person acted through this program; Detail has the action and its result
	EventOwnerUnknown // the owners are unknown from now on; nothing shows that the ownership ended
	EventLeaseChanged // an owner's lease ends sooner, has no end any more, or has an end now, other than by renewal. See Detail
	EventAbsent       // was configured and did not exist at the first look; Detail names what is missing
	EventNote         // a note of a person: Detail
	EventCountChanged // another number of taken permits, of all permits or of waiters, if the owners are unknown; see Was, Now
)

// String returns the word used in JSON, for example "owner_changed".
func (k EventKind) String() string {
	return [...]string{"present", "synced", "acquired", "released", "expired", "owner_changed", "renewed", "proclaimed",
		"waiter_joined", "waiter_left", "created", "deleted", "source_up", "source_down", "restarted", "clock_step",
		"action", "owner_unknown", "lease_changed", "absent", "note", "count_changed"}[k]
}

// Happened reports whether an event of this kind is a change, and not the state at the first look, a renewal or a
// complete listing.
func (k EventKind) Happened() bool {
	return k != EventPresent && k != EventAbsent && k != EventSynced && k != EventRenewed
}

// EndsOwner reports whether an event of this kind means that Event.Previous no longer owns
// the primitive.
func (k EventKind) EndsOwner() bool {
	return k == EventReleased || k == EventExpired || k == EventOwnerChanged
}

// BeginsOwner reports whether an event of this kind means that Event.Owner owns the primitive from now on, or owned it
// already at the first look. An EventPresent without an Owner means that nobody owns it, unless its How is Unknown.
func (k EventKind) BeginsOwner() bool {
	return k == EventAcquired || k == EventOwnerChanged || k == EventPresent
}

// ChangesOwner reports whether the event is a change of owner, or of the number of taken permits, as counts of changes
// have it.
func (e *Event) ChangesOwner() bool {
	return e.Kind == EventAcquired || e.Kind == EventOwnerChanged || e.Was.Taken != e.Now.Taken && e.Kind == EventCountChanged
}

// Event is one thing that happened, with the stretch of time in which it did.
type Event struct {
	Seq       uint64        // 1, 2, 3 ... in one run of the program
	At, After time.Time     // the time of the event is in (After, At]; if After is zero, it is At, as told
	Mono      time.Duration // since the Hub was made, on the monotonic clock
	Kind      EventKind
	RefKind   Kind   // of the primitive; KindUnknown if unknown or without a primitive
	Cause     Cause  // of the end of Previous
	How       Known  // of the least certain fact in the event; Inferred if the cause is not told
	Ref       Ref    // Name "" for events of a source or scope
	Alias     string // of the primitive
	AliasHow  Known
	Owner     OwnerRef      // the new or continuing owner, or the waiter that joins or leaves
	Previous  OwnerRef      // the owner whose ownership ended
	Last      OwnerRef      // the last owner, if nobody owned it just before or the owners are unknown from now on; zero: unknown
	LastSeen  OwnerRef      // in the same cases, the owner last seen; others may have owned it unseen since; zero: none
	Loss      bool          // the ownership did not end regularly, see Thresholds; set at the end, or at the take-over after a gap if the cause is not told
	LeaseLeft time.Duration // of Previous at At, or of Owner just before its renewal or lease change; 0: unknown or none
	Gap       Interval      // length of the time without an owner before Owner took it; zero: no gap is known
	Held      Interval      // length of the ownership of Previous, Max is Endless if it has no upper bound; zero: unknown
	Was, Now  Counts        // for EventCountChanged; Now also for an EventPresent whose owners are only counted
	Scope     string
	Detail    string // for people: the new data, quoted; an error; a sentence; the other owner in a conflict

	// Data is set for an event after which Owner owns the primitive, and for EventCreated and EventProclaimed. Nil: there
	// is no data, or it is not known. No recording has it.
	Data *EventData
}

// EventData are the data of a primitive itself and of Event.Owner after the event.
type EventData struct{ Own, Owner Blob }

// SetData sets Data to that of a primitive and of one of its owners, which may be nil.
func (e *Event) SetData(p *Primitive, o *Owner) {
	d := EventData{Own: p.Data}
	if o != nil {
		d.Owner = o.Data
	}
	if e.Data = nil; d != (EventData{}) { // most events have none, and then nothing is allocated
		e.Data = &EventData{d.Own, d.Owner}
	}
}

// Counts are the numbers of a semaphore whose owners are unknown.
type Counts struct{ Taken, Limit, Waiting uint64 } // Limit 0: not known

// Text returns the numbers for people: "2 of 3 taken, 1 waits".
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
