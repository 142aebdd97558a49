// Package trouble finds in a recording what went wrong in a span. `report` begins with it, and a replay opens on it.
//
// It may import internal/history, sources, sources/lane, internal/ground/format.
//
// # What is trouble
//
// Package verdict decides from a State which rows the board shows as problems. A recording has no States, but
// terms, gaps and events, so that a question about a day of thousands of primitives is answered at once.
// Trouble is:
//
//   - an election that was seen without a leader, perhaps for as long as Thresholds.LossGap, or whose leader lost it against its will;
//   - an owner of anything else that lost it against its will: its lease ran out, it was ended by force, the server
//     restarted, its session was told to have ended;
//   - a lease that has no end any more;
//   - somebody who waited for longer than Thresholds.Wait for anything but an election;
//   - a source that did not answer for as long as LossGap, and a server that restarted.
//
// The losses of one host at one source within a second are one Trouble, and so are those of all hosts by a
// restart of the server. More than Thresholds.FlapLosses losses of one primitive within Thresholds.FlapWithin
// are one, too.
//
// Locks that only take turns are no Trouble: [TurnsOf] describes the turns of one.
//
// All but [Read] is pure: it reads no file and no clock, and may be used from several goroutines at once.
package trouble
