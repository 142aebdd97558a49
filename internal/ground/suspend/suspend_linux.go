package suspend

import (
	"time"

	"golang.org/x/sys/unix"
)

// quiet is a pause between two readings that is too short to matter.
const quiet = time.Millisecond

// Slept is the time the machine was suspended since it booted: CLOCK_BOOTTIME counts
// it and CLOCK_MONOTONIC, which Go's clock is, does not. The two cannot be read at
// once, so of a few pairs of readings the one with the shortest pause between them
// counts. Zero where a sandbox forbids the clock. It reads the real clocks also in a
// synctest bubble, where the virtual clock stands still as little as it sleeps.
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
