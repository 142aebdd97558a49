package job_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/coord"
)

// family is a command with a child in its group, one that left the group, and one that forked twice. None of them ends
// by itself or by TERM.
const family = `trap "" TERM HUP INT
echo $$
sh -c 'echo $$; while :; do sleep 1; done' &
setsid sh -c 'echo $$; while :; do sleep 1; done' &
setsid sh -c 'sh -c "echo \$\$; while :; do sleep 1; done" &' &
while :; do sleep 1; done`

// members reads the pids that a family prints; the first is that of the command.
func (r *runner) members() (pids []int) {
	r.t.Helper()
	for range 4 {
		pids = append(pids, r.number())
	}
	return pids
}

// watchdog returns the pid of the runner's watchdog, 0 for none.
func (r *runner) watchdog() int {
	r.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(text), "coordtop-watchdog\x00") {
			continue
		}
		stat, err := os.ReadFile(filepath.Dir(file) + "/stat")
		if err == nil && strings.Contains(string(stat), fmt.Sprintf(" %d ", r.cmd.Process.Pid)) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				r.t.Fatal(err)
			}
			return pid
		}
	}
	return 0
}

func kill(t *testing.T, s syscall.Signal, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAllOfTheCommandEndsWhenWeAreKilled(t *testing.T) {
	t.Parallel()
	r := begin(t, nil, "sh", "-c", "echo $COORDTOP_DEADLINE_FILE\n"+family)
	file, pids := r.line(), r.members()
	dog := r.watchdog()
	r.signal(syscall.SIGKILL)
	awaitDead(t, append(pids, dog)...)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the deadline file is left: %v", err)
	}
}

func TestTheServerSeesTheEndOfAKilledRunOnlyWhenTheCommandIsDead(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r := begin(t, func(o *order, _ *exec.Cmd) { o.Link = server.Addr().String() }, "sh", "-c", family)
	link, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	pids, dog := r.members(), r.watchdog()
	kill(t, syscall.SIGSTOP, dog)
	r.signal(syscall.SIGKILL)
	<-r.over
	seen := func(within time.Duration) error {
		if err := link.SetReadDeadline(time.Now().Add(within)); err != nil {
			t.Fatal(err)
		}
		_, err := link.Read(make([]byte, 1))
		return err
	}
	if err := seen(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before the command was ended, the server sees %v", err)
	}
	kill(t, syscall.SIGCONT, dog)
	if err := seen(longEnough); !errors.Is(err, io.EOF) || slices.ContainsFunc(pids, alive) {
		t.Errorf("the server sees %v, while of %v some may be alive", err, pids)
	}
}

func TestAnotherWatchdogTakesThePlaceOfOneThatWasKilled(t *testing.T) {
	t.Parallel()
	r := begin(t, nil, "sh", "-c", family)
	pids := r.members()
	for range 3 {
		before := r.watchdog()
		kill(t, syscall.SIGKILL, before)
		await(t, "another watchdog", func() bool { next := r.watchdog(); return next != 0 && next != before })
		dog := r.watchdog()
		await(t, "that it is ready", func() bool { // then it closes its end of the pipe
			_, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/5", dog))
			return err != nil
		})
	}
	if !alive(pids[0]) {
		t.Error("the command was ended")
	}
	r.signal(syscall.SIGKILL)
	awaitDead(t, pids...)
}

func TestAWatchdogThatHasNotYetStartedWhenWeAreKilledEndsTheCommand(t *testing.T) {
	t.Parallel()
	r := begin(t, nil, "sh", "-c", family)
	pids := r.members()
	children := func() (all []string) {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", r.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists {
			text, _ := os.ReadFile(list) // the thread may have ended
			all = append(all, strings.Fields(string(text))...)
		}
		return all
	}
	known := children()
	kill(t, syscall.SIGKILL, r.watchdog())
	next := 0
	for bound := time.Now().Add(longEnough); next == 0 && time.Now().Before(bound); {
		for _, pid := range children() {
			if !slices.Contains(known, pid) {
				next, _ = strconv.Atoi(pid)
			}
		}
	}
	kill(t, syscall.SIGSTOP, next)
	r.signal(syscall.SIGKILL)
	awaitDead(t, pids[0]) // by the kernel
	kill(t, syscall.SIGCONT, next)
	awaitDead(t, pids...)
}

func TestAWatchdogThatStartedAfterItsFirstWindowEndsTheCommandAtTheEndOfTheRenewedOne(t *testing.T) {
	t.Parallel()
	end := boot() + 4*time.Second // a busy machine starts a command in two
	r := begin(t, func(o *order, _ *exec.Cmd) { o.First, o.Window = boot(), end }, "sh", "-c", family)
	pids := r.members()
	r.want(outcome{Code: 137, Lost: coord.ErrExpired.Error()})
	if boot() < end {
		t.Error("it was ended before")
	}
	awaitDead(t, pids...)
}

func TestTheWatchdogIgnoresWhatEndsOthers(t *testing.T) {
	t.Parallel()
	r := begin(t, nil, "sh", "-c", family)
	r.members()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.watchdog()))
	if err != nil {
		t.Fatal(err)
	}
	var ignored uint64
	_, after, _ := strings.Cut(string(text), "SigIgn:")
	if _, err := fmt.Sscanf(after, "%x", &ignored); err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGPIPE} {
		if ignored&(1<<(s-1)) == 0 {
			t.Errorf("it does not ignore %v", s)
		}
	}
}

func TestTheWatchdogKillsAtTheKillInstantWhileWeAreStopped(t *testing.T) {
	t.Parallel()
	r := begin(t, func(o *order, _ *exec.Cmd) {
		o.Trust = boot() + 700*time.Millisecond
		o.Window, o.Grace = o.Trust+time.Second, 300*time.Millisecond
	}, "sh", "-c", family)
	pids := r.members()
	r.signal(syscall.SIGSTOP)
	awaitDead(t, pids...)
	r.signal(syscall.SIGCONT)
	r.want(outcome{Code: 137, Lost: expired})
}

func TestWithoutTheCommandItsChildrenEnd(t *testing.T) {
	t.Parallel()
	r := begin(t, nil, "sh", "-c", family)
	pids := r.members()
	kill(t, syscall.SIGKILL, pids[0])
	r.want(outcome{Code: 137})
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("%d is alive", pid)
		}
	}
}

func TestACommandThatWasStoppedPastItsDeadlineNeverWorksOn(t *testing.T) {
	t.Parallel()
	r := begin(t, func(o *order, _ *exec.Cmd) { o.Trust = boot() + 700*time.Millisecond; o.Window = o.Trust }, "sh", "-c", family)
	pids := r.members()
	all := append([]int{r.cmd.Process.Pid, r.watchdog()}, pids...)
	kill(t, syscall.SIGSTOP, all...)
	<-time.After(time.Second) // the deadline passes
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGCONT) // those before it may have ended it
	}
	awaitDead(t, pids...)
	r.want(outcome{Code: 137, Lost: expired})
}
