// Package operate executes the actions of people: it acquires, campaigns, proclaims and resigns, keeps leases, guards
// and records each action, and reports its observed result. The screen and the command line use the same Operator,
// which knows a backend only by its Backend.
//
// It may import coord, internal/action, internal/mute, sources, internal/ground/*.
//
// # One path
//
// Start checks the guards in this order, and sends nothing unless all of them let the request pass: the source is not
// read_only; a protected source has a reason; writing is armed, for a protected source by typing its name; the part of
// the row that the verb depends on is unchanged since the person decided (action.Pin); the action is possible for the
// row; the name was typed if the verb requires it; the data fits. Giving up a lease of ours needs neither arming nor a
// reason. Then Start writes the first line of the audit; if that fails, nothing is sent. Because the disk may take
// seconds, Start then checks the guards again; if they refuse now, a second line records that. The rest happens in a
// goroutine of the action: it sends the request, watches the Hub for at most ten seconds until it shows the result
// (Seen; otherwise Unseen), writes the second line, and adds an event of kind action to the Hub.
//
// A read_only source is protected twice: Start refuses the request, and ReadOnly removes from the driver everything
// that changes something.
//
// If primitives exist without an owner (Backend.Provisions), they are created, updated and deleted on the same path,
// without a lease. The service cannot compare data in an update, so the data is read once more just before the update
// is sent. With force a primitive that is in use is deleted, and a space dropped, if the owners are still those that the
// person saw; these are read once more, too. A space (Backend.Nodes) has no row: its guards look at its scope and at all
// rows in it.
//
// A force-release ends the ownership of somebody else only if it is still the one on screen: the service compares the
// owner's guard in the same step (coord.ForceReleaser). After the driver is open, just before the request, the guards
// of Start are checked again. If no answer arrives, the action is Unknown, never Failed, unless our watch shows that
// the owner is gone.
//
// A waiting claim survives passing errors (coord.Passing) with as many sessions as that takes. Its text has the reason,
// and so does one event for as long as the reason lasts. An error that a person must correct ends the claim. A claim
// that ends without a lease is Missed, Dropped or Failed only if nothing of it is left at the service, which may take
// ten seconds to find out. Otherwise it is Unknown, and the text says how long the lease may still be ours there.
//
// # What we hold
//
// Each lease has its own session and goroutine. Package coord renews it, whatever the screen does. If our watch shows
// the row without us, the service is asked at once (coord.Lease.Confirm); the watch alone never ends a lease. A lease
// that ends without our wish becomes a failed run, with the cause, a line in the audit and an event.
//
// When writing ends, by Disarm or after its time, waiting claims and requests that are not sent yet are called off, and
// a lease that is granted nevertheless is given back. Leases that we hold are kept.
//
// CallOff and Close give back leases. Close is bounded: a lease that could not be given back within two
// seconds runs out at the service. After LetRunOut, Close abandons the leases that can run out, and resigns
// only the others.
//
// # The audit
//
// The audit is a file of JSON lines that only its owner can read; see Record. Each action has a line that is written
// before anything is sent and one that is written after its end, with the same id. If the second line is missing, the
// end of the action was not recorded, because coordtop was killed or the disk was full (which the screen shows). No
// line contains a proof of ownership.
//
// Other coordtops Follow the audit: each adds the actions of the others to its own Hub, with the time at which they
// were sent, so that any of them can record all actions. A note is also a line.
//
// Several coordtops may write the audit: each line is written completely, under a lock (flock). The incomplete line of
// a writer that was killed becomes the detail of a separate record, with the stage "torn". At 8 MB the file is renamed
// to audit.jsonl.1, .2 and so on; nine such files are kept.
//
// A Team shares the audit with other machines: it receives each line after the file has it, and Entries and Follow read
// the lines of others, with the writer as the Team knows it.
//
// What a person muted (package mute) is in mutes.json beside the audit, which all coordtops of the person share:
// it is replaced as a whole, under a lock of the folder, and has at most 1 MB.
//
// The folder and the file must be ours, and neither may be a symbolic link; modes that let others read or write are
// changed to 0700 and 0600. Anything else at the path, such as a pipe or a device, is refused, and so is a parent
// folder in which everybody could replace our folder. If a line cannot be written for such a reason, nothing is sent.
package operate
