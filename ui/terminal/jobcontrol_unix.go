//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// NoJobControl reports whether no shell could wake the program after it was suspended: it leads
// its session (ssh -t host coordtop), or its parent is of another one. A stop signal is
// then ignored by the system, and Bubble Tea would wait to be continued for ever.
func NoJobControl() bool {
	own, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parent, err := unix.Getsid(os.Getppid())
	return own == os.Getpid() || err != nil || parent != own
}
