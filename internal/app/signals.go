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
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/job"
)

// requests are the signals that ask the program to end.
func requests() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGXCPU}
}

// aborts are the signals that end a Go program with the stacks of its goroutines, unless it handles them. A fault in
// our own code is a panic and no signal here.
func aborts() []os.Signal {
	return []os.Signal{
		syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGILL,
		syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV,
	}
}

// stackSize bounds the printed stacks.
const stackSize = 4 << 20

// signalled is the cause with which a signal ends the context. It wraps context.Canceled.
type signalled struct {
	signal syscall.Signal
	stacks []byte // of all goroutines, when the signal came; nil unless it was an abort
}

// Error names the signal.
func (s *signalled) Error() string { return "received: " + s.signal.String() }

// Unwrap returns context.Canceled.
func (s *signalled) Unwrap() error { return context.Canceled }

// exitCode returns the exit code that shells report for a process that a signal has ended.
func (s *signalled) exitCode() int { return 128 + int(s.signal) }

// signalRouter receives the signals of the process, and gives each of them to one receiver.
type signalRouter struct {
	received chan os.Signal
	mu       sync.Mutex
	other    chan os.Signal // see handOver; nil: the program itself handles signals
}

func newSignalRouter() *signalRouter { return &signalRouter{received: make(chan os.Signal, 8)} }

// notify begins to receive some signals, but for those that the parent process made us ignore, as nohup does.
func (r *signalRouter) notify(signals ...os.Signal) {
	signal.Notify(r.received, slices.DeleteFunc(signals, signal.Ignored)...)
}

// endOnSignal ends the context on the first signal that asks for the end, with a *signalled as its cause. again
// receives the later ones, and is never closed. After stop, signals are still caught, without effect: the process is
// about to end.
func (r *signalRouter) endOnSignal(ctx context.Context) (_ context.Context, again <-chan *signalled, stop context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.notify(append(requests(), aborts()...)...)
	more := make(chan *signalled, 1)
	end := make(chan struct{})
	spawn.Go(ctx, nil, func() { // ends with stop
		for {
			select {
			case <-end:
				return
			case s := <-r.received:
				if r.handedOver(s) || stopped(s) {
					continue
				}
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

// handOver gives the signals that job.Run handles to the caller until it calls back. A signal that the caller has not
// received then is the program's again.
func (r *signalRouter) handOver() (signals <-chan os.Signal, back func()) {
	other := make(chan os.Signal, 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.other = other
	r.notify(job.Signals()...)
	return other, func() {
		r.mu.Lock()
		r.other = nil
		r.mu.Unlock()
		for {
			select {
			case s := <-other:
				select {
				case r.received <- s:
				default: // enough others are there
				}
			default:
				return
			}
		}
	}
}

// handedOver gives a signal to the caller of handOver, and reports whether it did.
func (r *signalRouter) handedOver(s os.Signal) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.other == nil || !slices.Contains(job.Signals(), s) {
		return false
	}
	select {
	case r.other <- s:
	default: // enough others are there
	}
	return true
}

// stopped handles a signal that does not ask for the end, and reports whether it was one. Such signals arrive after
// handOver was called once: the runtime has handlers for them then, for good.
func stopped(s os.Signal) bool {
	if slices.Contains(requests(), s) || slices.Contains(aborts(), s) {
		return false
	}
	if s == syscall.SIGTSTP {
		_ = syscall.Kill(0, syscall.SIGSTOP) // what the signal does without a handler, to the whole group as the shell sees it
	}
	return true
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

// patience bounds the time that a command may take to end after a signal. It is longer than the command's own bounds.
// The demo has the longest: two seconds for its candidates, stopPatience for its servers, and the time that killing
// those takes on a busy machine.
const patience = 8 * time.Second

// readPatience is the patience for a command that only reads a recording and prints: nothing is lost if it is
// abandoned, and a recording from elsewhere may have any size.
const readPatience = 2 * time.Second

// partPatience bounds the time that a second signal waits until the terminal is restored and leases are given back. It
// is longer than the own bounds of both.
const partPatience = 4 * time.Second

// sayPatience bounds a write after a signal: perhaps nobody reads the terminal or the pipe.
const sayPatience = 5 * time.Second

// unfinished counts the work that must not be cut short: restoring the terminal, giving back leases.
type unfinished struct{ n atomic.Int32 }

// begin counts one more until done is called.
func (p *unfinished) begin() (done func()) {
	p.n.Add(1)
	return func() { p.n.Add(-1) }
}

// await waits until all of it is done or the time is over.
func (p *unfinished) await(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	for p.n.Load() > 0 && backoff.Sleep(ctx, 10*time.Millisecond) == nil {
	}
}

// abandon ends the process if the command does not return after it was asked to end: when patience is over or, on a
// second signal, as soon as the terminal is restored and leases are given back. ctx has ended.
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

// abortOf returns the abort in an error; nil: there is none.
func abortOf(err error) *signalled {
	if s, ok := errors.AsType[*signalled](err); ok && s.stacks != nil {
		return s
	}
	return nil
}

// sayStacks prints the stacks of the goroutines from when the signal came, and then the sentence about it.
func sayStacks(ctx context.Context, to io.Writer, s *signalled) {
	inTime(ctx, func() {
		_, _ = to.Write(append(s.stacks, '\n'))
		fmt.Fprintf(to, "coordtop: ended by a signal (%s); above is what its goroutines did when it came\n", s.signal)
	})
}

// inTime calls f and returns when f has returned, or when sayPatience is over: the goroutine of f then ends with the
// process.
func inTime(ctx context.Context, f func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sayPatience)
	defer cancel()
	_, _ = spawn.Within(ctx, 0, func() (struct{}, error) { f(); return struct{}{}, nil })
}

// abortOurselves sends the signal that ctrl-\ sends where the terminal is not raw.
func abortOurselves() { _ = syscall.Kill(os.Getpid(), syscall.SIGQUIT) }

// readPause is the interval at which an idle watch checks whether somebody still reads its output.
const readPause = 500 * time.Millisecond

// whileRead returns EPIPE once nobody can read out any more. A write would fail too, but while nothing changes there
// may be no write for hours, and `coordtop watch | head -1` would run on all that time. It returns nil when ctx ends,
// and at once where out is no pipe.
func whileRead(ctx context.Context, out io.Writer) error {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return nil // no pipe, or closed: the next write says so
	}
	for backoff.Sleep(ctx, readPause) == nil {
		if abandoned(f) {
			return syscall.EPIPE
		}
	}
	return nil
}

// errClosed reports that standard output was closed, so that nobody can have read it.
var errClosed = errors.New("standard output is closed: nothing was printed; to throw it away, redirect it to /dev/null")

// printed returns errClosed if standard output was closed at the start: the Go runtime then opens /dev/null in its
// place for reading and writing, while the redirection of a shell opens it only for writing.
func printed(out io.Writer) error {
	f, ok := out.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	null, nothing := os.Stat(os.DevNull)
	if err != nil || nothing != nil || !os.SameFile(info, null) {
		return nil
	}
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err == nil && flags&unix.O_ACCMODE == unix.O_RDWR {
		return errClosed
	}
	return nil
}

// abandoned reports whether the other end of a pipe is closed.
func abandoned(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}} // poll reports errors always
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
