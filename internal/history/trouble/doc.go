// Package trouble finds in a recording what went wrong in a span. `report` begins with these troubles, and a replay
// opens at the first of them.
//
// It may import internal/history, sources, sources/lane, internal/ground/format.
//
// # What is trouble
//
// Package verdict decides from a State which rows the board shows as problems. This package uses the terms, gaps and
// events of a recording instead, so that it finds the trouble of thousands of primitives in a day at once. Trouble is:
//
//   - an election that was seen without a leader, perhaps for as long as Thresholds.LossGap, or whose leader lost it against its will;
//   - an owner of anything else that lost it against its will: its lease expired, it was ended by force, the server
//     restarted, or its session was reported as ended;
//   - a lease that no longer expires;
//   - a wait of more than Thresholds.Wait for anything except an election;
//   - a source that did not answer for as long as LossGap, and a server that restarted.
//
// The losses of one host at one source within a second are one Trouble, and so are those of all hosts by a restart of
// the server. More than Thresholds.FlapLosses losses of one primitive within Thresholds.FlapWithin are also one.
//
// Locks that only take turns are no Trouble: [TurnsOf] describes the turns of one.
//
// Everything except [Read] is pure and safe for concurrent use.
package trouble
