package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// identity identifies the files of a recording even if other files get their names: the file itself, its WAL, and the
// index of the WAL. An element is nil if there is no such file.
type identity [3]os.FileInfo

func identityOf(path string) (is identity) {
	for i, end := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(path + end); err == nil {
			is[i] = info
		}
	}
	return is
}

// stands reports whether all files of was are still in place.
func (was identity) stands(is identity) bool {
	for i, info := range was {
		if info != nil && (is[i] == nil || !os.SameFile(info, is[i])) {
			return false
		}
	}
	return true
}

// claim returns the text of the lock file: device and inode of the WAL, and of the recording that it belongs to. A WAL
// does not name its recording, and SQLite applies it to any file with the matching name.
func (is identity) claim() string {
	if is[0] == nil || is[1] == nil {
		return ""
	}
	return fmt.Sprintf("log %s\nof %s\n", inode(is[1]), inode(is[0]))
}

func inode(info os.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
}

// strays reports whether, by the claim of its writer, the WAL belongs to another file that was at the path before. A
// claim about another WAL, such as one that was copied with the files, does not count.
func (is identity) strays(claim string) bool {
	var log, of string
	n, _ := fmt.Sscanf(claim, "log %s\nof %s", &log, &of)
	if n < 2 || is[1] == nil || is[1].Size() == 0 || log != inode(is[1]) {
		return false
	}
	return is[0] == nil || of != inode(is[0])
}

// claimed returns the claim in the lock file of a recording; "" without a file or a claim.
func claimed(path string) string {
	f, err := os.OpenFile(lockName(path), os.O_RDONLY|unix.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, 200)
	n, _ := io.ReadFull(f, text)
	return string(text[:n])
}

// write puts the claim into a lock file.
func (is identity) write(locked *os.File) error {
	text := is.claim()
	_, err := locked.WriteAt([]byte(text), 0)
	return errors.Join(err, locked.Truncate(int64(len(text))))
}

// setStrayAside renames a WAL that belongs to another file, so that SQLite does not apply it here.
func setStrayAside(path string, now time.Time) (note string, err error) {
	if !identityOf(path).strays(claimed(path)) {
		return "", nil
	}
	to := path + "-wal.stray-" + now.UTC().Format(asideTime)
	if err := os.Rename(path+"-wal", to); err != nil {
		return "", err
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return "the WAL of another recording lay beside this one: it was renamed to " + to, nil
}
