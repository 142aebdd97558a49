package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"coordtop/internal/ground/spawn"
)

var (
	// ErrMissing is wrapped when a server's program is not installed; the text says
	// how to install it.
	ErrMissing = errors.New("not installed")

	errStopped = errors.New("the server was stopped")
	errExited  = errors.New("the server exited")
	errShort   = errors.New("a short test run starts no servers: the test must call localserver.NeedsServer first")
)

// stopGrace is how long a server that was asked to terminate may take before it is killed.
const stopGrace = 2 * time.Second

// process is one run of a server under a guard. A goroutine waits for it; done is closed
// when the process was waited for and the guard knows.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// startProcess launches program. The goroutine it starts ends with the process; stop waits
// for it, and so does a reader of done. ctx only says who is told of a panic.
func startProcess(ctx context.Context, g *guard, log *os.File, program string, args ...string) (*process, error) {
	cmd, err := g.launch(log, program, args...)
	if err != nil {
		return nil, err
	}
	return watchProcess(ctx, cmd, g.gone), nil
}

// watchProcess starts the goroutine that waits for a process and then calls gone.
func watchProcess(ctx context.Context, cmd *exec.Cmd, gone func()) *process {
	p := &process{cmd: cmd, done: make(chan struct{})}
	spawn.Go(ctx, nil, func() {
		defer close(p.done)
		// How it ended is told by the log and by those who made it end.
		_ = cmd.Wait()
		gone()
	})
	return p
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends s. A process that is gone is an error.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("sending %v to process %d: %w", s, p.pid(), err)
	}
	return nil
}

// stop sends one signal after the other, and SIGKILL in the end, until the process is gone. It
// waits stopGrace after each, after the first only until ctx ends. A frozen process is thawed so
// that it can obey.
func (p *process) stop(ctx context.Context, signals ...syscall.Signal) {
	for _, s := range signals {
		// Errors mean that it has just gone by itself, which is what we wait for.
		_ = p.signal(s)
		_ = p.signal(syscall.SIGCONT)
		select {
		case <-p.done:
			return
		case <-time.After(stopGrace):
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx)
		}
	}
	p.kill()
}

// kill sends SIGKILL and returns when the process is gone.
func (p *process) kill() {
	// An error means that it has just gone by itself.
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// PeakMemory returns how many bytes of memory a running process had at most since its program
// began, for tests. It does not count what the process was forked from, as getrusage does. The test is
// skipped where the system does not tell.
func PeakMemory(t TB, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("this system does not tell what memory a process had: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	t.Fatalf("the kernel does not tell what memory the process had: has it ended?")
	return 0
}
