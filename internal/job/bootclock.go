package job

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// bootTime reads the clock that counts from the boot of the machine, also while the machine is suspended.
func bootTime() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(bootClock, &now); err != nil {
		panic(fmt.Sprintf("the boot-time clock cannot be read: %v", err)) // each system has it
	}
	return time.Duration(now.Nano())
}
