//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// NoJobControl reports whether no shell could continue the program after it was suspended: it leads
// its session (ssh -t host coordtop), or its parent belongs to another one. The system then ignores
// stop signals, and Bubble Tea would wait for SIGCONT for ever.
func NoJobControl() bool {
	own, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	parent, err := unix.Getsid(os.Getppid())
	return own == os.Getpid() || err != nil || parent != own
}
