// Package verdict decides what is a problem, how grave it is, and the sentence about it. The board, get and
// its --fail-on, JSON, notifications, metrics and diagnoses ask it and decide nothing of this themselves.
//
// It may import sources, internal/ground/format.
//
// A [Judge] weighs a row of a [coordtop/sources.State] at an instant. Nothing else goes into a [Verdict]: the
// row, the state that it is from, its thresholds, the time, and the rows that are the same lock elsewhere. So
// everybody who asks about the same instant gets the same verdict. It reads no clock and does no input or
// output.
//
//   - Each kind of problem is a [Fault], and one entry of a table (conditions.go): its name, when it is so
//     and how grave that is then, since when, and its sentence. A new kind is a new entry.
//   - A condition asks with passed about a change that time alone makes. So the instant that Judge.Weigh
//     returns, up to which the verdict holds, follows from what was asked.
//   - A row that is stale is judged as of when it was last known: a count of problems does not fall
//     because a server died. Its Severity is Blind, Known is what it was.
//   - A row that should have an owner, and lost it by expiry, eviction, a restart or a told end of its
//     session, is a problem at once; else once it has had none for longer than a hand-over takes. It
//     is one until somebody takes it, or it is forgotten.
//   - One name is one lock in scopes that agree (see [coordtop/sources.SourceStatus]): two owners of it are
//     a problem of both rows.
//
// A sentence is fit for a terminal: what others wrote in it is cleaned. Nothing here is safe for
// concurrent use.
package verdict
