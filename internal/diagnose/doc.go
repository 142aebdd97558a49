// Package diagnose finds the likely causes of problems: what is wrong, why, what it means for others, and
// what to do next. The board, `why` and notifications show what it finds and add nothing of their own.
//
// It may import internal/history, sources, sources/verdict, sources/origin, sources/lane,
// internal/ground/format.
//
// Package verdict decides what a problem is and how grave it is, and does so at once. [Find] takes the
// problems of a State and explains them: each [Finding] has one cause, or the causes that fit equally well,
// and the rows whose problems it explains. Each problem row is in exactly one Finding, so that ten elections
// that one host lost are one thing to read and one thing to do.
//
//   - A [Reason] is told by a server, inferred from what was seen, or one of several that fit: then all of
//     them are named and none is chosen. A wrong cause is worse than none.
//   - A Finding about a server comes before those about its rows: what its outage explains is counted and
//     not explained again.
//   - A [Step] names what to look at or do next: a screen of the board, and a command. No step changes
//     anything by itself.
//
// Each kind of Finding is a [Pattern] with a stable name, by which the config finds its runbook. A pattern
// is one function (see the list in find.go). It claims the rows that it explains; the order of the list says
// which explanation comes first where several fit one row.
//
// # What is not found
//
//   - A session of Postgres that waits for its own shared lock: a session never waits for itself there, and of two that
//     wait for each other the server ends one. So a ring is one of YDB, or of several sources.
//   - A ring with an owner of a plain Redis lock: Redis does not tell who waits.
//   - Whether a lease of Redis or dflockd that ended early was given up by its owner: others can delete the key, or end
//     the connection. YDB tells neither.
//   - A clock that was set: no server tells of the clocks of its clients, and a step of our own clock moves times, not
//     owners. Package sources reports it as an event.
//   - A key on the wrong server, and a lock table that is nearly full, are no fault of a row: each is a Finding of its
//     source, from what the source says of itself.
//
// Find is pure: it reads no clock and does no input or output. Its time grows with the number of problem
// rows, not of all rows. What others wrote is cleaned and cut, so all texts are fit for a terminal. It is
// safe for concurrent use.
package diagnose
