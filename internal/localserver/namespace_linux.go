package localserver

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is the namespace itself: a file that keeps it in being, and one that leads back.
type inside struct{ ours, theirs *os.File }

// newInside makes a network namespace. A thread moves into a new one, opens it and moves
// back; if it cannot move back the runtime ends it, because nobody unlocks it.
func newInside() (inside, error) {
	type result struct {
		in  inside
		err error
	}
	made := make(chan result)
	go func() { // ends with its one answer
		runtime.LockOSThread()
		in, err := makeInside()
		if err == nil {
			err = enter(in.ours)
		}
		if err == nil {
			runtime.UnlockOSThread()
		}
		made <- result{in, err}
	}()
	r := <-made
	if r.err != nil {
		r.in.close()
		return inside{}, r.err
	}
	return r.in, nil
}

// makeInside leaves the calling thread in the new namespace.
func makeInside() (in inside, err error) {
	self := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
	if in.ours, err = os.Open(self); err != nil {
		return in, fmt.Errorf("opening the present namespace: %w", err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return in, explain("leaving the present namespace", err)
	}
	if in.theirs, err = os.Open(self); err != nil {
		return in, fmt.Errorf("opening the new namespace: %w", err)
	}
	return in, nil
}

func enter(f *os.File) error {
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return explain("entering a namespace", err)
	}
	return nil
}

// explain names the right that is missing.
func explain(what string, err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("%s: %w: it takes CAP_SYS_ADMIN and CAP_NET_ADMIN (root, or a container with --privileged)", what, ErrNoRight)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// do runs f on a thread inside. Processes that f starts, and its sockets, stay inside.
func (in inside) do(f func() error) error {
	done := make(chan error)
	go func() { // ends with its one answer
		runtime.LockOSThread()
		err := enter(in.theirs)
		if err != nil {
			runtime.UnlockOSThread() // it did not move
			done <- err
			return
		}
		err = f()
		if back := enter(in.ours); back == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// path is the namespace as a file that other processes can open.
func (in inside) path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), in.theirs.Fd()) }

func (in inside) close() {
	for _, f := range []*os.File{in.ours, in.theirs} {
		if f != nil {
			f.Close()
		}
	}
}
