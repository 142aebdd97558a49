package terminal

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"coordtop/internal/ground/spawn"
)

// ErrGone is the cause of the end of a program whose terminal went away. A terminal that goes
// away sends SIGHUP to those that it controls only.
var ErrGone = errors.New("the terminal is gone")

// isGone reports whether err is how a terminal that is gone answers, for good.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ENXIO)
}

// file is what Bubble Tea has to find in its input to wait for it together with a cancel.
type file interface {
	term.File
	Name() string
}

// keyboard is the terminal as Bubble Tea reads it. Bubble Tea takes the end of its input
// for no more than a keyboard without a next key; of a terminal it is the end. A
// limiter bounds the input. Only one goroutine may read.
type keyboard struct {
	file
	gone  func(error)
	limit *limiter
	quiet silence
	typed chan<- struct{} // capacity 1: something was read
}

func (k keyboard) Read(b []byte) (int, error) {
	if d := k.limit.pause(); d > 0 {
		<-time.After(d)
	}
	if len(b) <= room {
		return 0, io.ErrShortBuffer
	}
	n, err := k.file.Read(b[:len(b)-room])
	spawn.Wake(k.typed)
	if isGone(err) {
		k.gone(err)
	}
	return k.limit.limit(b, n, k.quiet.end()), err
}

// watched returns in as a keyboard if it is a terminal. Other input may end.
func watched(in io.Reader, gone func(error), typed chan<- struct{}) io.Reader {
	if f, ok := in.(file); ok && term.IsTerminal(f.Fd()) {
		return keyboard{f, gone, &limiter{}, newSilence(), typed}
	}
	return in
}
