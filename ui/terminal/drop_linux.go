package terminal

import "golang.org/x/sys/unix"

// drop throws away what the terminal has not read yet. A writer that waits for room is
// not woken by that, but by the terminal being stopped and started. That it fails tells
// nothing that the write to come does not tell.
func drop(fd uintptr) {
	_ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH)
	_ = unix.IoctlSetInt(int(fd), unix.TCXONC, unix.TCOOFF)
	_ = unix.IoctlSetInt(int(fd), unix.TCXONC, unix.TCOON)
}
