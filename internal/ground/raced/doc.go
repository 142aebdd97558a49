// Package raced tells tests whether they run with the race detector, which makes them some ten times slower
// and takes memory of its own. All run with it but those that call [Alone]: tests of volume that run in one
// goroutine, as the detector compares what several goroutines do, and tests that measure memory or time.
// A test whose subject is concurrency does not ask.
//
// It may import nothing of this module.
package raced

import "testing"

// Alone skips a test where the race detector is built in: make test runs it once more without, and finds it by the name
// of the Test function that this call stands in.
func Alone(t testing.TB, why string) {
	t.Helper()
	if Enabled {
		t.Skip("runs without the race detector: " + why)
	}
}
