// Package trouble finds in a recording what went wrong in a span. `report` begins with it, and a replay opens on it.
//
// # What is trouble
//
// What the board calls a problem at an instant, package verdict decides from a State. Of a recording there are no States,
// but terms, gaps and events, so that a day of thousands of primitives is answered at once. Trouble is:
//
//   - an election that was seen without a leader, perhaps for as long as Thresholds.LossGap, or whose leader lost it against its will;
//   - an owner of anything else that lost it against its will: its lease ran out, it was ended by force, the server
//     restarted, its session was told to have ended;
//   - a lease that has no end any more;
//   - somebody who waited for longer than Thresholds.Wait for anything but an election;
//   - a source that did not answer for as long as LossGap, and a server that restarted.
//
// What one host lost of one source within a second is one Trouble, and so is what a restart of the server took from all.
// Where one primitive was lost more often than Thresholds.FlapLosses within Thresholds.FlapWithin, all of that is one.
//
// Locks that only take turns are none: [TurnsOf] says it of one in a line.
//
// All but [Read] is pure: it reads no file and no clock, and may be used from several goroutines at once.
package trouble
