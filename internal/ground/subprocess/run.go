package subprocess

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"coordtop/internal/ground/spawn"
)

// ErrLong reports that a program printed too much. It was killed then.
var ErrLong = errors.New("it printed too much")

// grace is for child processes to close the output, once all are killed.
const grace = time.Second

// Program describes a child process: its command line, its input and the limit of its output.
type Program struct {
	Args  []string // the first is the path of the program, or its name in $PATH
	Stdin []byte
	Most  int // bytes of output that are wanted; 0: none, and the output is discarded

	Environ []string // nil: that of this process
	Output  *os.File // gets all that the program prints, if Most is 0; nil: nobody does
}

// Mark returns a variable that the environment of each program has which this process starts, and of its child
// processes.
func Mark() string { return "COORDTOP_STARTED_BY=" + strconv.Itoa(os.Getpid()) }

// Run runs a program until it or ctx ends, and returns what it printed to standard output. The error is
// ErrLong, that of ctx, an *exec.ExitError, or one of starting it.
func Run(ctx context.Context, p Program) ([]byte, error) {
	// A program that is given up is one that may not be killed.
	return spawn.Within(ctx, 2*grace, func() ([]byte, error) { return run(ctx, &p) })
}

func run(ctx context.Context, p *Program) ([]byte, error) {
	runtime.LockOSThread() // the program ends with this thread, see NewSession
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	cmd.SysProcAttr, cmd.WaitDelay = NewSession(), grace
	environ := p.Environ
	if environ == nil {
		environ = os.Environ()
	}
	cmd.Env = append(slices.Clone(environ), Mark())
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	if p.Output != nil {
		cmd.Stdout, cmd.Stderr = p.Output, p.Output
	}
	if len(p.Stdin) > 0 {
		cmd.Stdin = bytes.NewReader(p.Stdin)
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	if p.Most > 0 {
		cmd.Stdout = to
	}
	err = cmd.Start()
	closed := to.Close()
	if err = errors.Join(err, closed); err != nil {
		return nil, err
	}
	read := make(chan []byte, 1)
	spawn.Go(ctx, nil, func() { // received below
		out, _ := io.ReadAll(io.LimitReader(from, int64(p.Most)+1)) // its only error is the deadline
		if len(out) > p.Most {
			_ = killGroup(cmd.Process) // its only error is that it has ended
		}
		read <- out
	})
	err = cmd.Wait()
	_ = killGroup(cmd.Process) // its child processes, if any are left
	// Processes that are not of its group any more may keep the input and the output open.
	if err := from.SetReadDeadline(time.Now().Add(grace)); err != nil {
		return nil, err
	}
	switch out := <-read; {
	case len(out) > p.Most:
		return nil, ErrLong
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, err
	default:
		return out, nil
	}
}

// killGroup ends a process and those of its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
