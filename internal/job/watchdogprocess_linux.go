package job

import (
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lastTries is the time for which a watchdog sends KILL to processes that do not end.
const lastTries = 10 * time.Second

// armPause is the pause between two reads of a kill instant that our parent has not yet stored.
const armPause = 10 * time.Millisecond

// watched is what a watchdog ends.
type watched struct {
	group  int
	anchor int    // a pidfd of the anchor, by which the group is known also when its number is another's; -1: none
	marker string // in the environment of all processes of the command, unless they have cleared it
}

// Watchdog is the whole program if this process was started as a watchdog, which was reports. It kills the command at
// the kill instant, and when the process that started it has ended.
func Watchdog() (code int, was bool) {
	if len(os.Args) != 3 || os.Args[0] != watchdogName {
		return 0, false
	}
	group, err := strconv.Atoi(os.Args[1])
	if err != nil || group < 2 {
		return 1, true
	}
	signal.Ignore(append(Signals(), syscall.SIGPIPE, syscall.SIGTTIN, syscall.SIGTTOU)...)
	w := &watched{group: group, marker: FileVariable + "=" + os.Args[2]}
	if w.anchor, err = unix.PidfdOpen(group, 0); err != nil {
		w.anchor = -1
	}
	word, err := mapDeadlineWord(os.NewFile(wordDescriptor, "deadline"))
	if err != nil {
		return 1, true
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_CLOEXEC)
	if err != nil {
		return 1, true
	}
	_, _ = unix.Write(readyDescriptor, []byte{1}) // it fails if our parent has ended: awaitEnd reports that
	_ = unix.Close(readyDescriptor)
	for {
		deadline := word.get()
		switch {
		case deadline == 0: // the command has not started
			deadline = bootTime() + armPause
		case bootTime() >= deadline:
			w.endAll()
			deadline = 0 // disarms the timer: only our parent's end is awaited now
		}
		if ended, err := awaitEnd(timer, deadline); ended || err != nil {
			w.endAll()
			_ = os.Remove(os.Args[2]) // our parent would have done it
			return 0, true
		}
	}
}

// awaitEnd returns when our parent has ended or the instant has come. It reports whether our parent has ended.
func awaitEnd(timer int, instant time.Duration) (ended bool, err error) {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(instant))}
	if err := unix.TimerfdSettime(timer, unix.TFD_TIMER_ABSTIME, &at, nil); err != nil {
		return false, err
	}
	for {
		fds := []unix.PollFd{{Fd: lifeDescriptor, Events: unix.POLLIN}, {Fd: int32(timer), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); !errors.Is(err, unix.EINTR) {
			return fds[0].Revents != 0, err
		}
	}
}

// endAll kills all processes of the command until two looks find none.
func (w *watched) endAll() {
	end := bootTime() + lastTries
	for clean := 0; clean < 2 && bootTime() < end; {
		w.killGroup()
		clean++
		for _, p := range processes() {
			switch {
			case !p.alive:
			case markedBy(p.pid, w.marker):
				clean = 0
				_ = syscall.Kill(p.pid, syscall.SIGKILL) // what is not killed is found again
			case p.group == w.group:
				clean = 0
			}
		}
		if clean == 0 {
			_, _ = unix.Poll(nil, 1) // a pause of 1 ms
		}
	}
}

// killGroup sends KILL to the members of the group. A system before Linux 6.9 knows the group only by its number, which
// may be another's, when all members and the anchor have ended.
func (w *watched) killGroup() {
	const toGroup = 4 // PIDFD_SIGNAL_PROCESS_GROUP, linux/pidfd.h
	if w.anchor >= 0 {
		err := unix.PidfdSendSignal(w.anchor, unix.SIGKILL, nil, toGroup)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return
		}
	}
	_ = syscall.Kill(-w.group, syscall.SIGKILL)
}
