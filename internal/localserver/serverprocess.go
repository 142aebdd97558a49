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
	// ErrMissing reports that a server's program is not installed; the text of the wrapping error says how to install
	// it.
	ErrMissing = errors.New("not installed")

	errStopped = errors.New("the server was stopped")
	errExited  = errors.New("the server exited")
	errShort   = errors.New("a short test run starts no servers: the test must call localserver.NeedsServer first")
)

// stopGrace is the time that a server has to terminate before it is killed.
const stopGrace = 2 * time.Second

// process is one run of a server under a guard. A goroutine waits for the process, notifies the guard and then closes
// done.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// startProcess launches program. The goroutine that it starts ends with the process; stop and readers of done wait for
// it. ctx only supplies the handler of panics.
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
		// The log, or the caller that ended it, shows how it ended.
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

// signal sends s. It returns an error if the process has ended.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("sending %v to process %d: %w", s, p.pid(), err)
	}
	return nil
}

// stop sends one signal after the other, and finally SIGKILL, until the process has ended. After each it waits
// stopGrace, but after the first at most until ctx ends. It thaws a frozen process so that it can obey.
func (p *process) stop(ctx context.Context, signals ...syscall.Signal) {
	for _, s := range signals {
		// An error means that it has just ended by itself.
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

// kill sends SIGKILL and returns when the process has ended.
func (p *process) kill() {
	// An error means that the process has just ended by itself.
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// PeakMemory returns the peak memory of a running process in bytes since its program began, for tests. Unlike getrusage
// it does not count the process that it was forked from. It skips the test if the system does not have the number.
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
