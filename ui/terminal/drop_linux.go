package terminal

import "golang.org/x/sys/unix"

// drop discards the output that the terminal has not read yet. It also stops and starts the
// terminal, which wakes a writer that waits for room. Errors are ignored: the next write reports them.
func drop(fd uintptr) {
	_ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCOFLUSH)
	_ = unix.IoctlSetInt(int(fd), unix.TCXONC, unix.TCOOFF)
	_ = unix.IoctlSetInt(int(fd), unix.TCXONC, unix.TCOON)
}
