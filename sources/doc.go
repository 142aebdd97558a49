// Package sources turns the reports of backends into one live picture: the owners and waiters of
// each primitive, since when, and how certain each of these facts is. Package kit has the parts
// that most sources need, and package tape writes the history of a Hub and reads it back.
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
//  2. For each primitive (rows.go), the last look and this one are compared: which owners go on
//     (continuity.go), and which events that makes (diff.go). The row's history completes them
//     (rowhistory.go). They get their numbers, go into the ring and wake the subscribers.
//  3. The row's terms, gaps and counters are updated from these events (rowhistory.go, terms.go).
//  4. The row is replaced, or freed where the primitive is gone.
//  5. With Synced, every row of the scope that was not Set since Relists is gone. A row that exists only
//     while it is owned stays for its ForgetAfter, without an owner: it was freed in the dark.
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
// Events are the record of all changes: numbered without holes, each sent once, in an
// order in which they can be applied to an empty model to arrive at the owners of the
// state. A [Subscription] reads them by cursor; if it falls behind, it learns how many
// it missed and starts again from the state. To find changes, read the events: never compare two
// states.
//
// States are for display: immutable, and sparse. After a quiet time a change is
// published at once, then at most ten times a second, and the last change is always
// published. A change of owner in a row on screen ([Hub.Focus]), a source that goes up
// or down, and the first listing of a scope do not wait. Proof of life, and renewals long
// before they are due, wait for up to a second, or until [Hub.Publish] is called.
// State.LastSeq is the number of the last event that a state contains, so a subscription can go on
// exactly where a snapshot ends.
//
// The ring holds the newest 100,000 events of the last 24 hours. Renewals have a queue of
// their own in it and are dropped first, so that the renewals of many healthy owners do not displace
// the failure of one. An EventPresent is dropped when it is ten seconds old and every subscriber has
// read it.
//
// # What is known
//
// Every fact has a [Known], the way in which it is known. An event's How is that of its least
// certain fact.
//
// Each stretch of a row's time is one of three kinds. It is *pushed* where any write would have
// been pushed; *sampled* where the row is read at intervals, and no look is missing; *dark*
// otherwise (see below). In pushed and sampled stretches, a fact that two neighbouring looks show is
// taken to hold between them. Terms and gaps in a sampled stretch carry the pause between its
// looks ([Term].Every, [Interval].Every), because another owner may have come and gone in a pause. In
// the dark nothing is assumed.
//
// While nothing is dark, an owner with the same ID and fence is the same, in the same *term*.
// After darkness a term counts as seen only on proof that the grant is the same: it was not written to
// in between (its deadline is the same to within the reading), or a value is equal that is new
// with each grant (its fence, [Owner].Proof). An equal ID proves nothing, nor does a deadline
// that moved. Without proof the same owner is one term in *doubt*: no event reports an end, a beginning
// or a renewal; [Term].Sure is the first look after the darkness, from which the
// least length counts; Since is AtLeast then, and the earliest start bounds the greatest length.
//
// When the server restarts, a term ends only if the restart loses ownerships, which a source
// reports as another Incarnation, or if the term's deadline had passed before the server's start
// (About.Started). Then it ended somewhere in the dark, and another term began. An owner with the same
// Proof was kept, whatever the Incarnation.
//
// Since is the source's where it is told; else it is AtLeast for an owner of the first look,
// or in doubt, and Seen for an owner whose take-over we saw.
//
// # Time
//
// The Hub and the runners read one [Clock]; a source reads that of its machine. Every time in
// a Change, an Event and a State is on the wall clock and has no monotonic reading, so that
// it compares in the same way after it was stored. Silence, pauses and [Event].Mono are
// measured on the monotonic clock. When the wall clock is set by more than 2 s either way, an
// EventClockStep reports it, and every source is connected and read anew: times from before the
// step do not compare with those from after it. A sleep of this machine counts as such a step.
//
// # Inputs and replay
//
// Everything that changes a Hub enters it in one function, under its lock, as an [Input]: Changes of
// sources, reports of the runners, our actions and notes, and decisions by time, such as the
// silence of a scope or a publish. The code that applies an Input reads no clock and no setting. So the
// Inputs of a Hub, from the first one on, make the same States and Events again in a
// [Replayer], unexported parts of the rows included. [Hub.Focus], refreshes, and ticks without a
// decision are no Inputs: they do not change States and Events. (Events that are too old are
// dropped at such ticks; a replay drops them with the next event.)
//
// An [InputBuffer] in HubOptions keeps the Inputs for one reader; without a recording, an
// Input is a value on the stack of its maker. The reader can rely on this:
//
//   - Seq counts the Inputs in the order of the lock, without holes. The State of an InputPublished
//     contains all Inputs before it, and none after it.
//   - Inputs that were dropped because the buffer was full are counted. The Inputs after such a hole
//     cannot be replayed before the next Keyframe.
//   - The values that Inputs refer to (primitives, States) are immutable: they may be kept and read in
//     any goroutine.
//   - Times have no monotonic reading and are local; an error is a [Problem] without a cause
//     but ErrSilent.
//
// A [Keyframe] is the whole model between two Inputs: [NewReplayerAt] goes on from it as the Hub
// did. Package tape stores both.
//
// HubOptions.Resume starts a Hub with the last Keyframe of an earlier run. Sources with
// the same name, type and address go on as after an outage: their rows are there at once,
// stale, with their terms; the time from the last answer of their servers to the
// next listing is dark; and that listing shows which owners go on in the same term, and which terms ended
// or began in the dark. Rows of other sources are left out, and all rows where the clock shows
// less than at the end of that run. Expectations, outages and the numbers of events begin anew. Data
// that was left out or masked counts as changed only if its length differs.
//
// # Silence, gaps and darkness
//
// A scope is the smallest part of a source that can be silent alone. Only Change.Alive proves that its
// server answers. A scope without an answer for its limit, max(3 s, 2.5 x its sampling), is stale, and
// all scopes of a source are stale when its connection fails; their rows stay, and [Row.Status]
// is stale whatever else is known. The stretch since the last answer is kept as
// [Dark].
//
// Relists reports that continuity was lost: each row of the scope is stale until it is
// Set anew. An owner that is still there goes on in the same term, in doubt where nothing
// proves more. Another owner took over somewhere in (last answer, now], and the cause is unknown unless
// the lease before was over when the stretch began. No ownership is ever invented for a time that was
// not observed, and no gap either: the least length of a gap counts only its observed
// part, the longest counts all. [Row.Unobserved] also has the stretches in which
// a single row could be read and its owners were unknown ([EventOwnerUnknown]), or in
// which it may have changed and changed back unseen (Change.Unseen): a silence that is shorter than the
// limit makes no row stale, and yet owners that came and went meanwhile were not seen.
//
// # Connecting again
//
// After a failure the source rests and is connected again. The pauses grow as Spec.Retry
// says until a connection has answered and read a whole listing, however old it became; then
// they begin anew. Such a connection is replaced at once when it ends, within two bounds that protect
// a server that ends each connection: two connections begin at least 0.5 to 1 s apart, and
// connecting and listing takes at most half of the time (the pause for that is 5 s at most). A
// refusal, which a person has to mend, is tried again after 2.5 to 5 s, or at once by a refresh.
//
// A source of several scopes that is refused one of them sends Change.Down: that
// scope is stale at once, for that reason, until its server is Alive for it.
//
// EventSourceDown has the reason: once when the source turns stale or cannot be connected, and
// again, with After zero, for each new reason of the outage. A reason that had an event
// already gets another one when it lasts for three failures. After 20
// reasons of one outage new ones get no event. All silence counts as one reason.
//
// # Bounds
//
// A row keeps [MaxTerms] terms, or the count of a semaphore for 20 minutes at least and
// [MaxTerms] terms of its owners, and an hour of activity in a fixed size; a scope keeps 256 dark
// stretches. Rows keep their slot, with a generation, for life.
//
// # Words
//
//   - A source *reads* its backend and *sends* Changes through its Link; a server *answers*
//     (Alive, which is the only proof of life). A *look* is one reading of one row, a *listing*
//     the reading of all rows of a scope: Relists begins one and Synced ends it.
//   - An *input* is what enters the model of the Hub; the model *applies* it, *emits* events
//     and changes *rows*. The Hub *publishes* States. A *note* is an event that no source sends.
//   - A row is *stale* when it cannot be believed now; *dark* is a stretch of time in which a
//     scope, or a row, was not observed. Its owners are *unknown* when it was read and they
//     cannot be told. A row is *absent* when the server reports that it does not exist.
//   - An owner's *term* is one uninterrupted ownership, a *gap* of a row (Row.Gaps) the time
//     between two of them.
//   - *Told*, *seen* and *inferred* are ways of knowing: see Known.
package sources
