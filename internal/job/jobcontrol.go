package job

import (
	"os"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	// stopPatience is the time for the command to stop by itself after SIGTSTP.
	stopPatience = 100 * time.Millisecond
	// terminalPause is the pause between two looks whether the terminal can be given: nobody notifies a process that a
	// shell has brought to the foreground while it ran.
	terminalPause = 200 * time.Millisecond
)

// jobControl stops and continues the command together with us, and gives it the terminal while it needs that. The
// goroutine of Run alone uses it. We ignore SIGTTOU, so that we may change the terminal from the background.
type jobControl struct {
	command  *command
	check    func() error // of the lease
	say      func(string)
	terminal int         // a descriptor; -1: we have no terminal
	modes    *term.State // of the terminal, before the command got it
	ours     int         // the number of our group

	stopped    bool // the command is
	given      bool // the command has the terminal
	wanted     bool // the command is stopped until it has the terminal
	suspending bool // the command shall stop, and we after it
	forced     bool // it was sent SIGSTOP for that
	suspended  bool // we have stopped ourselves
	had        bool // the command had the terminal then
	said       bool // why it does not get the terminal

	due <-chan time.Time // for again; nil: nothing is to be done later
}

// newJobControl begins with a command that runs in the background. The caller must call end.
func newJobControl(c *command, check func() error, say func(string)) *jobControl {
	j := &jobControl{command: c, check: check, say: say, ours: unix.Getpgrp()}
	var err error
	if j.terminal, err = unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		j.terminal = -1
	}
	return j
}

// commandStopped handles a stop of the command by a signal.
func (j *jobControl) commandStopped(s syscall.Signal) {
	j.stopped = true
	switch {
	case j.suspending:
		j.stopOurselves()
	case j.terminal >= 0 && (s == syscall.SIGTTIN || s == syscall.SIGTTOU):
		j.given, j.wanted = false, true
		j.offer()
	case j.given: // ctrl+z was typed
		j.stopOurselves()
	}
}

// commandContinued handles that somebody has continued the command.
func (j *jobControl) commandContinued() { j.stopped, j.wanted = false, false }

// suspend handles a SIGTSTP that we have received. A command that was last seen stopped may have been continued since.
func (j *jobControl) suspend() {
	if canBeContinued() {
		j.suspending, j.due = true, time.After(stopPatience)
		j.command.signal(syscall.SIGTSTP)
	}
}

// resume handles a SIGCONT that we have received. If the lease is over, the command stays stopped.
func (j *jobControl) resume() {
	if j.check() != nil {
		return
	}
	if j.given && j.foreground() == j.ours {
		j.given = false // a shell took the terminal and gave it to us
	}
	if j.suspended && j.had && j.foreground() == j.ours {
		j.give()
	} else {
		j.command.signal(syscall.SIGCONT)
	}
	j.suspended = false
}

// again does what due was set for. A command is not reported as stopped as long as it waits for a child of vfork that was
// stopped before it could execute a program. After SIGSTOP no process of the command works, whatever is reported.
func (j *jobControl) again() {
	j.due = nil
	switch {
	case j.suspending && j.forced:
		j.stopOurselves()
	case j.suspending:
		j.forced, j.due = true, time.After(stopPatience)
		j.command.signal(syscall.SIGSTOP)
	case j.wanted:
		j.offer()
	}
}

// offer gives the terminal to the command that wants it, if we have it and nobody else of our group may use it. Else it
// comes back later.
func (j *jobControl) offer() {
	why := ""
	switch {
	case j.check() != nil:
		return // the command will be killed
	case j.foreground() != j.ours:
		why = "the command is stopped until it has the terminal: bring it to the foreground, as fg does"
	case !alone(j.ours):
		why = "the command is stopped until it has the terminal, which another process of this pipeline may read: ctrl+c ends both"
	default:
		j.give()
		return
	}
	if !j.said {
		j.said = true
		j.say(why)
	}
	j.due = time.After(terminalPause)
}

// give gives the terminal to the command and continues it.
func (j *jobControl) give() {
	group, err := unix.Getpgid(j.command.pid)
	if err != nil {
		return // it has ended
	}
	if j.modes == nil {
		j.modes, _ = term.GetState(uintptr(j.terminal)) // nil: they are not restored
	}
	j.given, j.wanted = unix.IoctlSetPointerInt(j.terminal, unix.TIOCSPGRP, group) == nil, false
	j.command.signal(syscall.SIGCONT)
}

// take takes the terminal back, unless the shell has done so.
func (j *jobControl) take() {
	session, _ := unix.Getsid(0) // it never fails
	if at := j.foreground(); j.given && at != j.ours && at != session {
		_ = unix.IoctlSetPointerInt(j.terminal, unix.TIOCSPGRP, j.ours) // it fails if the terminal is gone
	}
	j.given = false
}

// foreground returns the group that has the terminal, 0 if there is no terminal.
func (j *jobControl) foreground() int {
	if j.terminal < 0 {
		return 0
	}
	group, err := unix.IoctlGetInt(j.terminal, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// stopOurselves stops our group, as the shell expects of a job, now that the command is stopped. After that, the next
// event is SIGCONT. The runtime keeps its handler of SIGTSTP for good, so that we cannot stop with that signal.
func (j *jobControl) stopOurselves() {
	j.suspending, j.forced, j.due = false, false, nil
	if !canBeContinued() {
		j.command.signal(syscall.SIGCONT)
		return
	}
	j.suspended, j.had = true, j.given
	j.take()
	_ = syscall.Kill(0, syscall.SIGSTOP) // a process may always stop its own group
}

// end takes the terminal back after the command. If we have ended the command, it could not restore the modes.
func (j *jobControl) end(endedByUs bool) {
	if j.terminal < 0 {
		return
	}
	had := j.given
	j.take()
	if had && endedByUs && j.modes != nil {
		_ = term.Restore(uintptr(j.terminal), j.modes) // it fails if the terminal is gone
	}
	_ = unix.Close(j.terminal)
}

// canBeContinued reports whether a shell with job control has started our group: it is not the first of its session.
func canBeContinued() bool {
	session, err := unix.Getsid(0)
	return err == nil && session != unix.Getpgrp()
}

// alone reports whether our group has no processes but us and those that wait for us: our parent, its parent and so on.
// It reports false where processes are not known.
func alone(group int) bool {
	parents, others := map[int]int{}, map[int]bool{}
	for _, p := range processes() {
		parents[p.pid] = p.parent
		if p.group == group && p.alive {
			others[p.pid] = true
		}
	}
	for pid := os.Getpid(); pid != 0; pid = parents[pid] {
		delete(others, pid)
	}
	return len(parents) > 0 && len(others) == 0
}
