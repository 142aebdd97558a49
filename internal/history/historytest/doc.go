// Package historytest has a recording in memory, and an hour of a small world to record, for
// tests of what reads recordings.
//
// It may import internal/history, sources, sources/sourcetest.
package historytest
