package localserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// nobody is the id of the user that owns no files, on every system that has such a user.
const nobody = 65534

// user is the user that a server runs as. A nil *user is our own.
type user struct{ uid, gid int }

// unprivileged returns the user for a server that refuses to be root: nil if we are not root, otherwise postgres, or
// nobody if postgres does not exist.
func unprivileged() *user {
	if os.Geteuid() != 0 {
		return nil
	}
	if known, err := osuser.Lookup("postgres"); err == nil {
		uid, err1 := strconv.Atoi(known.Uid)
		gid, err2 := strconv.Atoi(known.Gid)
		if err1 == nil && err2 == nil && uid != 0 {
			return &user{uid: uid, gid: gid}
		}
	}
	return &user{uid: nobody, gid: nobody}
}

// credential returns the attribute that makes a child run as u.
func (u *user) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)}
}

func (u *user) own(path string) error {
	if u == nil {
		return nil
	}
	if err := os.Chown(path, u.uid, u.gid); err != nil {
		return fmt.Errorf("giving a file to user %d: %w", u.uid, err)
	}
	return nil
}

// write makes a file that u alone can read.
func (u *user) write(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return u.own(path)
}

// folder makes a folder that u alone can enter.
func (u *user) folder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a folder: %w", err)
	}
	return u.own(path)
}

// reaches lets u pass through dir, which is ours. It only checks that u may pass through the folders above, which it
// must not change.
func (u *user) reaches(dir string) error {
	if u == nil {
		return nil
	}
	path := dir
	if err := os.Chmod(dir, 0o711); err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("looking at the folder: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 && !u.owns(info) {
			return fmt.Errorf("user %d cannot reach %s through %s: choose another folder, or set TMPDIR", u.uid, path, dir)
		}
	}
	return nil
}

// owns reports whether u may enter the folder as its owner.
func (u *user) owns(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == u.uid && info.Mode().Perm()&0o100 != 0
}
