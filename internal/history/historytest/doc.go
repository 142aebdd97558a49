// Package historytest has a recording in memory, and an hour of a small world to record, for
// tests of what reads recordings.
package historytest
