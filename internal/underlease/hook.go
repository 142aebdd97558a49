package underlease

import (
	"context"
	"os"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/ground/subprocess"
)

const (
	hookWithin = 10 * time.Second // for one hook
	lastWithin = 4 * time.Second  // for one hook once the process must end
)

// Hook is a command line of sh that runs at the beginning or the end of a term.
type Hook struct {
	Name   string   // for messages
	Line   string   // "": the hook does nothing
	Output *os.File // receives its output; nil: the output is discarded
	Say    func(text string)
}

// Run runs the hook and returns when it has ended or was killed: after 10 s, with under, and 4 s after the end of ctx.
func (h *Hook) Run(ctx, under context.Context, environ []string) {
	if h.Line == "" {
		return
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(under), hookWithin)
	defer cancel()
	defer spawn.OnDone(under, cancel)()
	defer spawn.OnDone(ctx, func() {
		_ = backoff.Sleep(bound, lastWithin)
		cancel()
	})()
	program := subprocess.Program{Args: []string{"sh", "-c", h.Line}, Environ: environ, Output: h.Output}
	if _, err := subprocess.Run(bound, program); err != nil {
		h.Say(h.Name + ": " + err.Error())
	}
}

// CauseWord returns the word for the cause of the end of a lease: "lost", "expired", "closed" or "released".
func CauseWord(cause error) string {
	for _, known := range []error{coord.ErrLost, coord.ErrExpired, coord.ErrClosed} {
		if failure.IsAny(cause, known) {
			return known.Error()
		}
	}
	return coord.ErrReleased.Error()
}
