package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/files"
	"coordtop/internal/history"
)

// lockName returns the name of the file beside the recording that its writer has locked.
func lockName(path string) string { return path + ".lock" }

// lock locks the recording at path in folder, until the returned file is closed or the process ends. The error wraps
// history.ErrBusy if another process has the lock.
func lock(folder *os.File, path string, mode os.FileMode) (*os.File, error) {
	f, err := files.OpenOurs(folder, filepath.Base(lockName(path)), 0, mode)
	if errors.Is(err, os.ErrPermission) && recorded(path) { // by a user who lets us only read
		err = fmt.Errorf("%s: %w", path, history.ErrBusy)
	}
	if err != nil {
		return nil, err
	}
	err = flock(f, unix.LOCK_EX)
	for n := 0; n < 5 && errors.Is(err, unix.EWOULDBLOCK); n++ { // a reader that calls recorded has the lock for an instant
		<-time.After(5 * time.Millisecond)
		err = flock(f, unix.LOCK_EX)
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("%s: %w", path, history.ErrBusy), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("locking %s: %w", lockName(path), err), f.Close())
	}
	return f, nil
}

// unlock releases a lock, even if a child that was just forked still has the file open.
func unlock(locked *os.File) error { return errors.Join(flock(locked, unix.LOCK_UN), locked.Close()) }

// recorded reports whether a process writes to the recording at path now.
func recorded(path string) bool {
	f, err := os.OpenFile(lockName(path), os.O_RDONLY|unix.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, unix.LOCK_SH), unix.EWOULDBLOCK)
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
