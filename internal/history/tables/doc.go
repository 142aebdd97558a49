// Package tables writes and reads the tables of a recording (see package history), which every store has in the same
// form. A store is a package beside this one that connects to a database, makes the tables, and runs the statements in
// its transactions.
//
// It may import internal/ground/format, internal/history, sources, sources/lane, sources/tape.
//
// The statements are SQL that SQLite and Postgres understand in the same way. The tables are described in
// [coordtop/internal/history/sqlite].
package tables
