// Package sources turns what backends tell into one live picture: who owns what, who
// waits, since when, and how far each of these can be believed. It imports no backend, no
// screen and no file. Beside it package kit has what those who write a source need, and
// package tape writes what happened to a Hub and reads it back.
//
// # From a backend to the screen
//
// A [Source] reads one backend and tells [Change]s: parts of the state, never events. A
// runner (see [Run]) owns each source and connects it again after a failure, which is also what
// a panic in it becomes. The [Hub] is the only writer of what everybody else reads. For each
// Change, under one lock and in this order:
//
//  1. About and Relists are applied, and the scopes in Alive are live.
//  2. For each primitive, the last look and this one are compared, which names what happened.
//     The events get their numbers, go into the ring and wake the subscribers.
//  3. The row's terms, gaps and counters are brought up to date from these events.
//  4. The row is replaced, or freed where the primitive is gone.
//  5. With Synced, every row of the scope that was not Set since Relists is gone. One that exists only
//     while it is owned stays, with nobody owning it, for its ForgetAfter: it was freed in the dark.
//  6. A [State] is published, at once or at the end of the step.
//
// Before the lock a Change is completed: its times lose their monotonic readings, owners get
// the labels of Spec.Owners, and an error in it is reduced to its text and kind. A source
// that tells its times without ([Primitive.OnWallClock], [Wall]) spares the copy that this takes.
//
// What goes wrong with a source is a [Problem]: a sentence that says what, where, and what to do. What sources of every
// kind need to connect, to pace their reads and to say such sentences is in package kit.
//
// # Events and states
//
// Events are the truth about what happened: numbered without holes, each told once, in an
// order in which they can be applied to an empty model to arrive at the owners of the
// state. A [Subscription] reads them by cursor; one that falls behind is told how many
// it missed and starts again from the state. Nothing that cares about changes
// compares two states.
//
// States are for looking at: immutable, and sparse. After a quiet time a change is
// published at once, then at most ten times a second, and the last change is always
// published. A change of owner in a row on screen ([Hub.Focus]), a source that goes up
// or down, and the first listing of a scope do not wait. Proof of life, and renewals long
// before they are due, wait for up to a second, or until [Hub.Publish] is called.
// State.LastSeq names the last event that a state contains, so a snapshot and a
// subscription fit together without a seam.
//
// The ring holds the newest 100,000 events of the last 24 hours. Renewals have a queue of
// their own in it and go first, so that many healthy owners do not push out the one
// that failed. An EventPresent is dropped when it is a minute old and every subscriber has
// read it.
//
// # What is known
//
// Every fact carries how it is known, see [Known]. An event's How is that of the least
// certain thing it says.
//
// Each stretch of a row's time is one of three kinds. It is *pushed* where any write would have
// been told; *sampled* where the row is looked at now and then, and no look is missing; *dark*
// where neither is so (see below). Pushed and sampled, what two neighbouring looks both show
// held between them, and what a sampled stretch carries is marked with the pause between its
// looks ([Term].Every, [Interval].Every), because somebody may have come and gone in one. In the
// dark nothing is assumed.
//
// While nothing is dark an owner is the same, in the same *term*, as long as ID and fence are.
// Darkness counts as seen only on proof that the grant is the same one: nothing was written to it
// in between (its deadline is the same to within the reading), or something is equal that is drawn
// anew with each grant (its fence, [Owner].Proof). An equal ID proves nothing, nor does a deadline
// that moved. Without proof the same owner is one term in *doubt*: nothing ended, began, or was
// renewed as far as is told; [Term].Sure is the first look behind the darkness, from which the
// least length counts; Since is AtLeast then, and the earliest start bounds the greatest length.
//
// Over a restart of the server a term ends only where that loses what is owned, for which a
// source gives another Incarnation, or where its deadline had passed before the server's start
// (About.Started): somewhere in the dark, and another term began. A Proof outlives an Incarnation:
// what is owned by it was kept.
//
// Since is the source's where it is told; else it is AtLeast for an owner that was there at first,
// or is in doubt, and Seen for one whose take-over we saw.
//
// # Time
//
// The Hub and the runners read one [Clock]; a source reads that of its machine. Every time in
// a Change, an Event and a State is on the wall clock and has no monotonic reading, so that
// it compares in the same way after it was stored. Silence, pauses and [Event].Mono are
// measured on the monotonic clock. When the wall clock is set by more than 2 s either way, an
// EventClockStep says so, and every source is connected and read anew: times from before the
// step do not compare with those from after it. That this machine slept counts as such a step.
//
// # Inputs and replay
//
// Everything that changes a Hub passes one door under its lock and is an [Input] there: what
// the sources and the runners told, what we did and noted, and what time decided, such as the
// silence of a scope or a publish. Behind the door nothing reads a clock or a setting. So the
// Inputs of a Hub, from the first one on, make the same States and Events again in a
// [Replayer], unexported parts of the rows included. [Hub.Focus], refreshes, and ticks at which
// nothing was decided are no Inputs: they have no part in them. (Events that are too old are
// dropped at such ticks; a replay drops them with the next event.)
//
// An [InputBuffer] given in HubOptions keeps the Inputs for one reader; where nobody records, an
// Input is a value on the stack of its maker. The reader can rely on this:
//
//   - Seq counts the Inputs in the order of the lock, without holes. An Input lies between
//     those before it and those after it also in every State: that of InputPublished has the
//     former and none of the latter.
//   - What was dropped because the buffer was full is counted. The Inputs behind such a hole
//     cannot be replayed before there is a new beginning.
//   - What Inputs refer to (primitives, States) is immutable: it may be kept and read in any goroutine.
//   - Times have no monotonic reading and are local; an error is a [Problem] without a cause
//     but ErrSilent.
//
// A [Keyframe] is a whole model between two Inputs: [NewReplayerAt] goes on from it as the Hub
// did. Package tape stores both.
//
// HubOptions.Resume begins a Hub with what an earlier run knew at its end. Sources that are
// the same by name, type and address go on as after an outage: their rows are there at once,
// stale, with their terms and since when; from when their servers last answered up to their
// next listing is dark; and that listing says who goes on in the same term, and what ended or
// began in the dark. Rows of other sources are left out, and all of them where the clock shows
// less than it did at that end. Expectations, outages and the numbers of events begin anew. Of
// data that was left out or masked only another length is news then.
//
// # Silence, gaps and darkness
//
// A scope is what can be silent alone. Only Change.Alive proves that its server answers.
// A scope not heard from for its limit, max(3 s, 2.5 x its sampling), is stale, and all
// scopes of a source are when its connection fails; their rows stay, and [Row.Status]
// says so before anything else. The stretch from when it was last heard is kept as
// [Dark].
//
// Relists reports that continuity was lost: the rows of the scope are stale one by one until
// they are Set anew. An owner that is still there goes on in the same term, in doubt where nothing
// proves more. Another one took over somewhere in (last heard, now], and why is unknown unless its
// lease was over before the stretch began. No ownership is ever invented for a time that was
// not observed, and no gap either: the least length of a gap counts only what was observed
// of it, the longest counts all. [Row.Unobserved] also has the stretches in which
// a single row could be read and its owners could not be told ([EventOwnerUnknown]), or in
// which it may have changed and changed back unseen (Change.Unseen): a link that is silent for
// less than the limit is stale for nobody, and yet what came and went meanwhile was not seen.
//
// # Connecting again
//
// After a failure the source rests and is connected again. The pauses grow as Spec.Retry
// says until a connection has answered and read a whole listing, however old it became; then
// they begin anew. Such a connection is replaced at once when it ends, but for two bounds, so that
// a server that ends each one is not hammered: two begin at least 0.5 to 1 s apart, and
// connecting and listing takes at most half of the time (the pause for that is 5 s at most). A
// refusal, which somebody has to mend, is tried again after 2.5 to 5 s, or at once by a refresh.
//
// A source of several scopes that is refused one of them says so with Change.Down: that
// scope is stale at once, for that reason, until its server is Alive for it.
//
// EventSourceDown says why: once when the source turns stale or cannot be connected, and
// again, with After zero, whenever the reason is another one than those told since. A
// reason that was told already comes again when it lasts for three failures. After 20
// reasons of one outage no new ones are told. All silence counts as one.
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
