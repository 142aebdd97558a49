package terminal

import (
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"coordtop/internal/ground/spawn"
)

// ErrGone is the cause when a program ends because its terminal went away. SIGHUP is not enough: only
// processes that the terminal controls receive it.
var ErrGone = errors.New("the terminal is gone")

// isGone reports whether err means that the terminal is gone for good.
func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ENXIO)
}

// file has the methods that Bubble Tea needs in its input to make reads cancelable.
type file interface {
	term.File
	Name() string
}

// keyboard is the input of Bubble Tea. Bubble Tea keeps running after the end of its input; for a terminal
// that end means that it is gone. A limiter bounds the input. Only one goroutine may read.
type keyboard struct {
	file
	gone  func(error)
	limit *limiter
	quiet silence
	typed chan<- struct{} // capacity 1: receives after each read
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

// watched wraps in in a keyboard if it is a terminal. Other input may end.
func watched(in io.Reader, gone func(error), typed chan<- struct{}) io.Reader {
	if f, ok := in.(file); ok && term.IsTerminal(f.Fd()) {
		return keyboard{f, gone, &limiter{}, newSilence(), typed}
	}
	return in
}
