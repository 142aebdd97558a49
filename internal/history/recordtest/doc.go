// Package recordtest writes the recordings of historytest into files, for tests of code that reads them, and records
// Hubs into a file as the program does.
//
// It may import internal/history, internal/history/record, internal/history/sqlite, internal/history/postgres,
// internal/history/storetest, internal/localserver, sources.
package recordtest
