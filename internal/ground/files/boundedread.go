package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
)

// patience is the time that reading a file may take. Without it, reading from a dead network file system, or from a
// pipe that nobody writes to, would never end.
const patience = 5 * time.Second

// pollStep is the pause after which a wait for the writer of a pipe checks whether it was cancelled.
const pollStep = 50 * time.Millisecond

// ErrKind reports that a path is a folder or a device, not a file.
var ErrKind = errors.New("not a file")

var (
	errFolder   = fmt.Errorf("a folder: %w", ErrKind)
	errIdlePipe = errors.New("nobody writes to it, or closes it")
)

// ErrLong reports that a file is longer than it may be.
var ErrLong = errors.New("too long")

// Error is the reason why a file cannot be read.
type Error struct {
	Text  string // a sentence
	Cause error
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// content is the data and the mode of a file.
type content struct {
	data []byte
	mode fs.FileMode
}

// Read returns the content and the mode of a file or a named pipe. A pipe is read until its writers have closed it. The
// error is an *Error: the file does not exist (fs.ErrNotExist), is longer than most bytes (ErrLong), is neither a file
// nor a pipe (ErrKind), or ctx or five seconds ended first.
func Read(ctx context.Context, path string, most int64) ([]byte, fs.FileMode, error) {
	c, err := within(ctx, path, most, func(ctx context.Context) (content, error) { return read(ctx, path, most) })
	return c.data, c.mode, err
}

// Check returns an error if a file must not be read by a library, which would not bound what it reads. The errors are
// those of Read, and a pipe is ErrKind.
func Check(ctx context.Context, path string, most int64) error {
	_, err := within(ctx, path, most, func(context.Context) (content, error) {
		info, err := os.Stat(path)
		if err == nil {
			err = readable(info, most)
		}
		if err == nil && !info.Mode().IsRegular() {
			err = ErrKind
		}
		return content{}, err
	})
	return err
}

// IsPipe reports whether a named pipe stands at a path.
func IsPipe(ctx context.Context, path string) bool {
	c, err := within(ctx, path, 0, func(context.Context) (content, error) {
		info, err := os.Stat(path)
		if err != nil {
			return content{}, err
		}
		return content{mode: info.Mode()}, nil
	})
	return err == nil && c.mode&fs.ModeNamedPipe != 0
}

// within calls access and waits until its time is over. An access that waits for a pipe returns by itself a little
// later, with a better error. One that was given up ends when its file system answers, or with the process.
func within(ctx context.Context, path string, most int64, access func(context.Context) (content, error)) (content, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := spawn.Within(ctx, 4*pollStep, func() (content, error) { return access(ctx) })
	if err != nil {
		return content{}, explain(path, err, most)
	}
	return c, nil
}

// read checks the file before opening it, because opening alone has effects on some devices, and again afterwards.
func read(ctx context.Context, path string, most int64) (content, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = readable(info, most)
	}
	if err != nil {
		return content{}, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		err = readable(info, most)
	}
	if err != nil {
		return content{}, err
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		if err := awaitWriter(ctx, f); err != nil {
			return content{}, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = ErrLong
	}
	return content{data, info.Mode()}, err
}

func readable(info fs.FileInfo, most int64) error {
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return ErrKind
	case info.Mode().IsRegular() && info.Size() > most:
		return ErrLong
	}
	return nil
}

// awaitWriter waits until something was written to a pipe or its writer has closed it. Before that, a read from a pipe
// that was opened without waiting returns the end of the file.
func awaitWriter(ctx context.Context, f *os.File) error {
	if until, ok := ctx.Deadline(); ok {
		if err := f.SetReadDeadline(until); err != nil {
			return err
		}
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		n := 0
		if err2 := conn.Control(func(fd uintptr) {
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(pollStep.Milliseconds()))
		}); err2 != nil {
			return err2
		}
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
	return errIdlePipe
}

// explain returns a sentence about the error that kept a file from being read.
func explain(path string, err error, most int64) error {
	shown := format.Clean(path, 200)
	say := func(text string, args ...any) error {
		return &Error{Text: fmt.Sprintf(text, args...), Cause: innermost(err)}
	}
	switch {
	case errors.Is(err, errIdlePipe), errors.Is(err, os.ErrDeadlineExceeded):
		return say("%s is a pipe that nobody writes to, or closes", shown)
	case errors.Is(err, context.Canceled):
		return say("reading a file was given up")
	case errors.Is(err, context.DeadlineExceeded):
		return say("a file does not answer: its file system may be gone")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return say("there is no such file below %s", format.Clean(existing(path), 200))
	case errors.Is(err, ErrLong):
		return say("%s is longer than %d kB", shown, most>>10)
	case errors.Is(err, errFolder):
		return say("%s is a folder: name a file in it", shown)
	case errors.Is(err, ErrKind):
		return say("%s is a pipe, a device or a socket: name a file", shown)
	case errors.Is(err, fs.ErrPermission):
		return say("a file below %s may not be read by us: see its mode and its owner", format.Clean(existing(filepath.Dir(path)), 200))
	}
	return say("a file cannot be read: %v", innermost(err))
}

// innermost returns an error without the path that package os puts before it.
func innermost(err error) error {
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}

// existing returns the part of a path that exists.
func existing(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return "the working directory"
	}
	for path != "/" {
		path = filepath.Dir(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
	}
	return path
}
