package suspend

import (
	"time"

	"golang.org/x/sys/unix"
)

// quiet is a pause between two readings that is too short to matter.
const quiet = time.Millisecond

// Slept returns the time for which the machine was suspended since it booted. CLOCK_BOOTTIME counts that time, and
// CLOCK_MONOTONIC, which is Go's clock, does not. The two cannot be read at once, so it reads a few pairs and uses the
// pair with the shortest pause between its readings. It returns 0 if a sandbox forbids the clock. In a synctest bubble
// it also reads the real clocks.
func Slept() time.Duration {
	var best, pause time.Duration
	for try := range 8 {
		before, ok1 := readClock(unix.CLOCK_MONOTONIC)
		boot, ok2 := readClock(unix.CLOCK_BOOTTIME)
		after, ok3 := readClock(unix.CLOCK_MONOTONIC)
		if !ok1 || !ok2 || !ok3 {
			return 0
		}
		if try == 0 || after-before < pause {
			best, pause = boot-after, after-before
		}
		if pause <= quiet {
			break
		}
	}
	return best
}

func readClock(id int32) (time.Duration, bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(id, &ts)
	return time.Duration(ts.Nano()), err == nil
}
