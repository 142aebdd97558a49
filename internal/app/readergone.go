package app

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// readPause is how often an idle watch asks whether somebody still reads its output.
const readPause = 500 * time.Millisecond

// whileRead returns EPIPE once nobody can read any more what is written to out. A write
// would tell too, but when nothing changes there may be none for hours, and
// `coordtop watch | head -1` would stay behind all that time. It returns nil when ctx
// ends, and at once where out is no pipe.
func whileRead(ctx context.Context, out io.Writer) error {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil // no pipe, or closed: the next write says so
	}
	tick := time.NewTicker(readPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if abandoned(f) {
				return syscall.EPIPE
			}
		}
	}
}

// errClosed reports that what was printed went nowhere.
var errClosed = errors.New("standard output is closed: nothing was printed; to throw it away, redirect it to /dev/null")

// printed is errClosed where out is in place of a standard output that was closed: the Go runtime
// opens /dev/null there for reading and writing, a redirection of a shell only for writing.
func printed(out io.Writer) error {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	null, nothing := os.Stat(os.DevNull)
	if err != nil || nothing != nil || !os.SameFile(info, null) {
		return nil
	}
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err == nil && flags&unix.O_ACCMODE == unix.O_RDWR {
		return errClosed
	}
	return nil
}

// abandoned reports whether the other end of a pipe is closed.
func abandoned(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}} // errors are told without being asked for
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
