package app

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/backoff"
)

// readPause is the interval at which an idle watch checks whether somebody still reads its output.
const readPause = 500 * time.Millisecond

// whileRead returns EPIPE once nobody can read out any more. A write would fail too, but while nothing changes there
// may be no write for hours, and `coordtop watch | head -1` would run on all that time. It returns nil when ctx ends,
// and at once where out is no pipe.
func whileRead(ctx context.Context, out io.Writer) error {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil // no pipe, or closed: the next write says so
	}
	for backoff.Sleep(ctx, readPause) == nil {
		if abandoned(f) {
			return syscall.EPIPE
		}
	}
	return nil
}

// errClosed reports that standard output was closed, so that nobody can have read it.
var errClosed = errors.New("standard output is closed: nothing was printed; to throw it away, redirect it to /dev/null")

// printed returns errClosed if standard output was closed at the start: the Go runtime then opens /dev/null in its
// place for reading and writing, while the redirection of a shell opens it only for writing.
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
		fds := []unix.PollFd{{Fd: int32(fd)}} // poll reports errors always
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
