package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// maxSecret bounds what is read of a secret file or of a command's output.
const maxSecret = 64 << 10

// Lookup finds an environment variable, as os.LookupEnv does.
type Lookup func(name string) (value string, ok bool)

// Secret says where a secret is. The zero Secret is none. At most one field is set.
type Secret struct {
	Env     string   // name of an environment variable
	File    string   // path of a file that only its owner and group may read
	Command []string // program and arguments, run without a shell; its output is the secret
}

// IsZero says that there is no secret to find.
func (s Secret) IsZero() bool { return s.Env == "" && s.File == "" && len(s.Command) == 0 }

// String says where the secret is, never what it is.
func (s Secret) String() string {
	switch {
	case s.Env != "":
		return "$" + s.Env
	case s.File != "":
		return "file " + s.File
	case len(s.Command) > 0:
		return "command " + s.Command[0]
	}
	return "none"
}

// Resolve finds the secret; one line break at its end is taken off. It reads the file
// or runs the command anew at every call; the command is killed when ctx ends, or after
// ten seconds. The errors never hold what was read or printed.
func (s Secret) Resolve(ctx context.Context, env Lookup) (string, error) {
	switch {
	case s.Env != "":
		v, ok := env(s.Env)
		if !ok || v == "" {
			return "", fmt.Errorf("reading a secret: $%s is not set: export it, or name another", s.Env)
		}
		return v, nil
	case s.File != "":
		return readSecret(s.File)
	case len(s.Command) > 0:
		return runSecret(ctx, s.Command)
	}
	return "", nil
}

// Check finds out whether there is a secret as Resolve does, but runs no command: that may
// ask for a finger on a key. It only looks whether there is such a program.
func (s Secret) Check(ctx context.Context, env Lookup) error {
	if len(s.Command) == 0 {
		_, err := s.Resolve(ctx, env)
		return err
	}
	if _, err := exec.LookPath(s.Command[0]); err != nil {
		return fmt.Errorf("finding a command for a secret: %w", err)
	}
	return nil
}

// readSecret refuses a file that any account of the machine may read or change.
func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading a secret: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("reading a secret: %w", err)
	}
	if info.IsDir() {
		return "", fmt.Errorf("reading a secret: %s is a folder: name a file with the secret in it", path)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return "", fmt.Errorf("reading a secret: everybody may use %s (mode %04o): run chmod o= on it", path, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecret))
	if err != nil {
		return "", fmt.Errorf("reading a secret: %w", err)
	}
	return trimSecret(data, "file "+path)
}

// runSecret gives the command no terminal: while a screen is up nothing else may write
// to it, and a command that asks questions would hang.
func runSecret(ctx context.Context, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("running %s for a secret: %w", command[0], errors.Join(errors.New("no answer in time"), ctx.Err()))
	}
	if err != nil {
		return "", fmt.Errorf("running %s for a secret: %w: run it by hand to see why", command[0], err)
	}
	return trimSecret(out, "command "+command[0])
}

func trimSecret(data []byte, from string) (string, error) {
	text := string(bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r")))
	if text == "" {
		return "", fmt.Errorf("reading a secret: %s gave nothing", from)
	}
	if strings.ContainsAny(text, "\n\r") {
		return "", fmt.Errorf("reading a secret: %s gave more than one line", from)
	}
	return text, nil
}
