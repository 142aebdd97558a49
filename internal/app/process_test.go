package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/internal/localserver"
)

// child makes the test binary the program: see TestMain.
const child = "COORDTOP_TEST_CHILD"

// command is the program as a process of its own.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = []string{child + "=1", "HOME=" + t.TempDir(), "TERM=xterm-256color", "LANG=C.UTF-8", "GORACE=" + os.Getenv("GORACE")}
	t.Cleanup(func() {
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// ends waits for a process, but not for ever.
func ends(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	bound := time.AfterFunc(longEnough, func() { _ = cmd.Process.Kill() })
	defer bound.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func TestSignalsEndAWatchWithoutAWord(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		cmd := command(t, "watch", server.URL()+"?mutex=app:lock:x")
		out, errs := newStream(), newStream()
		cmd.Stdout, cmd.Stderr = out, errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out.await(t, func(s string) bool { return strings.Contains(s, "synced") })
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if code := ends(t, cmd); code != 0 || errs.String() != "" {
			t.Errorf("%v: exit code %d, %s", signal, code, errs)
		}
	}
}

func TestASignalThatIsIgnoredAtTheStartStaysSo(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	cmd := command(t, "-c", `trap "" HUP INT; exec "$0" watch "$1"`, "", server.URL()+"?mutex=app:lock:x")
	cmd.Args[3], cmd.Path = cmd.Path, "/bin/sh"
	out := newStream()
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.await(t, func(s string) bool { return strings.Contains(s, "synced") })
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer(t, server.Addr()).Set(t.Context(), "app:lock:x", "somebody", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	out.await(t, func(s string) bool { return strings.Contains(s, "acquired") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestASignalReachesTheJobOrTheProgramAndNeverBoth(t *testing.T) {
	t.Parallel()
	r := newSignalRouter()
	ctx, _, stop := r.endOnSignal(t.Context())
	t.Cleanup(func() { stop(); signal.Stop(r.received) })
	handed, back := r.handOver()
	r.received <- syscall.SIGTERM
	r.received <- syscall.SIGINT
	if s := <-handed; s != syscall.SIGTERM {
		t.Errorf("received %v", s)
	}
	eventually(t, "the job's second signal", func() bool { return len(handed) == 1 })
	if ctx.Err() != nil {
		t.Error("the program has received them too")
	}
	back()
	<-ctx.Done() // of the one that the job has not received
	if s, ok := errors.AsType[*signalled](context.Cause(ctx)); !ok || s.signal != syscall.SIGINT {
		t.Errorf("it ended with %v", context.Cause(ctx))
	}
}

func TestAClosedStandardOutputEndsAWatchQuietly(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	cmd := command(t, "watch", server.URL()+"?mutex=app:lock:x")
	errs := newStream()
	cmd.Stderr = errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read bytes.Buffer
	for !strings.Contains(read.String(), "synced") {
		if _, err := io.CopyN(&read, out, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	set(t, c, "app:lock:x", "host:1", time.Hour)
	if code := ends(t, cmd); code != 0 || errs.String() != "" {
		t.Errorf("exit code %d, %s", code, errs)
	}
}

// screen is a terminal that a board runs on.
type screen struct {
	*stream
	file *os.File
	read sync.WaitGroup
}

func onScreen(t *testing.T, cmd *exec.Cmd) *screen {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{stream: newStream(), file: f}
	s.read.Go(func() { _, _ = io.Copy(s.stream, f) }) // ends with the child: EIO
	t.Cleanup(func() {
		_ = f.Close()
		s.read.Wait()
	})
	return s
}

// restored reports whether the last bytes written restore the terminal.
func restored(out string) bool {
	return strings.LastIndex(out, "\x1b[?1049l") > strings.LastIndex(out, "\x1b[?1049h") &&
		strings.LastIndex(out, "\x1b[?25h") > strings.LastIndex(out, "\x1b[?25l")
}

func TestTheBoardGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-07:4411", time.Hour)
	for name, end := range map[string]func(*exec.Cmd, *screen) error{
		"q":       func(_ *exec.Cmd, s *screen) error { _, err := s.file.WriteString("q"); return err },
		"SIGTERM": func(cmd *exec.Cmd, _ *screen) error { return cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(cmd *exec.Cmd, _ *screen) error { return cmd.Process.Signal(syscall.SIGHUP) },
		"SIGINT":  func(cmd *exec.Cmd, _ *screen) error { return cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, server.URL()+"?election=app:leader:*")
			s := onScreen(t, cmd)
			s.await(t, func(out string) bool { return strings.Contains(out, "app:leader:billing") })
			if err := end(cmd, s); err != nil {
				t.Fatal(err)
			}
			code := ends(t, cmd)
			s.read.Wait()
			if code != 0 || !restored(s.String()) {
				t.Errorf("exit code %d, the end is %q", code, s.String()[max(0, len(s.String())-300):])
			}
		})
	}
}

func TestTheBoardStartsWithoutAServerAndSaysWhy(t *testing.T) {
	t.Parallel()
	cmd := command(t, "redis://"+localserver.RefusingForTest(t)+"/0")
	s := onScreen(t, cmd)
	s.await(t, func(out string) bool { return strings.Contains(out, "nothing listens") })
	if _, err := s.file.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
