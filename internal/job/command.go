package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
)

// The exit codes of shells for a command that cannot be started.
const (
	codeNotRunnable = 126
	codeNotFound    = 127
)

// Runnable returns an error and the exit code 126 or 127 if a command cannot be started.
func Runnable(args []string) (code int, err error) {
	if len(args) == 0 {
		return codeNotFound, errors.New("no command was given")
	}
	_, err = exec.LookPath(args[0])
	return startCode(err), wrapStart(args[0], err)
}

// startCode returns the exit code for an error of starting a command, 0 for none.
func startCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return codeNotFound
	}
	return codeNotRunnable
}

func wrapStart(name string, err error) error {
	var exits *exec.Error
	switch shown := format.Clean(name, 200); {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s cannot be run: a script needs a first line such as #!/bin/sh", shown)
	case errors.As(err, &exits):
		return fmt.Errorf("%s cannot be run: %w", shown, exits.Err)
	default:
		return fmt.Errorf("%s cannot be run: %w", shown, err)
	}
}

// command is the process that was started.
type command struct {
	group   *group
	started chan error // receives the error of start
	pid     int        // of the process; set before started receives
	// changes receives each stop, each continuation and the end of the process. It is closed after the end.
	changes chan syscall.WaitStatus
}

// startCommand starts the command in the group. A goroutine waits for it, until it ends.
func startCommand(ctx context.Context, o Options, g *group, env []string) (*command, int, error) {
	cmd := exec.Command(o.Args[0], o.Args[1:]...)
	cmd.Env = env
	if o.Stdin != nil { // a nil *os.File is no nil io.Reader
		cmd.Stdin = o.Stdin
	}
	if o.Stdout != nil {
		cmd.Stdout = o.Stdout
	}
	if o.Stderr != nil {
		cmd.Stderr = o.Stderr
	}
	cmd.SysProcAttr = g.join()
	c := &command{group: g, started: make(chan error, 1), changes: make(chan syscall.WaitStatus, 8)}
	spawn.Go(ctx, nil, func() { // it closes changes at its end
		defer close(c.changes)
		runtime.LockOSThread() // the kernel kills the command when this thread ends
		defer runtime.UnlockOSThread()
		if c.start(cmd) {
			c.wait()
		}
	})
	if err := <-c.started; err != nil {
		return nil, startCode(err), wrapStart(o.Args[0], err)
	}
	g.started(c.pid)
	return c, 0, nil
}

// start starts the process, sends the error and reports whether there was none. The process ignores none of the
// signals that we ignore for ourselves: what is ignored is inherited and what is handled is not, so that each of them
// has a handler meanwhile.
func (c *command) start(cmd *exec.Cmd) bool {
	err := error(spawn.ErrPanic) // if this function panics
	defer func() { c.started <- err }()
	ignored := []os.Signal{syscall.SIGPIPE, syscall.SIGTTOU}
	handled := make(chan os.Signal, len(ignored))
	signal.Notify(handled, ignored...)
	defer signal.Ignore(ignored...)
	if err = cmd.Start(); err == nil {
		c.pid = cmd.Process.Pid
		err = cmd.Process.Release() // wait needs only the pid
	}
	return err == nil
}

// wait publishes the changes of the process until it has ended.
func (c *command) wait() {
	for {
		var s syscall.WaitStatus
		switch _, err := syscall.Wait4(c.pid, &s, syscall.WUNTRACED|syscall.WCONTINUED, nil); {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return
		}
		c.changes <- s
		if s.Exited() || s.Signaled() {
			return
		}
	}
}

// signal sends s to the group of the command, and to the command itself if it has left that group.
func (c *command) signal(s syscall.Signal) {
	c.group.signal(s)
	if at, err := syscall.Getpgid(c.pid); err == nil && at != c.group.id {
		_ = syscall.Kill(c.pid, s) // its only error is that it has ended
	}
}

// The variables that a command receives.
const (
	nameVariable  = "COORDTOP_NAME"
	ownerVariable = "COORDTOP_OWNER"
	fenceVariable = "COORDTOP_FENCE"
	// FileVariable has the path of the deadline file. It differs from run to run, so that it also marks the processes
	// of a run, see markedBy.
	FileVariable = "COORDTOP_DEADLINE_FILE"
)

// environment returns the environment of the command.
func environment(o Options, deadlineFile string) []string {
	return append(Environ(o.Env, o.Name, o.Owner, o.Fence), FileVariable+"="+deadlineFile)
}

// Environ returns env with the variables about a lease, but for the deadline file. What a command around ours has put
// there is gone.
func Environ(env []string, name, owner string, fence uint64) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{nameVariable, ownerVariable, fenceVariable, FileVariable}, name)
	})
	env = append(env, nameVariable+"="+name, ownerVariable+"="+owner)
	if fence > 0 {
		env = append(env, fenceVariable+"="+strconv.FormatUint(fence, 10))
	}
	return env
}
