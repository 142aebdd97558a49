//go:build unix

package coord_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

const (
	stoppedChild = "COORD_TEST_STOPPED_CHILD" // set in the child that is to be stopped
	stoppedTTL   = time.Second
)

// A process that was stopped for longer than its window, and is continued, must not
// trust its lease: the first Check says so, although no timer of the process has run.
func TestFirstCheckAfterBeingStoppedSaysExpired(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChildThatIsStopped$", "-test.v")
	cmd.Env = append(os.Environ(), stoppedChild+"=1", "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // also when it is stopped; it may be over
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if got := line(lines, "owned"); got != "owned" {
		t.Fatalf("the child said %q, want that it owns the lease", got)
	}
	stop(t, cmd.Process)
	<-time.After(2 * stoppedTTL) // the only way for a window to pass in a stopped process
	noError(t, cmd.Process.Signal(syscall.SIGCONT))
	if got := line(lines, "check"); got != "check after a gap: expired" {
		t.Errorf("the first Check after the stop: %q, want that the lease is expired", got)
	}
}

// stop returns when the process stands still.
func stop(t *testing.T, p *os.Process) {
	t.Helper()
	noError(t, p.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			t.Fatalf("waiting for the child to stop: %v", err)
		case status.Stopped():
			return
		default:
			t.Fatalf("the child ended instead of stopping: %v", status)
		}
	}
}

// line returns the next line of the child's that begins with prefix.
func line(lines *bufio.Scanner, prefix string) string {
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), prefix) {
			return lines.Text()
		}
	}
	return "nothing"
}

// TestChildThatIsStopped is the child. It checks without a pause, on one processor, so
// that nothing else of the process runs between its being continued and its Check.
func TestChildThatIsStopped(t *testing.T) {
	if os.Getenv(stoppedChild) == "" {
		t.Skip("only for the process that TestFirstCheckAfterBeingStoppedSaysExpired starts")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	m := coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{})
	s, err := coord.Open(ctx, m.NewDriver(nil), coord.SessionOptions{TTL: stoppedTTL})
	noError(t, err)
	defer s.Abandon()
	l, err := s.Mutex("job", coord.MutexOptions{}).Lock(ctx)
	noError(t, err)
	fmt.Println("owned")
	for last := time.Now(); ctx.Err() == nil; {
		now := time.Now()
		err := l.Check()
		if gap := now.Sub(last); gap > stoppedTTL {
			fmt.Printf("check after a gap: %s\n", verdict(err))
			return
		}
		if err != nil { // stopped between the two lines above, or starved of renewals
			fmt.Printf("check after a gap: %s\n", verdict(err))
			return
		}
		last = now
	}
}

func verdict(err error) string {
	switch {
	case err == nil:
		return "owned"
	case errors.Is(err, coord.ErrExpired):
		return "expired"
	case errors.Is(err, coord.ErrLost):
		return "lost"
	}
	return "something else: " + err.Error()
}
