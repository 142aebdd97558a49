package subprocess_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"coordtop/internal/ground/subprocess"
)

// shell is a script of sh.
func shell(script string) subprocess.Program {
	return subprocess.Program{Args: []string{"/bin/sh", "-c", script}}
}

func TestAProgramGetsItsInputAndItsOutputIsReturned(t *testing.T) {
	t.Parallel()
	p := shell("cat; echo end")
	p.Stdin, p.Most = bytes.Repeat([]byte("x"), 100_000), 1<<20
	out, err := subprocess.Run(t.Context(), p)
	if err != nil || len(out) != 100_004 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestAProgramNeedNotReadItsInput(t *testing.T) {
	t.Parallel()
	p := shell("exit 0")
	p.Stdin = bytes.Repeat([]byte("x"), 1<<20)
	if _, err := subprocess.Run(t.Context(), p); err != nil {
		t.Error(err)
	}
}

func TestOutputThatNobodyWantsDoesNotStopAProgram(t *testing.T) {
	t.Parallel()
	if out, err := subprocess.Run(t.Context(), shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2")); err != nil || len(out) > 0 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestAProgramThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	exit := new(exec.ExitError)
	if _, err := subprocess.Run(t.Context(), shell("exit 3")); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Error(err)
	}
}

func TestAProgramThatHangsIsKilledWithItsChildren(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "mark")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := subprocess.Run(ctx, shell("(sleep 2; touch "+mark+") & sleep 60")); err == nil {
		t.Error("no error")
	}
	if took := time.Since(began); took > 1800*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	<-time.After(2500*time.Millisecond - time.Since(began))
	if _, err := os.Stat(mark); err == nil {
		t.Error("a child process went on")
	}
}

func TestAProgramHasItsMarkInEveryEnvironment(t *testing.T) {
	t.Parallel()
	for _, environ := range [][]string{nil, {"PATH=" + os.Getenv("PATH")}} {
		p := shell("env")
		p.Environ, p.Most = environ, 1<<20
		if out, err := subprocess.Run(t.Context(), p); err != nil || !bytes.Contains(out, []byte(subprocess.Mark()+"\n")) {
			t.Errorf("%s, %v", out, err)
		}
	}
}
