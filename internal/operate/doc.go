// Package operate does to the world what a person decides: it takes, leads, proclaims and
// resigns, keeps what was won, guards and records each action, and tells what was observed
// of it. The screen and the command line use the same Operator; it knows no backend but
// what its Backends say.
//
// # One path
//
// Start checks the guards in this order, and sends nothing unless all of them let it pass:
// the source is not read_only; a reason is given where it is protected; writing is armed, for
// which a protected source's own name was typed; the row is still what the person decided about, as far as
// the verb depends on it (action.Pin); the action is possible for the row; the name was typed
// where that is asked for; the data fits. What only gives back what is ours needs neither
// arming nor a reason. Then it writes the first line of the audit; if that cannot be written,
// nothing is sent. A disk may take seconds for it, so the guards are checked again, and what
// they refuse now has a second line that says so. The rest happens in a goroutine of the
// action's own: it asks the service, then looks at the Hub until that shows what came of it
// (Seen), for at most ten seconds (Unseen), writes the second line, and tells the Hub an
// event of kind action.
//
// A source that is read_only is refused twice: by Start, and by its driver, which ReadOnly
// has stripped of everything that changes something.
//
// Where primitives exist by themselves (Backend.Provisions), they are created, updated and
// deleted on the same path, without a lease. An update, which
// the service cannot compare, looks at the data last thing before it is sent.
//
// What somebody else owns is ended by force (Force) only if it is still what was on screen: the
// service compares the guard of the owner in the same step (coord.ForceReleaser). The guards of
// Start are checked again once the driver is open, last thing before the request. Without an
// answer it is Unknown, never Failed, unless our watch shows that the owner is gone.
//
// A claim that waits outlives what passes (coord.Passing): over as many sessions as that takes,
// with the reason in its text, and in an event once while the reason lasts. What a person must
// change first ends it. A claim that ends without a lease is Missed, Dropped or Failed only
// when it is sure that nothing of it is left at the service, which is found out for up to ten
// seconds; else it is Unknown, and the text says for how long it may be ours there.
//
// # What we hold
//
// Each lease has a session and a goroutine of its own. It is renewed by coord, whatever
// the screen does. Where our watch shows what we hold without us, the service is asked at
// once whether that is so (coord.Lease.Confirm): the watch itself ends nothing. A lease that
// ends without our wish becomes a run of its own that has failed, with the cause, a line in
// the audit and an event.
//
// When writing ends, by Disarm or by its time, claims that wait and requests that are not sent
// yet are called off, and a lease that is granted all the same is given back. What we hold is
// kept.
//
// CallOff and Close give back what was won. Close is bounded: after two seconds what could
// not be told to the service runs out there by itself. After LetRunOut it abandons the
// leases that can run out, and resigns only the rest.
//
// # The audit
//
// A file of JSON lines, readable by its owner only; see Record. Each action has a line
// before anything is sent and one after its end, with the same id. An id without a second
// line is an action whose end nobody recorded: coordtop was killed, or the disk was full
// (which the screen says). No line holds anything that could prove ownership.
//
// Other programs Follow it: each of them tells its own Hub of what the others did, at the time of
// its sending, so that whichever records has all of it. A note is a line, too.
//
// Several coordtops may write it: each line is written whole, under a lock (flock). What a
// killed writer has left of a line becomes, before the next one, the detail of a line of its
// own with the stage "torn". At 8 MB the file is put aside as audit.jsonl.1, .2 and so on; nine
// are kept.
//
// The folder and the file must be ours, and no symbolic links; what others could read or
// write is made 0700 and 0600. Anything else at the path, a pipe or a device, is refused, and
// a folder above in which everybody may replace ours. Where a line cannot be written for such
// a reason nothing is sent.
package operate
