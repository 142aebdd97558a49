// Package kit has what those who write a source need: connections, their goroutines, the pace of reads, and sentences
// about failures. It imports package sources and nothing of a backend.
//
// A source of one server keeps its goroutines and what they tell to Next in a [Link], which ends as a whole. A
// [Connector] is a source that connects, asks what else may listen where the server answers strangely, and explains its
// errors. [Hints] are what the screen wants of a source; a [Pace] says when a server that pushes nothing is read again,
// and [RoundTrips] how promptly one that pushes can be expected to.
//
// A failure that servers of every kind can have is a [sources.Failure], whose sentence exists once, here; a [Contact]
// completes it to a [sources.Problem]. No sentence repeats a secret, or more than 300 bytes of what somebody else wrote.
//
// An [Examiner] is a source that coordtop doctor can examine; each [Check] is one thing that it found out.
package kit
