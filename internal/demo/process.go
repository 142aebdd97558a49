package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"coordtop/internal/ground/backoff"
)

// CandidateCommand is the hidden command of the binary that runs one candidate. Its argument is Task.Argument.
const CandidateCommand = "demo-candidate"

// member is one process of the scenario, which is started again whenever it ends.
type member struct {
	contest contest
	name    string
	firstID int // first id in the identities of a process that leads
	url     string
	program string
	seed    uint64
	log     *slog.Logger

	mu    sync.Mutex
	who   string    // the identity of the process
	cmd   *exec.Cmd // nil while the process does not run
	in    io.Closer // standard input of the process; closing it stops the process
	owns  bool
	owner string    // owner id of the process at the server, while it owns
	rests time.Time // the process does not start before this
}

// restFor kills the process, if it runs, and delays its next start by d.
func (c *member) restFor(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rests = time.Now().Add(d)
	c.killLocked()
}

// rest returns the time for which the process must not be started.
func (c *member) rest() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(time.Until(c.rests), 0)
}

// run starts the process, waits for its end, pauses, and starts it again, until ctx ends. Then it stops the process,
// which resigns.
func (c *member) run(ctx context.Context, pause func() time.Duration) {
	for life := 0; ; life++ {
		if backoff.Sleep(ctx, c.rest()) != nil {
			return
		}
		if err := c.live(ctx, life); err != nil && ctx.Err() == nil {
			c.log.Warn("A demo candidate ended", "key", c.contest.Key, "error", err)
		}
		if backoff.Sleep(ctx, pause()) != nil {
			return
		}
	}
}

// live runs the process once. When ctx ends, it closes the input of the process, and kills the process after two
// seconds.
func (c *member) live(ctx context.Context, life int) error {
	who := c.identity(life)
	task := c.contest.Task
	task.Name, task.URL, task.Seed = who, c.url, c.seed+uint64(life)<<32
	cmd := exec.CommandContext(ctx, c.program, CandidateCommand, task.Argument())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ctrl+c at the terminal reaches only the parent
	cmd.Stderr = logWriter{c.log, c.contest.Key}
	in, err := cmd.StdinPipe() // if we die, the end of this pipe stops the child
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	cmd.WaitDelay = 2 * time.Second
	cmd.Cancel = func() error {
		c.closeInput(in)
		return nil
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return errors.Join(fmt.Errorf("making a pipe: %w", err), in.Close())
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a candidate: %w", err)
	}
	c.set(who, cmd, in)
	defer c.set("", nil, nil)
	c.follow(out)
	return cmd.Wait()
}

// follow reads the lines of the process until it closes its output.
func (c *member) follow(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		c.mu.Lock()
		c.owner, c.owns = strings.CutPrefix(lines.Text(), saysOwns+" ")
		c.mu.Unlock()
	}
}

// stopIfOwner stops the process if it owns according to its last line, and reports whether it did. A process resigns
// before it ends.
func (c *member) stopIfOwner() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil || !c.owns {
		return false
	}
	c.closeInput(c.in)
	return true
}

// closeInput closes the input of the process, which makes the process stop. It may be closed already.
func (c *member) closeInput(in io.Closer) {
	if err := in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		c.log.Warn("Closing a demo candidate's input failed", "error", err)
	}
}

func (c *member) set(who string, cmd *exec.Cmd, in io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.who, c.cmd, c.in, c.owns = who, cmd, in, false
}

// identity returns the name of the process in its nth run. If it leads, the name is its machine and an id that changes
// each time.
func (c *member) identity(life int) string {
	if !c.contest.Role.leads() {
		return c.name
	}
	return fmt.Sprintf("%s:%d", c.name, c.firstID+life%idsApart)
}

// logWriter writes the standard error of a candidate to the log.
type logWriter struct {
	log *slog.Logger
	key string
}

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Warn("A demo candidate complains", "key", w.key, "text", string(p))
	return len(p), nil
}

// ErrNoCandidate reports that Crash was called for an owner that is not a candidate of this demo.
var ErrNoCandidate = errors.New("no candidate of this demo, so its process is not ours to end")

// Crash kills the candidate with the owner's label or id. Like after a loss of power, the candidate does not resign. It
// starts again after some seconds. Crash kills only processes that this demo started, and does not wait for their end.
func (d *Demo) Crash(label, id string) error {
	who, _, _ := strings.Cut(label, " ") // data, or additions of the server, follow the blank
	d.mu.Lock()
	members := d.members
	d.mu.Unlock()
	for _, c := range members {
		if c.killIfNamed(who, id) {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", who, ErrNoCandidate)
}

// killIfNamed kills the process if it has the identity who or the owner id id. It reports whether it did.
func (c *member) killIfNamed(who, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.who != who && (!c.owns || id == "" || c.owner != id) {
		return false
	}
	return c.killLocked()
}

// killLocked kills the process, and reports whether it ran.
func (c *member) killLocked() bool {
	if c.cmd == nil {
		return false
	}
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.log.Warn("Killing a demo candidate failed", "error", err)
	}
	return true
}
