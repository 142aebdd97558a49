package config

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/lazy"
)

// maxSecret bounds a secret file and the output of a command.
const maxSecret = 64 << 10

// Lookup returns an environment variable, like os.LookupEnv.
type Lookup func(name string) (value string, ok bool)

// Secret is the place of a secret. The zero Secret stands for no secret. At most one of Env, File and Command is set.
type Secret struct {
	Env     string   // name of an environment variable
	File    string   // path of a file that only its owner and group may read
	Command []string // program and arguments, run without a shell; its output is the secret
	Of      string   // what it is, as its key begins: "token" or "url"; "": a password
}

// IsZero reports whether no secret is configured.
func (s Secret) IsZero() bool { return s.Env == "" && s.File == "" && len(s.Command) == 0 }

// String returns the key of the config that names the place. It does not repeat the value of the key, because people
// may have written the password itself there.
func (s Secret) String() string {
	what := cmp.Or(s.Of, "password")
	switch {
	case s.Env != "":
		return what + "_env"
	case s.File != "":
		return what + "_file"
	case len(s.Command) > 0:
		return what + "_command"
	}
	return "none"
}

// Resolve returns the secret, without the line break at its end. Every call reads the file or runs the command again.
// When ctx ends, or after ten seconds, the command and its child processes are killed. The errors never repeat a file's
// text or a command's output; from the config they repeat only names of things that exist.
func (s Secret) Resolve(ctx context.Context, env Lookup) (string, error) {
	text, err := "", error(nil)
	switch {
	case s.Env != "":
		text, err = s.variable(env)
	case s.File != "":
		text, err = readSecret(ctx, s.File)
	case len(s.Command) > 0:
		text, err = runSecret(ctx, s.Command)
	default:
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading a secret: %w", s.blame(err))
	}
	return text, nil
}

// blame adds the key of the config to an error that does not name the variable.
func (s Secret) blame(err error) error {
	if s.Env != "" && variableName().MatchString(s.Env) {
		return err
	}
	return fmt.Errorf("%v: %w", s, err)
}

// Check returns an error if Resolve would not find a secret. For a command it only looks for the program, because
// running it may require a touch on a security key. It does not read a pipe, which gives its secret only once.
func (s Secret) Check(ctx context.Context, env Lookup) error {
	if s.File != "" && files.IsPipe(ctx, s.File) {
		return nil
	}
	if len(s.Command) == 0 {
		_, err := s.Resolve(ctx, env)
		return err
	}
	if _, err := program(s.Command); err != nil {
		return fmt.Errorf("finding a command for a secret: %w", s.blame(err))
	}
	return nil
}

// variableName matches texts that can only be names of variables: words in capitals. Other names are possible, but are
// repeated only if such a variable exists.
var variableName = lazy.Regexp(`^[A-Z]{1,12}(_([A-Z]{1,12}|[0-9]{1,3}))*$`)

func (s Secret) variable(env Lookup) (string, error) {
	v, ok := env(s.Env)
	switch named := variableName().MatchString(s.Env); {
	case v != "":
		return v, nil
	case ok && named:
		return "", fmt.Errorf("$%s is empty: set it, or name another", s.Env)
	case named:
		return "", fmt.Errorf("$%s is not set: export it, or name another", s.Env)
	case ok:
		return "", errors.New("the variable is empty: set it, or name another")
	}
	return "", errors.New("no such variable is set: write the name of one, not the secret itself, and export it")
}

// readSecret reads a secret from a file. It refuses a file that any account of the machine may read or change.
func readSecret(ctx context.Context, path string) (string, error) {
	data, mode, err := files.Read(ctx, path, maxSecret)
	switch shown := format.Clean(path, 200); {
	case errors.Is(err, files.ErrLong):
		return "", fmt.Errorf("%w: it holds more than a secret", err)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w; write the path of one, not the secret itself", err)
	case err != nil:
		return "", err
	case mode.Perm()&0o007 != 0:
		return "", fmt.Errorf("everybody may use %s (mode %04o): run chmod o= on it", shown, mode.Perm())
	default:
		return trimSecret(bytes.TrimPrefix(data, []byte(utf8Mark)), "file "+shown)
	}
}

// program finds the program of a command. Its error does not repeat the command.
func program(command []string) (string, error) {
	path, err := exec.LookPath(command[0])
	switch {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrPermission):
		return "", errors.New("the file that it names cannot be run: see its mode")
	case strings.Contains(command[0], "/"):
		return "", errors.New("there is no such file: it must name a program, then its arguments, as [pass, show, redis]")
	}
	return "", errors.New("there is no such program in $PATH: it must name a program, then its arguments, as [pass, show, redis]")
}

func trimSecret(data []byte, from string) (string, error) {
	text := string(bytes.TrimSuffix(bytes.TrimSuffix(data, []byte("\n")), []byte("\r")))
	switch {
	case text == "":
		return "", fmt.Errorf("%s gave nothing", from)
	case strings.ContainsAny(text, "\n\r"):
		return "", fmt.Errorf("%s gave more than one line", from)
	case strings.Contains(text, "\x00"):
		return "", fmt.Errorf("%s gave a zero byte: it must be one line of text, in UTF-8", from)
	}
	return text, nil
}

// whereSecrets lists the keys that name the place of a source's secret.
func whereSecrets(b *Backend) string {
	if b.has(Tokens) {
		return "password_env, password_file, password_command, token_env or token_file"
	}
	return "password_env, password_file or password_command"
}

// token reads the place of an access token, and reports a problem if the source has other credentials.
func (v *validator) token(f *fileSource, t Target, b *Backend, password Secret, path string) Secret {
	s := Secret{Env: f.TokenEnv, File: v.file(f.TokenFile), Of: "token"}
	where := v.oneOf(s, path, "token_env", "token_file")
	if where != "" && b != nil && !b.has(Tokens) {
		v.wrong(where, "%s; write %s", v.backends.onlyWith(Tokens), strings.Replace(where[len(path)+1:], "token", "password", 1))
	}
	switch user := f.User != "" || t.User != ""; {
	case where == "":
		if b.has(Tokens) && !user && !password.IsZero() {
			v.wrong(path+".user", "missing: whose password is it")
		}
		return Secret{}
	case s.IsZero():
	case user:
		v.wrong(where, "there is a user too: a user has a password, a token is for itself; keep one")
	case !password.IsZero():
		v.wrong(where, "there is a password too: keep one")
	}
	return s
}
