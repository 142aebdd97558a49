package localserver

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// folderPrefix begins the name of every temporary folder.
	folderPrefix = "coordtop-"
	// aliveName is a named pipe in a temporary folder, held open by each process that needs the folder. After all of
	// these have ended, in whatever way, it has no reader. Unlike a process id it is never reused, and unlike a lock a
	// shell can hold it.
	aliveName = "alive"
	// unfinished is the kind of a folder until it has the pipe. If its maker was killed before that, the folder counts
	// as dead after longestMaking.
	unfinished    = "unfinished"
	longestMaking = time.Minute
)

// tempFolder returns an unused name for a temporary folder.
func tempFolder(kind string) string {
	return filepath.Join(os.TempDir(), folderPrefix+kind+"-"+randomName())
}

// TempFolder makes a folder for this process. Close removes it, or RemoveDead if the process ended without Close.
func TempFolder(kind string) (*Folder, error) {
	dir, made := tempFolder(kind), tempFolder(unfinished)
	if err := os.Mkdir(made, 0o700); err != nil {
		return nil, fmt.Errorf("making a temporary folder: %w", err)
	}
	alive, err := holdFolder(made)
	if err == nil {
		if err = os.Rename(made, dir); err == nil {
			return &Folder{dir, alive}, nil
		}
		err = errors.Join(err, alive.Close())
	}
	return nil, errors.Join(err, os.RemoveAll(made))
}

// Folder is a temporary folder that does not outlive the demo by long.
type Folder struct {
	Dir   string
	alive *os.File
}

// Close removes the folder. It must not be called twice.
func (f *Folder) Close() error { return errors.Join(os.RemoveAll(f.Dir), f.alive.Close()) }

// holdFolder makes the pipe in a folder, and holds it open until the file is closed. The pipe gets its name only after
// it was opened, so that RemoveDead never finds it without a reader.
func holdFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, aliveName)
	if err := syscall.Mkfifo(path+".new", 0o600); err != nil {
		return nil, fmt.Errorf("making a pipe in %s: %w", dir, err)
	}
	f, err := os.OpenFile(path+".new", os.O_RDWR, 0) // does not block, because it opens both ends
	if err != nil {
		return nil, fmt.Errorf("holding %s: %w", dir, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return nil, errors.Join(fmt.Errorf("holding %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// RemoveDead removes the temporary folders of servers and demos whose processes have all ended without removing them.
// It does not touch folders of other users, or folders of other programs, which have no such pipe.
func RemoveDead() error {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return fmt.Errorf("looking for folders that were left: %w", err)
	}
	for _, e := range entries {
		if dir := filepath.Join(os.TempDir(), e.Name()); strings.HasPrefix(e.Name(), folderPrefix) && dead(dir) {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// dead reports whether a path is a folder of ours whose pipe nobody holds.
func dead(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return false
	}
	alive, made := filepath.Join(dir, aliveName), info.ModTime()
	if info, err = os.Lstat(alive); errors.Is(err, fs.ErrNotExist) {
		return strings.HasPrefix(filepath.Base(dir), folderPrefix+unfinished) && time.Since(made) > longestMaking
	}
	if err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		return false
	}
	fd, err := syscall.Open(alive, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err == nil {
		_ = syscall.Close(fd)
	}
	return errors.Is(err, syscall.ENXIO)
}
