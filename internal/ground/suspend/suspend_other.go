//go:build !linux

package suspend

import "time"

// origin is where wall and monotonic clock are compared from. It never changes.
var origin = time.Now()

// Slept is how far the wall clock ran ahead of the monotonic clock since the program
// began. Other systems than Linux have no clock in package syscall that counts
// suspended time, and the wall clock does. Setting it forward looks like a suspend:
// what counts it ends early, which is safe.
func Slept() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(origin.Round(0)) - now.Sub(origin)
}
