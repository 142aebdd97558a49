// Package raced reports whether tests run with the race detector, which makes them some ten times slower and takes
// memory. All tests run with it except those that call [Alone]: tests of large volumes in one goroutine, in which the
// detector could find nothing, and tests that measure memory or time. A test of concurrency never calls it.
//
// It may import nothing of this module.
package raced

import "testing"

// Alone skips a test if the race detector is built in. "make test" runs these tests once more without it, and finds
// them by the Test functions that contain this call.
func Alone(t testing.TB, why string) {
	t.Helper()
	if Enabled {
		t.Skip("runs without the race detector: " + why)
	}
}
