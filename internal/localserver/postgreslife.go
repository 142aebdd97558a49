package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endPostgres is the script with which a guard ends a Postgres. It requests an immediate shutdown, in which the server
// removes its System V segment, thaws frozen processes so that they receive the signal, and kills processes that still
// run after ten seconds. A server that was killed, and an initdb, leave the segment behind; the pid file names it. A
// zombie counts as ended.
const endPostgres = `
runs() {
  kill -0 "$last" 2>&- || return 1
  state=; { read -r _ _ state _ <"/proc/$last/stat"; } 2>/dev/null
  [ "$state" != Z ]
}
if [ -n "$last" ]; then
  kill -QUIT "$last" 2>&-; kill -CONT "$last" 2>&-
  for stat in /proc/[0-9]*/stat; do
    if read -r pid _ _ parent _ <"$stat" && [ "$parent" = "$last" ]; then kill -CONT "$pid"; fi
  done 2>/dev/null
  tries=0
  while runs && [ $tries -lt 200 ]; do sleep 0.05 2>&- || sleep 1; tries=$((tries+1)); done
  kill -9 -- "-$last" 2>&-
fi
if [ -f "$2/data/postmaster.pid" ]; then
  set -- "$1" "$2" $(sed -n 7p "$2/data/postmaster.pid")
  if [ -n "$4" ]; then ipcrm -m "$4" 2>&-; fi
fi
`

// stopLocked requests a fast shutdown, then an immediate one.
func (p *Postgres) stopLocked(ctx context.Context) {
	if p.proc.running() {
		p.thawLocked()
		p.proc.stop(ctx, syscall.SIGINT, syscall.SIGQUIT)
	}
}

// thawLocked thaws every process of the server, and ignores those that have ended.
func (p *Postgres) thawLocked() {
	_ = p.proc.signal(syscall.SIGCONT)
	children, err := childrenOf(p.proc.pid())
	if err != nil {
		return // this system has no /proc, so Freeze does not work either
	}
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// Freeze suspends every process of the server (SIGSTOP): connections stay open, the kernel still acknowledges data that
// arrives, and nothing answers.
func (p *Postgres) Freeze() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.proc.signal(syscall.SIGSTOP); err != nil { // first, so that no child is added
		return err
	}
	children, err := childrenOf(p.proc.pid())
	if err != nil {
		return errors.Join(err, p.proc.signal(syscall.SIGCONT))
	}
	for _, pid := range children {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("freezing process %d: %w", pid, err)
		}
	}
	return nil
}

// Thaw ends Freeze. The server then answers the requests that were sent while it was frozen.
func (p *Postgres) Thaw() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.proc.running() {
		return fmt.Errorf("thawing postgres: %w", errExited)
	}
	p.thawLocked()
	return nil
}

// Kill ends every process of the server at once (SIGKILL), like a loss of power, and returns when they have ended. The
// port is closed then; Restart opens it again.
func (p *Postgres) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.proc.running() {
		return
	}
	_ = p.proc.signal(syscall.SIGSTOP) // so that no child is added; if this process is gone, all are
	children, err := childrenOf(p.proc.pid())
	p.proc.kill()
	if err != nil {
		return // without /proc; the children notice the end of their parent
	}
	for _, pid := range children {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range children {
		awaitGone(pid)
	}
}

// awaitGone returns when a process that was killed has ended, even if it is still a zombie, or after stopGrace.
func awaitGone(pid int) {
	deadline := time.NewTimer(stopGrace)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if state, _, err := processStat(pid); err != nil || state == "Z" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return
		}
	}
}

// childrenOf lists the processes whose parent is pid.
func childrenOf(pid int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var children []int
	for _, e := range entries {
		child, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if _, parent, err := processStat(child); err == nil && parent == pid {
			children = append(children, child)
		}
	}
	return children, nil
}

// processStat reads a process's state letter and its parent's id.
func processStat(pid int) (state string, parent int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	// The name of the program, in brackets, may hold anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 2 {
		return "", 0, fmt.Errorf("looking at process %d: its state is cut short", pid)
	}
	parent, err = strconv.Atoi(fields[1])
	if err != nil {
		return "", 0, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	return fields[0], parent, nil
}
