// Package historytest has a recording in memory, and a simulated hour to record, for tests of code that reads
// recordings.
//
// It may import internal/history, sources, sources/sourcetest.
package historytest
