//go:build !linux

package coord

import "time"

// origin is where wall and monotonic clock are compared from. It never changes.
var origin = time.Now()

// asleep is how far the wall clock ran ahead of the monotonic clock since the program
// began. Other systems than Linux have no clock in package syscall that counts
// suspended time, and the wall clock does. Setting it forward looks like a suspend:
// trust then ends early, which is safe and over with the next renewal.
func asleep() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(origin.Round(0)) - now.Sub(origin)
}
