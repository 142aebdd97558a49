// Package operate carries out what a person decides: it acquires, campaigns, proclaims and resigns, keeps
// leases, guards and records each action, and reports what was observed of it. The screen and the command
// line use the same Operator; it knows of a backend only what its Backend tells.
//
// It may import coord, internal/action, sources, internal/ground/*.
//
// # One path
//
// Start checks the guards in this order, and sends nothing unless all of them let the request pass: the
// source is not read_only; a reason is given where it is protected; writing is armed, for which a protected
// source's own name was typed; the row is still what the person decided about, as far as the verb depends on
// it (action.Pin); the action is possible for the row; the name was typed where that is required; the data
// fits. Giving up what is ours needs neither arming nor a reason. Then Start writes the first line of the
// audit; if that cannot be written, nothing is sent. The disk may take seconds for it, so Start checks the
// guards again; if they refuse now, a second line records that. The rest happens in a goroutine of the
// action: it asks the service, watches the Hub until that shows the result (Seen), for at most ten seconds
// (Unseen), writes the second line, and adds an event of kind action to the Hub.
//
// A read_only source is protected twice: Start refuses the request, and ReadOnly strips the driver of
// everything that changes something.
//
// Where primitives exist by themselves (Backend.Provisions), they are created, updated and deleted on the
// same path, without a lease. The service cannot compare the data in an update, so the update reads it once
// more just before it is sent.
//
// Force ends what somebody else owns only if it is still what was on screen: the service compares the guard
// of the owner in the same step (coord.ForceReleaser). Once the driver is open, just before the request, the
// guards of Start are checked again. Without an answer the action is Unknown, never Failed, unless our watch
// shows that the owner is gone.
//
// A waiting claim survives errors that pass (coord.Passing), over as many sessions as that takes. Its text
// has the reason, and so has an event, once while the reason lasts. An error that a person must correct ends
// the claim. A claim that ends without a lease is Missed, Dropped or Failed only when it is sure that nothing
// of it is left at the service, which takes up to ten seconds to find out; else it is Unknown, and the text
// tells how long it may be ours there.
//
// # What we hold
//
// Each lease has a session and a goroutine of its own. Package coord renews it, whatever the screen does.
// Where our watch shows it without us, the service is asked at once (coord.Lease.Confirm): the watch itself
// ends nothing. A lease that ends without our wish becomes a run of its own that has failed, with the cause,
// a line in the audit and an event.
//
// When writing ends, by Disarm or by its time, waiting claims and requests that are not sent yet are called
// off, and a lease that is granted nevertheless is given back. What we hold is kept.
//
// CallOff and Close give back leases. Close is bounded: a lease that could not be given back within two
// seconds runs out at the service. After LetRunOut, Close abandons the leases that can run out, and resigns
// only the others.
//
// # The audit
//
// The audit is a file of JSON lines that only its owner can read; see Record. Each action has a line from
// before anything is sent and one from after its end, with the same id. An id without a second line is an
// action whose end nobody recorded: coordtop was killed, or the disk was full (the screen shows that). No
// line has anything that could prove ownership.
//
// Other coordtops Follow it: each adds the actions of the others to its own Hub, at the time when they were
// sent, so that any of them can record all actions. A note is a line, too.
//
// Several coordtops may write it: each line is written whole, under a lock (flock). The incomplete line of a
// writer that was killed becomes the detail of a record of its own, with the stage "torn". At 8 MB the file
// is put aside as audit.jsonl.1, .2 and so on; nine are kept.
//
// The folder and the file must be ours, and neither may be a symbolic link; modes that let others read or
// write are changed to 0700 and 0600. Anything else at the path, such as a pipe or a device, is refused, and
// so is a folder above it in which everybody may replace ours. Where a line cannot be written for such a
// reason, nothing is sent.
package operate
