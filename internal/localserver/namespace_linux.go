package localserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// inside is a network namespace, which exists as long as the file is open.
type inside struct{ file *os.File }

// threadNamespace is the namespace that the calling thread is in.
const threadNamespace = "/proc/thread-self/ns/net"

// newInside makes a namespace.
func newInside() (in inside, err error) {
	err = elsewhere(func() error { return unix.Unshare(unix.CLONE_NEWNET) }, func() (err error) {
		in.file, err = os.Open(threadNamespace)
		return err
	})
	return in, err
}

// do runs f on a thread inside. Processes that f starts, and its sockets, stay inside.
func (in inside) do(f func() error) error {
	return elsewhere(func() error { return unix.Setns(int(in.file.Fd()), unix.CLONE_NEWNET) }, f)
}

// elsewhere runs f on a thread that move has moved to another namespace. If the thread cannot be moved back, it stays
// locked, so that the runtime ends it with its goroutine.
func elsewhere(move, f func() error) error {
	done := make(chan error)
	go func() { // ends after it has sent its result
		runtime.LockOSThread()
		ours, err := os.Open(threadNamespace)
		if err != nil {
			done <- err
			return
		}
		defer ours.Close()
		if err = move(); errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: it takes CAP_SYS_ADMIN and CAP_NET_ADMIN (root, or a container with --privileged)", err)
		}
		if err == nil {
			err = f()
		}
		if unix.Setns(int(ours.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// path returns a path by which other processes can open the namespace.
func (in inside) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), in.file.Fd()) }

func (in inside) close() { in.file.Close() }
