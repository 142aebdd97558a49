package subprocess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"coordtop/internal/ground/spawn"
)

// ErrLong reports that a program printed too much. It was killed then.
var ErrLong = errors.New("it printed too much")

// grace is for child processes to close the output, once all are killed.
const grace = time.Second

// Program is what to run.
type Program struct {
	Path  string
	Args  []string // the first is the name of the program
	Stdin []byte
	Most  int // bytes of output that are wanted; 0: none, and the output is discarded
}

// Run runs a program until it or ctx ends, and returns what it printed to standard output. The error is
// ErrLong, that of ctx, an *exec.ExitError, or one of starting it.
func Run(ctx context.Context, p Program) ([]byte, error) {
	// A program that is given up is one that may not be killed.
	return spawn.Within(ctx, 2*grace, func() ([]byte, error) { return run(ctx, &p) })
}

func run(ctx context.Context, p *Program) (out []byte, err error) {
	runtime.LockOSThread() // the program ends with this thread, see newSession
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.Args, cmd.SysProcAttr, cmd.WaitDelay = p.Args, newSession(), grace
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	if len(p.Stdin) > 0 {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	if p.Most == 0 {
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return nil, wait(cmd)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	cmd.Stdout = to
	err = cmd.Start()
	closed := to.Close()
	if err = errors.Join(err, closed); err != nil {
		return nil, err
	}
	read := make(chan error, 1)
	spawn.Go(ctx, nil, func() { // received below
		var err error
		defer func() { read <- err }()
		if out, err = io.ReadAll(io.LimitReader(from, int64(p.Most)+1)); len(out) > p.Most {
			err = ErrLong
			_ = killGroup(cmd.Process) // its only error is that it has ended
		}
	})
	ended := wait(cmd)
	if err := from.SetReadDeadline(time.Now().Add(grace)); err != nil {
		return nil, err
	}
	switch err := <-read; {
	case errors.Is(err, ErrLong):
		return nil, err
	case ended != nil:
		return nil, ended
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded): // other processes may keep the pipe open
		return nil, err
	}
	return out, nil
}

// wait waits for a program, and ends its child processes. The program need not have read its input.
func wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	_ = killGroup(cmd.Process)             // its child processes, if any are left
	if errors.Is(err, exec.ErrWaitDelay) { // one of them, not of its group any more, has its input
		return nil
	}
	return err
}

// killGroup ends a process and those of its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
