package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// PrivateFolder opens a folder that only our user may use. It creates a missing folder; made reports that.
// The folder must be ours, not a link, and not replaceable by everybody. A mode that lets others in is corrected. The
// caller must close it.
func PrivateFolder(path string) (folder *os.File, made bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		made = true
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, false, err
		}
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return nil, false, fmt.Errorf("%s is no folder, or a symbolic link to one: set XDG_STATE_HOME to where it leads", path)
	case err != nil:
		return nil, false, fmt.Errorf("opening %s: %w", path, err)
	}
	folder = os.NewFile(uintptr(fd), path)
	if err = checkParent(filepath.Dir(path)); err == nil {
		err = private(folder, 0o700)
	}
	if err != nil {
		return nil, false, errors.Join(err, folder.Close())
	}
	return folder, made, nil
}

// OpenPrivate opens a file in a PrivateFolder for reading and writing, with further flags of the system. It creates a
// missing file. It follows no link and does not wait for the other end of a pipe; the file must be regular and ours.
// The caller must close it.
func OpenPrivate(folder *os.File, name string, flags int) (*os.File, error) {
	return OpenOurs(folder, name, flags, 0o600)
}

// OpenOurs does the same as OpenPrivate, for a file whose mode lets others read.
func OpenOurs(folder *os.File, name string, flags int, mode os.FileMode) (*os.File, error) {
	path := filepath.Join(folder.Name(), name)
	fd, err := unix.Openat(int(folder.Fd()), name, flags|unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("%s is a symbolic link: remove it", path)
	case errors.Is(err, unix.EISDIR):
		return nil, fmt.Errorf("%s is a folder: remove it", path)
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file (%v): remove it", path, info.Mode().Type())
	}
	if err == nil {
		err = private(f, mode)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Replace replaces a file of a PrivateFolder in one step: a reader sees the old file or the new one, also after a
// crash. Until the new one is complete, its name ends in ".new".
func Replace(folder *os.File, name string, text []byte) error {
	f, err := OpenPrivate(folder, name+".new", unix.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := unix.Renameat(int(folder.Fd()), name+".new", int(folder.Fd()), name); err != nil {
		return fmt.Errorf("replacing %s: %w", name, err)
	}
	return folder.Sync()
}

// IsOurs reports whether OpenOurs would open a file without changing its mode.
func IsOurs(info os.FileInfo, mode os.FileMode) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && info.Mode().IsRegular() && info.Mode().Perm()&0o077 == mode&0o077
}

// checkParent rejects a parent folder in which everybody could replace our folder.
func checkParent(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
		return fmt.Errorf("everybody may write to %s (mode %04o): run chmod o-w on it, or set XDG_STATE_HOME", path, info.Mode().Perm())
	}
	return nil
}

// private makes sure that f is ours, and that others have the permissions of mode.
func private(f *os.File, mode os.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to somebody else (user id %d): set XDG_STATE_HOME to a folder of your own", f.Name(), s.Uid)
	}
	if info.Mode().Perm()&0o077 != mode&0o077 {
		return f.Chmod(mode)
	}
	return nil
}
