// Package sources turns the reports of backends into one live picture: the owners and waiters of each primitive, since
// when they own or wait, and how certain each of these facts is. Package kit has the parts that most sources need, and
// package tape writes the history of a Hub and reads it back.
//
// It may import coord, sources/lane, internal/ground/*.
//
// # From a backend to the screen
//
// A [Source] reads one backend and sends [Change]s: parts of the state, never events. A
// runner (see [Run]) owns each source and connects it again after a failure or a panic. The [Hub]
// is the only writer of States and events. For each Change, under one lock and in this order:
//
//  1. About and Relists are applied, and the scopes in Alive are live (apply.go).
//  2. For each primitive (rows.go), the last look and this one are compared: which owners continue (continuity.go), and
//     which events follow (diff.go). The row's history completes the events (rowhistory.go). They get their numbers,
//     enter the ring and wake the subscribers.
//  3. The row's terms, gaps and counters are updated from these events (rowhistory.go, terms.go).
//  4. The row is replaced, or freed if the primitive is gone.
//  5. With Synced, every row of the scope that was not Set since Relists is gone. A row that exists only while it is
//     owned was freed in the dark; it stays for its ForgetAfter, without an owner.
//  6. A [State] is published, at once or at the end of the step.
//
// Before the lock a Change is completed: its times lose their monotonic readings, owners get
// the labels of Spec.Owners, and an error in it is reduced to its text and kind. If a source sends
// times without monotonic readings ([Primitive.OnWallClock], [Wall]), nothing need be copied for this.
//
// An error of a source is a [Problem]: a sentence with what is wrong, where, and what to do.
//
// # Events and states
//
// Events are the record of all changes. They are numbered without holes and each is sent once. Applied in their order
// to an empty model, they produce the owners of the state. A [Subscription] reads them by cursor; if it falls behind,
// it learns how many it missed and starts again from the state. To find changes, read the events: never compare two
// states.
//
// States are for display: immutable, and sparse. After a quiet time a change is published at once, then at most ten
// times a second, and the last change is always published. A change of owner in a row on screen ([Hub.Focus]), a source
// that goes up or down, and the first listing of a scope do not wait. Proof of life, and renewals long before they are
// due, wait for up to a second, or until [Hub.Publish] is called. State.LastSeq is the number of the last event that a
// state contains, so that a subscription can continue exactly where a snapshot ends.
//
// The ring holds the newest 100,000 events of the last 24 hours. Renewals have a queue of their own there and are
// dropped first, so that the renewals of many healthy owners do not displace the failure of another. An EventPresent is
// dropped when it is ten seconds old and every subscriber has read it.
//
// # What is known
//
// Every fact has a [Known], the way in which it is known. An event's How is that of its least
// certain fact.
//
// Each stretch of a row's time is one of three kinds. It is *pushed* if any write would have been pushed, *sampled* if
// the row is read at intervals and no look is missing, and *dark* otherwise (see below). In pushed and sampled
// stretches, a fact that two neighbouring looks show counts as true between them. Terms and gaps in a sampled stretch
// carry the pause between its looks ([Term].Every, [Interval].Every), because another owner may have come and gone in a
// pause. In the dark nothing is assumed.
//
// While nothing is dark, an owner with the same ID and fence is the same, in the same *term*. After darkness a term
// counts as seen only on proof that the grant is the same. Either it was not written to in between (its deadline has
// not changed by more than the reading error), or a value that is new with each grant (its fence, [Owner].Proof) is
// equal. An equal ID proves nothing, nor does a changed deadline. Without proof the same owner has one term in *doubt*.
// No event reports an end, a beginning or a renewal. [Term].Sure is the first look after the darkness, from which the
// minimum length counts. Since is then AtLeast, and the maximum length counts from the earliest start.
//
// When the server restarts, a term ends only if the restart loses ownerships, which a source reports as another
// Incarnation, or if the term's deadline had passed before the server's start (About.Started). Then it ended somewhere
// in the dark, and another term began. If the Proof is the same, the owner was kept, even under another Incarnation.
//
// If the source is told Since, that value is used. Otherwise it is AtLeast for an owner of the first look or in doubt,
// and Seen for an owner whose take-over we saw.
//
// # Time
//
// The Hub and the runners read one [Clock]; a source reads that of its machine. Every time in a Change, an Event and a
// State is on the wall clock and has no monotonic reading, so that it compares in the same way after it was stored.
// Silence, pauses and [Event].Mono are measured on the monotonic clock. When the wall clock is set by more than 2 s
// either way, an EventClockStep reports it, and every source reconnects and is read again: times before the step cannot
// be compared with times after it. A sleep of this machine counts as such a step.
//
// # Inputs and replay
//
// Everything that changes a Hub enters it in one function, under its lock, as an [Input]: Changes of sources, reports
// of the runners, our actions and notes, and decisions by time, such as the silence of a scope or a publish. The code
// that applies an Input reads no clock and no setting. So all Inputs of a Hub, from the first one on, produce the same
// States and Events in a [Replayer], including the unexported parts of the rows. [Hub.Focus], refreshes, and ticks
// without a decision are no Inputs: they do not change States and Events. (Events that are too old are dropped at such
// ticks; a replay drops them with the next event.)
//
// An [InputBuffer] in HubOptions keeps the Inputs for one reader; without a recording, an Input is not kept. The reader
// can rely on this:
//
//   - Seq counts the Inputs in the order of the lock, without holes. The State of an InputPublished contains exactly
//     the Inputs before it.
//   - Inputs that were dropped because the buffer was full are counted. The Inputs after such a hole
//     cannot be replayed before the next Keyframe.
//   - The values that Inputs refer to (primitives, States) are immutable, and may be kept and read in any goroutine.
//   - Times have no monotonic reading and are local; an error is a [Problem] whose only possible cause is ErrSilent.
//
// A [Keyframe] is the whole model between two Inputs: [NewReplayerAt] continues from it like the Hub. Package tape
// stores both.
//
// HubOptions.Resume starts a Hub with the last Keyframe of an earlier run. Sources with the same name, type and address
// continue as after an outage. Their rows are there at once, stale, with their terms. The time from the last answer of
// their servers to the next listing is dark. That listing shows which owners continue in the same term, and which terms
// ended or began in the dark. Rows of other sources are left out; if the clock shows less than at the end of that run,
// all rows are. Expectations, outages and the numbers of events start again. Data that was left out or masked counts as
// changed only if its length differs.
//
// # Silence, gaps and darkness
//
// A scope is the smallest part of a source that can be silent alone. Only Change.Alive proves that its
// server answers. A scope without an answer for its limit, max(3 s, 2.5 x its sampling), is stale, and
// all scopes of a source are stale when its connection fails; their rows stay, and [Row.Status]
// is stale whatever else is known. The stretch since the last answer is kept as
// [Dark].
//
// Relists reports that continuity was lost: each row of the scope is stale until it is Set again. An owner that is
// still there continues in the same term, in doubt unless there is proof. Another owner took over somewhere in (last
// answer, now], and the cause is unknown unless the earlier lease was over when the stretch began. For a time that was
// not observed, neither an ownership nor a gap is invented: the minimum length of a gap counts only its observed part,
// the maximum counts all. [Row.Unobserved] also has the stretches in which a single row was read but its owners were
// unknown ([EventOwnerUnknown]), or in which it may have changed and changed back unseen (Change.Unseen). The latter
// exist because a silence shorter than the limit makes no row stale, but may hide owners that came and went.
//
// # Connecting again
//
// After a failure the source rests and is connected again. The pauses grow by Spec.Retry until a connection has
// answered and read a whole listing, however old the connection is; then they start short again. Such a connection is
// replaced at once when it ends, within two bounds that protect a server that ends each connection: two connections
// begin at least 0.5 to 1 s apart, and connecting and listing take at most half of the time (this pause is at most 5
// s). After a refusal, which only a person can change, the next try comes after 2.5 to 5 s, or at once by a refresh.
//
// If a source of several scopes is refused one of them, it sends Change.Down. That scope is stale at once, for that
// reason, until its server is Alive again.
//
// EventSourceDown has the reason. It is sent once when the source turns stale or cannot be connected, and again, with
// After zero, for each new reason of the outage. A reason that had an event already gets another when it lasts for
// three failures. After 20 reasons of one outage there are no more events. All silence counts as one reason.
//
// # Bounds
//
// A row keeps [MaxTerms] terms, or, for a semaphore, at least 20 minutes of its count and [MaxTerms] terms of its
// owners. It also keeps an hour of activity in a fixed size. A scope keeps 256 dark stretches. A row never changes its
// slot; a generation distinguishes later rows in the same slot.
//
// # Words
//
//   - A source *reads* its backend and *sends* Changes through its Link; a server *answers*
//     (Alive, which is the only proof of life). A *look* is one reading of one row, a *listing*
//     the reading of all rows of a scope: Relists begins one and Synced ends it.
//   - An *input* enters the model of the Hub; the model *applies* it, *emits* events
//     and changes *rows*. The Hub *publishes* States. A *note* is an event that no source sends.
//   - A row is *stale* when it cannot be believed now. A *dark* stretch of time is one in which a scope, or a row, was
//     not observed. The owners of a row are *unknown* when it was read but does not show them. A row is *absent* when
//     the server reports that it does not exist.
//   - An owner's *term* is one uninterrupted ownership, a *gap* of a row (Row.Gaps) the time
//     between two of them.
//   - *Told*, *seen* and *inferred* are ways of knowing: see Known.
package sources
