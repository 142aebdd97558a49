package operate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
)

// auditFile is the file of an AuditLog, which several processes append to. For each line a process opens the file,
// locks it (flock, which ends with the process), and checks it: the folder and the file must be ours, and neither may
// be a link. Modes that let others in are corrected.
type auditFile struct {
	path  string
	limit int64 // size in bytes at which the file is rotated
	keep  int   // how many rotated files are kept; path.1 is the newest
}

// An audit takes at most ten files of 8 MB on the disk, some 150,000 lines.
const (
	auditLimit = 8 << 20
	auditKeep  = 9
)

// maxTorn bounds the part of an incomplete line that is read from the end of the file.
const maxTorn = 1 << 20

// append writes a line with its line break to the disk, completely or not at all.
func (a auditFile) append(line []byte) error {
	folder, made, err := files.PrivateFolder(filepath.Dir(a.path))
	if err != nil {
		return err
	}
	defer folder.Close()
	f, fresh, err := a.open(folder, int64(len(line)))
	if err != nil {
		return err
	}
	err = errors.Join(write(f, line), f.Sync(), f.Close())
	if err == nil && (fresh || made) {
		err = folder.Sync() // so that the name survives a loss of power
	}
	return err
}

// open returns the file, locked, with room for more bytes. fresh reports whether the file is new.
func (a auditFile) open(folder *os.File, more int64) (f *os.File, fresh bool, err error) {
	for range 100 { // again if another process has just rotated the file
		f, err := files.OpenPrivate(folder, filepath.Base(a.path), 0)
		if err != nil {
			return nil, false, err
		}
		info, current, err := a.lock(folder, f)
		switch {
		case err != nil:
			return nil, false, errors.Join(err, f.Close())
		case !current:
		case info.Size() > 0 && info.Size()+more > a.limit:
			if err := a.putAside(folder); err != nil {
				return nil, false, errors.Join(err, f.Close())
			}
		default:
			return f, info.Size() == 0, nil
		}
		if err := f.Close(); err != nil {
			return nil, false, err
		}
	}
	return nil, false, fmt.Errorf("%s is put aside by others again and again", a.path)
}

// lock waits until no other process writes to f. current reports whether f is still the file at the path: another
// process may have rotated it.
func (a auditFile) lock(folder, f *os.File) (info os.FileInfo, current bool, err error) {
	if err := lockFile(f, 0); err != nil {
		return nil, false, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, false, err
	}
	var there unix.Stat_t
	err = unix.Fstatat(int(folder.Fd()), filepath.Base(a.path), &there, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return info, false, nil
	}
	ours, ok := info.Sys().(*syscall.Stat_t)
	return info, ok && err == nil && there.Ino == ours.Ino && there.Dev == ours.Dev, err
}

// lockFile locks f until it is closed. It waits until no other process has locked f, or for patience if that is not 0: a
// process that is stopped may hold the lock for ever.
func lockFile(f *os.File, patience time.Duration) error {
	how := unix.LOCK_EX
	if patience > 0 {
		how |= unix.LOCK_NB
	}
	for until := time.Now().Add(patience); ; {
		switch err := unix.Flock(int(f.Fd()), how); {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("locking %s: %w: set XDG_STATE_HOME to a folder of a local disk", f.Name(), err)
		case time.Now().After(until):
			return fmt.Errorf("%s is locked by another coordtop that does not go on: end that one", f.Name())
		default:
			<-time.After(20 * time.Millisecond)
		}
	}
}

// putAside renames the full file to path.1 and each earlier one to the next number; the oldest is deleted. The caller
// has locked the file, so that no other process does it at the same time.
func (a auditFile) putAside(folder *os.File) error {
	at, base := int(folder.Fd()), filepath.Base(a.path)
	numbered := func(n int) string {
		if n == 0 {
			return base
		}
		return base + "." + strconv.Itoa(n)
	}
	for n := a.keep - 1; n >= 0; n-- {
		err := unix.Renameat(at, numbered(n), at, numbered(n+1))
		if err != nil && (n == 0 || !errors.Is(err, unix.ENOENT)) {
			return fmt.Errorf("putting the full audit aside as %s.%d: %w", a.path, n+1, err)
		}
	}
	return folder.Sync()
}

// write appends a line to a file that is locked. If only a part of the line fits on the disk, write removes that part.
func write(f *os.File, line []byte) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	torn, err := tornLine(f, end)
	if err != nil {
		return err
	}
	start := end - int64(len(torn))
	if len(torn) > 0 {
		line = append(wrapped(torn), line...)
	}
	if _, err := f.WriteAt(line, start); err != nil {
		_, restored := f.WriteAt(torn, start)
		return errors.Join(err, restored, f.Truncate(end))
	}
	return nil
}

// tornLine returns the text after the last line break, which is the beginning of a line whose writer was killed or lost
// power. If the text is longer than maxTorn, it returns only its end.
func tornLine(f *os.File, end int64) ([]byte, error) {
	var last [1]byte
	if end == 0 {
		return nil, nil
	}
	if _, err := f.ReadAt(last[:], end-1); err != nil || last[0] == '\n' {
		return nil, err
	}
	tail := make([]byte, min(end, maxTorn))
	if _, err := f.ReadAt(tail, end-int64(len(tail))); err != nil {
		return nil, err
	}
	return tail[bytes.LastIndexByte(tail, '\n')+1:], nil
}

// wrapped returns a line with a record of a torn line. If the torn line lacks only its line break, it returns the line
// with a line break.
func wrapped(torn []byte) []byte {
	if torn[0] == '{' && json.Valid(torn) {
		return append(bytes.Clone(torn), '\n')
	}
	text, _ := format.UTF8(torn)
	line, err := Record{At: time.Now().UTC(), Stage: Torn, Detail: text}.line()
	if err != nil {
		panic("operate: a record of texts cannot be encoded: " + err.Error())
	}
	return line
}
