// Package verdict decides what is a problem, how severe it is, and the sentence about it. The board, get and its
// --fail-on, JSON, notifications, metrics and diagnoses use its decisions and make none themselves.
//
// It may import sources, internal/ground/format.
//
// A [Judge] weighs a row of a [coordtop/sources.State] at an instant. A [Verdict] depends only on the row, its state,
// the thresholds, the time, and the rows that are the same lock elsewhere. So every caller gets the same verdict for
// the same instant. The Judge reads no clock and does no input or output.
//
//   - Each kind of problem is a [Fault], and one entry of a table (conditions.go): its name, its condition and
//     severity, since when, and its sentence. A new kind is a new entry.
//   - A condition calls passed about a change that time alone makes. From these calls follows the instant that
//     Judge.Weigh returns, until which the verdict is valid.
//   - A stale row is judged at the instant when it was last known, so that the number of problems does not fall because
//     a server died. Its Severity is Blind, and Known is the last severity.
//   - A row that should have an owner is a problem at once if the owner lost it by expiry, eviction, a restart or a
//     told end of its session. Otherwise it is a problem after it had no owner for longer than a hand-over takes. It
//     remains one until somebody owns it or the row is dropped.
//   - In scopes that agree (see [coordtop/sources.SourceStatus]) a name is the same lock, so that two owners are a
//     problem of both rows.
//
// A sentence can be printed on a terminal, because foreign text in it is cleaned. Nothing here is safe for concurrent
// use.
package verdict
