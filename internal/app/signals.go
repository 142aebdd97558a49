package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"coordtop/internal/ground/spawn"
)

// requests are the signals that ask the program to end.
func requests() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGXCPU}
}

// aborts are the signals that end a Go program with the stacks of its goroutines, if it
// does not ask for them. A fault of our own code is a panic and no signal here.
func aborts() []os.Signal {
	return []os.Signal{
		syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGILL,
		syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV,
	}
}

// stackSize bounds what is printed of the goroutines.
const stackSize = 4 << 20

// signalled is the cause of a context that a signal has ended. It wraps context.Canceled.
type signalled struct {
	signal syscall.Signal
	stacks []byte // of all goroutines, when the signal came; nil unless it was an abort
}

// Error names the signal.
func (s *signalled) Error() string { return "received: " + s.signal.String() }

// Unwrap returns context.Canceled.
func (s *signalled) Unwrap() error { return context.Canceled }

// exitCode is what shells make of a process that a signal has ended.
func (s *signalled) exitCode() int { return 128 + int(s.signal) }

// endOnSignal ends the context on the first signal that asks for the end, with a
// *signalled as its cause. Those after it are sent to again, which is never closed. After
// stop signals go on being caught, without effect: the process is about to end.
func endOnSignal(ctx context.Context) (_ context.Context, again <-chan *signalled, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	received := make(chan os.Signal, 8)
	signal.Notify(received, append(requests(), aborts()...)...)
	more := make(chan *signalled, 1)
	end := make(chan struct{})
	spawn.Go(ctx, nil, func() { // ends with stop
		for {
			select {
			case <-end:
				return
			case s := <-received:
				asked := newSignalled(s)
				if ctx.Err() == nil {
					cancel(asked)
					continue
				}
				select {
				case more <- asked:
				default: // one is enough
				}
			}
		}
	})
	return ctx, more, func() {
		close(end)
		cancel(nil)
	}
}

func newSignalled(s os.Signal) *signalled {
	asked := &signalled{}
	asked.signal, _ = s.(syscall.Signal)
	if slices.Contains(aborts(), s) {
		asked.stacks = make([]byte, stackSize)
		asked.stacks = asked.stacks[:runtime.Stack(asked.stacks, true)]
	}
	return asked
}

// patience is how long a command may go on after it was asked to end: longer than any
// takes by its own bounds. The demo has the longest: two seconds for its candidates, then
// stopPatience for its servers, and what killing those takes on a busy machine.
const patience = 8 * time.Second

// readPatience is patience of a command that only reads a recording and prints what it found: nothing is
// lost with it, and a recording that somebody else made may be of any size.
const readPatience = 2 * time.Second

// partPatience is how long a second signal waits for the terminal to be restored and for
// what we hold to be given back: longer than either takes by its own bounds.
const partPatience = 4 * time.Second

// sayPatience bounds what is written after a signal: the terminal or the pipe may be one
// that nobody reads.
const sayPatience = 5 * time.Second

// unfinished counts what must not be cut short: a terminal that is to be restored, leases that
// are to be given back.
type unfinished struct{ n atomic.Int32 }

// begin counts one more until done is called.
func (p *unfinished) begin() (done func()) {
	p.n.Add(1)
	return func() { p.n.Add(-1) }
}

// await waits until nothing is left or the time is over.
func (p *unfinished) await(d time.Duration) {
	bound := time.NewTimer(d)
	defer bound.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for p.n.Load() > 0 {
		select {
		case <-bound.C:
			return
		case <-tick.C:
		}
	}
}

// abandon ends the process if the command does not come back after it was asked to end:
// when patience is over, or, on a second signal, as soon as the terminal is restored and
// what we hold is given back. ctx has ended.
func (p *program) abandon(ctx context.Context, again <-chan *signalled) {
	bound := time.NewTimer(patience)
	if p.onlyReads.Load() {
		bound.Reset(readPatience)
	}
	defer bound.Stop()
	cause, code := context.Cause(ctx), exitError
	select {
	case <-p.over:
		return
	case <-bound.C:
	case second := <-again:
		p.unfinished.await(partPatience)
		code = second.exitCode()
		if abortOf(cause) == nil && !errors.Is(cause, spawn.ErrPanic) {
			cause = second
		}
	}
	switch abort := abortOf(cause); {
	case abort != nil:
		code = abort.exitCode()
		sayStacks(ctx, p.env.Stderr, abort)
	case errors.Is(cause, spawn.ErrPanic):
		inTime(ctx, func() { p.report(ctx, cause) })
	}
	p.env.Exit(code)
}

// abortOf is the abort in an error, nil if there is none.
func abortOf(err error) *signalled {
	if s := (*signalled)(nil); errors.As(err, &s) && s.stacks != nil {
		return s
	}
	return nil
}

// sayStacks prints what the goroutines did when the signal came, and last what matters.
func sayStacks(ctx context.Context, to io.Writer, s *signalled) {
	inTime(ctx, func() {
		_, _ = to.Write(append(s.stacks, '\n'))
		fmt.Fprintf(to, "coordtop: ended by a signal (%s); above is what its goroutines did when it came\n", s.signal)
	})
}

// inTime calls f and returns when it has returned, or when sayPatience is over: its
// goroutine then ends with the process.
func inTime(ctx context.Context, f func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sayPatience)
	defer cancel()
	_, _ = spawn.Within(ctx, 0, func() (struct{}, error) { f(); return struct{}{}, nil })
}

// abortOurselves is what ctrl-\ does to a program whose terminal is not raw.
func abortOurselves() { _ = syscall.Kill(os.Getpid(), syscall.SIGQUIT) }
