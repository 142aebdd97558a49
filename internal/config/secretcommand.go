package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
)

const (
	commandLimit = 10 * time.Second // for a command to print its secret
	commandGrace = time.Second      // for killed child processes to close its output
)

var errTooMuch = errors.New("too much")

// runSecret runs a command in its own session, without a terminal, because nothing else may write to the terminal while
// the board is up, and because a command that asks a question would hang. When the command ends, its whole process
// group is killed.
func runSecret(ctx context.Context, command []string) (string, error) {
	path, err := program(command)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	// If Within gives output up, output ends with a process that we may not kill.
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
		if bad, ok := errors.AsType[*os.PathError](err); ok {
			err = bad.Err // without the path
		}
		return "", fmt.Errorf("%s cannot be run: %w", name, err)
	}
	return trimSecret(out, "the command "+name)
}

// output runs a command and returns what it printed, up to maxSecret bytes.
func output(ctx context.Context, path string, command []string) ([]byte, error) {
	runtime.LockOSThread() // the command ends with this thread, see newSession
	defer runtime.UnlockOSThread()
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Stdout, cmd.SysProcAttr = command, to, newSession()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	err = cmd.Start()
	closed := to.Close()
	if err = errors.Join(err, closed); err != nil {
		return nil, err
	}
	var out []byte
	read := make(chan error, 1)
	spawn.Go(ctx, nil, func() { // received below
		var err error
		defer func() { read <- err }()
		if out, err = io.ReadAll(io.LimitReader(from, maxSecret+1)); len(out) > maxSecret {
			err = errTooMuch
			_ = killGroup(cmd.Process) // an error means only that it has ended
		}
	})
	ended := cmd.Wait()
	_ = killGroup(cmd.Process) // child processes that are left
	if err := from.SetReadDeadline(time.Now().Add(commandGrace)); err != nil {
		return nil, err
	}
	switch err := <-read; {
	case errors.Is(err, errTooMuch):
		return nil, err
	case ended != nil:
		return nil, ended
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded): // other processes may keep the pipe open
		return nil, err
	}
	return out, nil
}

// killGroup ends a process and those of its group.
func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
