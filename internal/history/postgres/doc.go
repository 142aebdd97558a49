// Package postgres stores a recording (see package history) in a schema of a Postgres database, which a team shares.
//
// It may import internal/history, internal/history/tables, sources, sources/tape, internal/ground/backoff,
// internal/ground/failure, internal/ground/lazy, internal/ground/pgwire, internal/ground/spawn.
//
// # The tables
//
// The tables of package sqlite have the same names and columns, and package tables writes and reads them. Beside them
// stand, for SQL and dashboards:
//
//   - term, event: the same terms and events as rows, in a partition for each day by UTC. The terms of a few lanes are
//     read from there: their blocks are many, and each has the terms of hundreds of lanes.
//   - runs, primitives, terms, gaps, events, actions, unobserved: views with names and times that people read.
//   - audit: what members do, note, acknowledge and mute. The server sets "who" to the user of the session.
//   - store: the version of the schema, the incarnation, and the number of the present run.
//
// In a text a zero byte, and each byte that is not UTF-8, is written as \x and two digits, and a backslash as two.
//
// # One writer
//
// Each transaction of a [Writer] locks the row of store against another run that begins, and ends with
// history.ErrSuperseded if its run is not the present one. A Write that is repeated has no effect. Begin returns
// history.ErrBusy while another run writes, unless an election has decided ([Claim]).
//
// One exception: a [Filler] goes on with the run of a recorder that had lost the store, up to the first row of the next run.
// Each of its transactions locks the row of store against all others, and checks that the next run is the same. It counts
// in store.fills that it changed what the present Writer knows, which then reads that again.
//
// Each Write announces itself in the same transaction: NOTIFY with the name of the schema as the channel, and with run
// and number of the Write, such as "3:1207".
//
// # Poolers
//
// Reading and writing work through a pooler in transaction mode. A transaction sets what it needs with SET LOCAL; there
// are no named prepared statements and no session settings. Only a [Listener] needs a session.
package postgres
