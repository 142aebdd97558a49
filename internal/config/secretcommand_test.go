package config_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	. "coordtop/internal/config"
)

// openEnd makes a named pipe. ended is closed when a writer had it open and every writer has
// ended.
func openEnd(t *testing.T) (path string, ended <-chan struct{}) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // received by the test
		defer close(done)
		f, err := os.Open(path) // waits for the writer
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := io.Copy(io.Discard, f); err != nil {
			t.Error(err)
		}
	}()
	return path, done
}

func await(t *testing.T, what string, ended <-chan struct{}) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
		t.Errorf("%s goes on", what)
	}
}

// TestACommandThatPrintsWithoutEndIsStopped runs alone: it measures what the process takes.
func TestACommandThatPrintsWithoutEndIsStopped(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, command := range [][]string{{"yes"}, {"cat", "/dev/zero"}, {"sh", "-c", "yes & wait"}} {
		got, err := Secret{Command: command}.Resolve(t.Context(), noEnv)
		if err == nil || got != "" || !strings.Contains(err.Error(), "printed more than 64 kB") {
			t.Errorf("%v: got %d bytes, %v", command, len(got), err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 50<<20 {
		t.Errorf("it took %d MB", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

func TestWhatACommandLeavesBehindEndsWithIt(t *testing.T) {
	t.Parallel()
	path, ended := openEnd(t)
	got, err := Secret{Command: []string{"sh", "-c", "exec 9>" + path + "; (sleep 1000; echo y) & exec 9>&-; echo x"}}.Resolve(t.Context(), noEnv)
	if got != "x" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	await(t, "what it has started", ended)
}

func TestWhatACommandLeavesBehindAddsNothingToTheSecret(t *testing.T) {
	t.Parallel()
	secret, err := Secret{Command: []string{"sh", "-c", "(sleep .3; echo noise) & echo pw"}}.Resolve(t.Context(), noEnv)
	if err != nil || secret != "pw" {
		t.Errorf("the secret is %q, %v, want pw", secret, err)
	}
}

func TestACommandEndsWithItsContextAndAllThatItHasStarted(t *testing.T) {
	t.Parallel()
	path, ended := openEnd(t)
	started, running := openEnd(t)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { // received below
		_, err := Secret{Command: []string{"sh", "-c", "exec 9>" + path + "; sleep 1000 & : >" + started + "; wait"}}.Resolve(ctx, noEnv)
		failed <- err
	}()
	<-running
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	await(t, "what it has started", ended)
}

func TestACommandHasNoTerminalAndAGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	got, err := Secret{Command: []string{"sh", "-c", `[ "$(ps -o sid= -p $$ | tr -d ' ')" = $$ ] && (: </dev/tty) 2>/dev/null || echo none`}}.Resolve(t.Context(), noEnv)
	if got != "none" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

const resolving = "COORDTOP_TEST_RESOLVING"

// TestACommandDoesNotOutliveUs ends a process of ours the hard way.
func TestACommandDoesNotOutliveUs(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(resolving); path != "" {
		_, err := Secret{Command: []string{"sh", "-c", "exec sleep 1000 >" + path}}.Resolve(t.Context(), noEnv)
		t.Error(err)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a process with its parent")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestACommandDoesNotOutliveUs$")
	cmd.Env = append(os.Environ(), resolving+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path) // waits for the command
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	ended := make(chan struct{})
	go func() { // received below
		defer close(ended)
		_, _ = io.Copy(io.Discard, f)
	}()
	await(t, "the command", ended)
}
