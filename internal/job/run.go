package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/spawn"
)

// Lease is the part of a *coord.Lease that Run uses. See there.
type Lease interface {
	Context() context.Context
	Check() error
	TrustedUntil() time.Time
	WindowEnd() time.Time
	Renewed() <-chan struct{}
}

// Options describe a command and what it learns about its lease.
type Options struct {
	Args []string // the command and its arguments
	Env  []string // its environment, to which Run adds what doc.go lists

	// Stdin, Stdout and Stderr are the command's alone while Run runs. Nil: /dev/null.
	Stdin, Stdout, Stderr *os.File

	Name, Owner string        // COORDTOP_NAME and COORDTOP_OWNER
	Fence       uint64        // 0: none
	Grace       time.Duration // the time between TERM and KILL when trust ends; 0: KILL alone

	// KeepLinks reports whether the server gives the lease away when our connection ends. The watchdog then keeps our
	// connections open until the command is dead, if we are killed.
	KeepLinks bool
	// Folder is a private folder for the deadline file, used if XDG_RUNTIME_DIR has no place for it.
	Folder string
	// Say receives a sentence for people. It must not block for long: the command's signals wait for it.
	Say func(sentence string)
	// Signals receives the signals that Signals lists and that reach this process. Nil: Run receives them itself.
	Signals <-chan os.Signal
}

// Result is the end of a command.
type Result struct {
	Code    int            // the command's own, 128 + n after signal n; 126 or 127 if it could not be started
	Lost    error          // the end of the lease, if that ended the command; nil otherwise
	Stopped syscall.Signal // the first signal to us that asked for the end; 0: none
	Left    bool           // processes of the command are still alive
}

// unkillable is the time for processes to end after KILL. Those that are alive then wait for something broken.
const unkillable = 2 * time.Second

// reapPause is the time after which nobody else waits for a child that has ended.
const reapPause = time.Second

// requests are the signals that ask for the end.
func requests() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

// Signals returns the signals that Run handles.
func Signals() []os.Signal {
	return append(requests(), syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP)
}

// run is one call of Run. Its goroutine alone uses it.
type run struct {
	o       Options
	lease   Lease
	ends    ends
	renewed <-chan struct{} // of the lease, from before ends were read
	file    *deadlineFile
	group   *group
	command *command
	control *jobControl
	signals <-chan os.Signal
	dog     *watchdog
	watches *watching      // nil: none does
	again   <-chan started // receives the next one that does; nil: none is being started
	result  Result
	err     error

	leaseOver <-chan struct{}  // of the lease; nil once its end is handled
	over      <-chan struct{}  // of the context; nil once its end is handled
	killDue   <-chan time.Time // nil: nothing is to be killed later
	giveUp    <-chan time.Time // nil: KILL was not sent
	reapDue   <-chan time.Time // nil: no child has ended since the last reap
}

// Run runs a command under l and returns when all of it has ended, or cannot be ended. The error is a failure of ours;
// the command was then not started, or killed.
func Run(ctx context.Context, l Lease, o Options) (Result, error) {
	if code, err := Runnable(o.Args); err != nil {
		return Result{Code: code}, err
	}
	r := &run{o: o, lease: l, signals: o.Signals, leaseOver: l.Context().Done(), over: ctx.Done()}
	if r.signals == nil {
		own := make(chan os.Signal, 16)
		signal.Notify(own, slices.DeleteFunc(Signals(), signal.Ignored)...)
		defer signal.Stop(own)
		r.signals = own
	}
	if err := r.start(ctx); err != nil {
		r.finish(ctx)
		return r.result, err
	}
	r.control = newJobControl(r.command, l.Check, o.Say)
	r.follow(ctx)
	r.control.end(r.giveUp != nil || r.killDue != nil)
	r.finish(ctx)
	return r.result, r.err
}

// start starts the command, and everything that must stand before.
func (r *run) start(ctx context.Context) (err error) {
	r.renewed, r.ends = r.lease.Renewed(), endsOf(r.lease, r.o.Grace)
	r.file = newDeadlineFile(ctx, r.o.Folder, r.ends.trust, r.o.Say)
	if r.group, err = newGroup(); err != nil {
		return fmt.Errorf("making a process group: %w", err)
	}
	if r.dog, err = newWatchdog(r.group, r.file.path, r.o.KeepLinks); err != nil {
		return err
	}
	if r.watches, err = r.dog.start(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.lease.Check(); err != nil {
		r.result.Lost = err
		return err
	}
	r.prolong() // the first window may have passed meanwhile
	r.dog.set(r.ends.kill)
	r.command, r.result.Code, err = startCommand(ctx, r.o, r.group, environment(r.o, r.file.path))
	return err
}

// follow returns when the command has ended, or cannot be ended.
func (r *run) follow(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		r.prolong()
		select {
		case s, ok := <-r.command.changes:
			if r.changed(s, ok) {
				return
			}
		case s := <-r.signals:
			r.received(s)
		case <-r.renewed:
		case <-r.watchdogDied():
			r.replaceWatchdog(ctx)
		case next := <-r.again:
			if r.again, r.watches = nil, next.watching; next.err != nil {
				r.err = next.err
				r.kill()
			}
		case <-ended:
			if r.reapDue == nil {
				r.reapDue = time.After(reapPause)
			}
		case <-r.reapDue:
			if r.reapDue = nil; r.group.reap() {
				r.reapDue = time.After(reapPause)
			}
		case <-r.control.due:
			r.control.again()
		case <-r.leaseOver:
			r.leaseEnded()
		case <-r.killDue:
			r.kill()
		case <-r.over:
			r.over, r.err = nil, context.Cause(ctx)
			r.kill()
		case <-r.giveUp:
			r.result.Left = true
			return
		}
	}
}

// prolong gives the ends of the lease to the watchdog and to the command, if it was renewed.
func (r *run) prolong() {
	renewed := r.lease.Renewed()
	if renewed == r.renewed {
		return
	}
	r.renewed = renewed
	ends := endsOf(r.lease, r.o.Grace)
	if r.lease.Context().Err() != nil {
		return // they mean nothing
	}
	r.ends = ends
	r.dog.set(ends.kill)
	r.file.publish(ends.trust)
}

// started is a new watchdog, or why there is none.
type started struct {
	*watching
	err error
}

// watchdogDied returns a channel that is closed when the watchdog has ended.
func (r *run) watchdogDied() <-chan struct{} {
	if r.watches == nil {
		return nil
	}
	return r.watches.died
}

// replaceWatchdog starts the next watchdog.
func (r *run) replaceWatchdog(ctx context.Context) {
	again := make(chan started, 1)
	r.watches, r.again = nil, again
	spawn.Go(ctx, nil, func() { // received by follow or finish
		next := started{err: spawn.ErrPanic}
		defer func() { again <- next }()
		next.watching, next.err = r.dog.start(ctx)
	})
}

// changed handles a change of the command's state and reports whether it has ended.
func (r *run) changed(s syscall.WaitStatus, ok bool) bool {
	switch {
	case !ok: // its goroutine has failed
		r.result.Code, r.err = 1, errors.Join(r.err, spawn.ErrPanic)
		return true
	case s.Signaled():
		r.result.Code = 128 + int(s.Signal())
	case s.Exited():
		r.result.Code = s.ExitStatus()
	case s.Stopped():
		r.control.commandStopped(s.StopSignal())
		return false
	default:
		r.control.commandContinued()
		return false
	}
	if s.Signaled() && s.Signal() == syscall.SIGKILL && r.result.Lost == nil {
		if r.result.Lost = r.lease.Check(); r.result.Lost == nil && bootTime() >= r.ends.kill {
			r.result.Lost = coord.ErrExpired // the watchdog has killed it; see endsOf for how much too early
		}
	}
	return true
}

// received handles a signal to us: it is passed on, but for those with which shells stop and continue jobs.
func (r *run) received(s os.Signal) {
	sig, ok := s.(syscall.Signal)
	switch {
	case !ok:
	case sig == syscall.SIGTSTP:
		r.control.suspend()
	case sig == syscall.SIGCONT:
		r.control.resume()
	default:
		r.command.signal(sig)
		if !slices.Contains(requests(), s) {
			return
		}
		if r.result.Stopped == 0 {
			r.result.Stopped = sig
		}
		if r.lease.Check() == nil {
			r.command.signal(syscall.SIGCONT) // a stopped one would never receive it; that it stopped may not be known yet
		}
	}
}

// leaseEnded ends the command because the lease is over: at once, or with the grace if only our trust has ended.
func (r *run) leaseEnded() {
	r.leaseOver = nil
	r.result.Lost = context.Cause(r.lease.Context())
	left := r.ends.kill - bootTime()
	if r.o.Grace <= 0 || left <= 0 || !errors.Is(r.result.Lost, coord.ErrExpired) {
		r.kill()
		return
	}
	r.command.signal(syscall.SIGTERM)
	r.command.signal(syscall.SIGCONT)
	r.killDue = time.After(left)
}

// kill ends all processes of the command.
func (r *run) kill() {
	r.group.sweep()
	if r.giveUp == nil {
		r.giveUp = time.After(unkillable)
	}
}

// finish ends what the command has left behind, and removes what Run has made.
func (r *run) finish(ctx context.Context) {
	if r.group != nil && !r.group.end(ctx) {
		r.result.Left = true
	}
	if r.again != nil {
		r.watches = (<-r.again).watching
	}
	if r.file != nil {
		r.file.remove()
	}
	if r.result.Left {
		return // the watchdog tries on when this process has ended
	}
	if r.watches != nil {
		r.watches.end()
	}
	if r.dog != nil {
		r.dog.close()
	}
}
