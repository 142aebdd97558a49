//go:build !linux

package suspend

import "time"

// origin is the time since which the wall clock and the monotonic clock are compared. It never changes.
var origin = time.Now()

// Slept returns how far the wall clock ran ahead of the monotonic clock since the program began. On systems other than
// Linux, package syscall has no other clock that counts suspended time. Setting the wall clock forward looks like a
// suspend, so deadlines end early, which is safe.
func Slept() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(origin.Round(0)) - now.Sub(origin)
}
