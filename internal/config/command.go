package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"coordtop/internal/format"
	"coordtop/internal/spawn"
)

const (
	commandLimit = 10 * time.Second // for a command to print its secret
	commandGrace = time.Second      // for what it has started to let go of its output, once all was killed
)

var errTooMuch = errors.New("too much")

// runSecret runs a command in a session of its own, without a terminal: while a screen is up
// nothing else may write to it, and a command that asks questions would hang. When the
// command ends, its whole process group is killed.
func runSecret(ctx context.Context, command []string) (string, error) {
	path, err := program(command)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	// One that is given up ends with a process that we may not kill.
	out, err := spawn.Within(ctx, 2*commandGrace, func() ([]byte, error) { return output(ctx, path, command) })
	name := format.Clean(filepath.Base(path), 100)
	switch exit := new(exec.ExitError); {
	case errors.Is(err, errTooMuch):
		return "", fmt.Errorf("the command %s printed more than %d kB: it must print one line", name, maxSecret>>10)
	case ctx.Err() != nil && err != nil:
		return "", fmt.Errorf("running %s: %w", name, errors.Join(errors.New("no answer in time"), ctx.Err()))
	case errors.As(err, &exit):
		return "", fmt.Errorf("running %s: %w: run it by hand to see why", name, exit)
	case err != nil:
		return "", fmt.Errorf("%s cannot be run: %w", name, withoutPath(err))
	}
	return trimSecret(out, "the command "+name)
}

// output runs a command and returns what it printed, up to maxSecret bytes.
func output(ctx context.Context, path string, command []string) ([]byte, error) {
	runtime.LockOSThread() // the command ends with this thread, see newSession
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &bounded{full: func() { stop(errTooMuch) }}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Stdout, cmd.SysProcAttr, cmd.WaitDelay = command, out, newSession(), commandGrace
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err := cmd.Wait()
	_ = killGroup(cmd.Process) // what it has left behind; there may be nothing
	switch {
	case errors.Is(context.Cause(ctx), errTooMuch):
		return nil, errTooMuch
	case err != nil && !errors.Is(err, exec.ErrWaitDelay): // others may keep its output open
		return nil, err
	}
	return out.text, nil
}

// bounded keeps what is written, and calls full when that is too much for a secret.
type bounded struct {
	text []byte
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxSecret {
		b.full()
		return 0, errTooMuch
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// killGroup ends a process and those of its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

// withoutPath is an error of starting a program without the path in it.
func withoutPath(err error) error {
	if bad, ok := errors.AsType[*os.PathError](err); ok {
		return bad.Err
	}
	return err
}
