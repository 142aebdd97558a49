package logfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"coordtop/internal/config"
	"coordtop/internal/ground/files"
)

const (
	fullAt = 1 << 20        // a larger file is put aside
	Name   = "coordtop.log" // of the file in the state directory
)

// Open makes the one logger of the process. If the state directory cannot be used, the logger discards everything,
// and the error tells why.
func Open(env config.Lookup) (*slog.Logger, *File, error) {
	dir := config.Dir(env, "XDG_STATE_HOME", filepath.Join(".local", "state"))
	if dir == "" {
		return slog.New(slog.DiscardHandler), nil, errors.New("opening the log: neither XDG_STATE_HOME nor HOME is set")
	}
	f := &File{path: filepath.Join(dir, Name)}
	if err := f.open(); err != nil {
		return slog.New(slog.DiscardHandler), nil, fmt.Errorf("opening the log: %w", err)
	}
	logger := slog.New(slog.NewTextHandler(f, nil)).With("pid", os.Getpid())
	return logger, f, nil
}

// File appends to a file that several coordtops share, and puts it aside when it is too long; one old file
// is kept. Only its owner can read it, and a symbolic link is refused. It is safe for concurrent use.
type File struct {
	path string
	size int64 // 0: fullAt

	mu   sync.Mutex
	file *os.File
}

func (l *File) open() error {
	folder, _, err := files.PrivateFolder(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	defer folder.Close()
	f, err := files.OpenPrivate(folder, filepath.Base(l.path), os.O_APPEND)
	if err != nil {
		return err
	}
	l.file = f
	return nil
}

// Write appends one record. It checks the file each time, because another coordtop may have put it aside;
// records are so rare that the check costs nothing.
func (l *File) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, fs.ErrClosed
	}
	if err := l.turnLocked(int64(len(b))); err != nil {
		return 0, err
	}
	return l.file.Write(b)
}

// turnLocked begins a new file where the old one is full or was put aside.
func (l *File) turnLocked(more int64) error {
	limit := cmp.Or(l.size, fullAt)
	there, err := os.Lstat(l.path)
	ours, statErr := l.file.Stat()
	if statErr != nil {
		return statErr
	}
	switch {
	case err != nil || !os.SameFile(there, ours):
	case ours.Size()+more > limit && ours.Size() > 0:
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return err
		}
	default:
		return nil
	}
	old := l.file
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

// Close closes the log; later records are lost. For a nil log it does nothing.
func (l *File) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close() // O_APPEND without buffers: there is nothing left to lose
		l.file = nil
	}
}
