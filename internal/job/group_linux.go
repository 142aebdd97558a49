package job

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/subprocess"
)

// bootClock is a clock that counts suspended time.
const bootClock = unix.CLOCK_BOOTTIME

// group is the process group of a command. Its number belongs to an anchor: a child that has ended and is not waited
// for. So the number is known before the command starts, and no other group can have it until close.
type group struct {
	id      int
	command int          // the pid of the command, for which another goroutine waits; 0: not started
	ended   map[int]bool // the orphans that we have killed, and those that had ended at the last reap
}

// newGroup makes an empty group. Until end, processes below us that lose their parents become our children. The caller
// must call end.
func newGroup() (*group, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	anchor := exec.Command("/bin/sh", "-c", ":")
	anchor.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := anchor.Start(); err != nil {
		return nil, err
	}
	g := &group{id: anchor.Process.Pid, ended: map[int]bool{}}
	return g, anchor.Process.Release() // end waits for it
}

// join returns what makes a new process a member that dies with the thread that starts it.
func (g *group) join() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: g.id, Pdeathsig: syscall.SIGKILL}
}

// started stores the pid of the command.
func (g *group) started(command int) { g.command = command }

// signal sends s to all members.
func (g *group) signal(s syscall.Signal) { _ = syscall.Kill(-g.id, s) } // it fails where all are gone, or not ours

// sweep sends KILL to all that the command has started, and reports whether any of it is alive. All who have left the
// group are our children, or become that when their parents have ended.
func (g *group) sweep() (alive bool) {
	g.signal(syscall.SIGKILL)
	syscall.ForkLock.RLock() // no child of ours has our own environment, before it executes its program
	defer syscall.ForkLock.RUnlock()
	for _, p := range children() {
		if p.alive && !markedBy(p.pid, subprocess.Mark()) {
			alive = true
			g.ended[p.pid] = syscall.Kill(p.pid, syscall.SIGKILL) == nil
		}
	}
	g.reap()
	return alive
}

// reap waits for the children that have ended and for which nobody else waits. Children that something else in this
// process has started are waited for at once, so an orphan is one that has ended and was there at an earlier call. It
// reports whether another call is needed.
func (g *group) reap() (again bool) {
	ended := map[int]bool{}
	for _, p := range children() {
		switch {
		case p.alive:
			ended[p.pid] = g.ended[p.pid]
		case p.pid == g.id || p.pid == g.command: // the anchor stays, and a goroutine waits for the command
		case p.group == g.id || g.ended[p.pid]:
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		default:
			ended[p.pid], again = true, true
		}
	}
	g.ended = ended
	return again
}

// end sends KILL until nothing is alive, twice. It returns false if something is alive after unkillable.
func (g *group) end(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unkillable)
	defer cancel()
	for clean := 0; clean < 2; clean++ {
		if g.sweep() {
			clean = -1
			if backoff.Sleep(ctx, time.Millisecond) != nil {
				return false
			}
		}
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) // it was possible before
	for {                                                   // for the anchor, which has ended long ago
		if _, err := syscall.Wait4(g.id, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return true
		}
	}
}
