package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/ground/subprocess"
)

// commandLimit is the time for a command to print its secret.
const commandLimit = 10 * time.Second

// runSecret returns the line that a command prints. When the command ends, its whole process group is killed.
func runSecret(ctx context.Context, command []string) (string, error) {
	path, err := program(command)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	out, err := subprocess.Run(ctx, subprocess.Program{Args: command, Most: maxSecret})
	name := format.Clean(filepath.Base(path), 100)
	switch exit := new(exec.ExitError); {
	case errors.Is(err, subprocess.ErrLong):
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
