package config_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "coordtop/internal/config"
)

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecretsAreFoundWhereTheyAre(t *testing.T) {
	t.Parallel()
	vars := env(map[string]string{"PW": "from env"})
	for _, c := range []struct {
		secret Secret
		want   string
	}{
		{Secret{}, ""},
		{Secret{Env: "PW"}, "from env"},
		{Secret{File: write(t, "from file\n", 0o640)}, "from file"},
		{Secret{File: write(t, " spaces stay \r\n", 0o400)}, " spaces stay "},
		{Secret{Command: []string{"printf", "%s\n", "from $HOME"}}, "from $HOME"},
	} {
		got, err := c.secret.Resolve(t.Context(), vars)
		if err != nil || got != c.want {
			t.Errorf("%v: got %q, %v", c.secret, got, err)
		}
	}
}

func TestSecretsThatCannotBeUsedAreRefusedWithoutShowingThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		secret Secret
		want   string
	}{
		{Secret{Env: "NONE"}, "$NONE is not set"},
		{Secret{File: "/does/not/exist"}, "no such file"},
		{Secret{File: write(t, "hunter2", 0o644)}, "everybody may use"},
		{Secret{File: write(t, "hunter2", 0o602)}, "everybody may use"},
		{Secret{File: t.TempDir()}, "is a folder"},
		{Secret{File: write(t, "", 0o600)}, "gave nothing"},
		{Secret{File: write(t, "hunter2\nhunter2\n", 0o600)}, "more than one line"},
		{Secret{Command: []string{"sh", "-c", "echo hunter2; echo hunter2 >&2; exit 3"}}, "exit status 3"},
		{Secret{Command: []string{"true"}}, "gave nothing"},
		{Secret{Command: []string{"/does/not/exist"}}, "no such file"},
	} {
		got, err := c.secret.Resolve(t.Context(), noEnv)
		if err == nil || got != "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %q, %v, want %s", c.secret, got, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: the error shows the secret: %v", c.secret, err)
		}
	}
}

func TestSecretsAreCheckedWithoutRunningACommand(t *testing.T) {
	t.Parallel()
	ran := filepath.Join(t.TempDir(), "ran")
	if err := (Secret{Command: []string{"touch", ran}}).Check(t.Context(), noEnv); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command was run")
	}
	for _, s := range []Secret{{Command: []string{"/does/not/exist"}}, {Env: "NONE"}, {File: "/does/not/exist"}} {
		if s.Check(t.Context(), noEnv) == nil {
			t.Errorf("%v passes", s)
		}
	}
}

func TestAPipeIsCheckedWithoutTakingItsSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(path, []byte("from a pipe\n"), 0o600) }() // received below
	s := Secret{File: path}
	if err := s.Check(t.Context(), noEnv); err != nil {
		t.Error(err)
	}
	if got, err := s.Resolve(t.Context(), noEnv); got != "from a pipe" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

func TestASecretCommandEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Secret{Command: []string{"sleep", "60"}}.Resolve(ctx, noEnv)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestIdentityTemplatesAreChecked(t *testing.T) {
	t.Parallel()
	for template, ok := range map[string]bool{
		"{user}@{host}:{pid}": true, "ops": true, "{user": false, "{name}": false, "a b": false, "a|b": false,
		"é": false, strings.Repeat("x", 41): false, strings.Repeat("x", 40): true,
	} {
		if err := CheckIdentity(template); (err == nil) != ok {
			t.Errorf("%q: %v", template, err)
		}
	}
}
