//go:build !linux

package job

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"coordtop/internal/ground/backoff"
)

// bootClock is a clock that counts suspended time, on darwin.
const bootClock = unix.CLOCK_MONOTONIC

// group is the process group of a command, whose number is the pid of the command.
type group struct{ id int }

func newGroup() (*group, error) { return &group{}, nil }

// join returns what makes a new process the leader of the group.
func (g *group) join() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// started stores the pid of the command.
func (g *group) started(command int) { g.id = command }

// signal sends s to all members.
func (g *group) signal(s syscall.Signal) { _ = g.send(s) }

func (g *group) send(s syscall.Signal) error {
	if g.id == 0 {
		return syscall.ESRCH
	}
	return syscall.Kill(-g.id, s)
}

// sweep sends KILL to all members, and reports whether there are any.
func (g *group) sweep() (alive bool) { return g.send(syscall.SIGKILL) == nil }

// reap has nothing to do: orphans go to the first process of the machine.
func (g *group) reap() (again bool) { return false }

// end sends KILL until no member is left. It returns false if one is left after unkillable.
func (g *group) end(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unkillable)
	defer cancel()
	for g.sweep() {
		if backoff.Sleep(ctx, time.Millisecond) != nil {
			return false
		}
	}
	return true
}
