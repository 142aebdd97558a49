// Package kit has the parts that most sources need: connections with their goroutines, the pace of reads, and sentences
// about failures.
//
// It may import sources, internal/ground/*.
//
// A source of one server keeps its goroutines, and the Changes that they send to Next, in a [Link], which ends as a
// whole. A [Connector] is the part of a source that connects, identifies a server that answers strangely, and explains
// errors. [Hints] are requests of the screen; a [Pace] computes when to read a server that pushes nothing, and
// [RoundTrips] how promptly a server that pushes answers.
//
// A [sources.Failure] can happen with every kind of server. Its sentence is in this package; a [Contact] completes it
// to a [sources.Problem]. No sentence repeats a secret, or more than 300 bytes of foreign text.
//
// An [Examiner] is a source that coordtop doctor can examine; a [Check] is one result of that.
package kit
