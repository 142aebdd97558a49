package app

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// roundsEnv names the variable with the number of rounds that TestWhateverDiesNoTwoCommandsRun plays on each backend.
// The rounds take the faults in turn. Without the variable each backend has two rounds.
const roundsEnv = "COORDTOP_TEST_LOCK_ROUNDS"

// locked prints the ids of the command, its child and one that has left the group, and runs on. All of them have the file
// lock.
const locked = `exec 9>>%[1]s; flock -n 9 || echo overlap >>%[1]s.overlap; sleep 1000 & c=$!; setsid sleep 1000 & echo $$ $c $! in; wait`

// chaosRound has the first owner, to which something happens, and the one that waits for its lock.
type chaosRound struct {
	*kept
	members []int // of its command
	link    *localserver.Proxy
	next    *kept
}

// chaos are the things that happen. Each returns when the next may be in.
var chaos = map[string]func(*chaosRound){
	"coordtop is killed":  func(r *chaosRound) { r.signals(syscall.SIGKILL) },
	"coordtop is stopped": func(r *chaosRound) { r.signals(syscall.SIGSTOP); r.awaitDead(); r.signals(syscall.SIGCONT) },
	"the watchdog is killed, then coordtop": func(r *chaosRound) {
		killed := watchdogOf(r.t, r.cmd.Process.Pid)
		r.kill(syscall.SIGKILL, killed)
		eventually(r.t, "another watches", func() bool { w := watchdogOf(r.t, r.cmd.Process.Pid); return w != 0 && w != killed })
		r.signals(syscall.SIGKILL)
	},
	"the watchdog is stopped": func(r *chaosRound) {
		r.kill(syscall.SIGSTOP, watchdogOf(r.t, r.cmd.Process.Pid))
		r.signals(syscall.SIGTERM)
	},
	"the command is killed":  func(r *chaosRound) { r.kill(syscall.SIGKILL, r.members[0]) },
	"the child is killed":    func(r *chaosRound) { r.kill(syscall.SIGKILL, r.members[1]); r.signals(syscall.SIGTERM) },
	"the command is stopped": func(r *chaosRound) { r.kill(syscall.SIGSTOP, r.members[0]); r.signals(syscall.SIGTERM) },
	"the leaver is stopped":  func(r *chaosRound) { r.kill(syscall.SIGSTOP, r.members[2]); r.signals(syscall.SIGTERM) },
	"the links are cut":      func(r *chaosRound) { r.link.Cut() },
	"the links are silent":   func(r *chaosRound) { r.link.BlackHole(); r.awaitDead(); r.link.Cut() },
	stoppedAll: func(r *chaosRound) {
		all := append([]int{watchdogOf(r.t, r.cmd.Process.Pid), r.cmd.Process.Pid}, r.members...)
		r.kill(syscall.SIGSTOP, all...)
		<-time.After(chaosLease * 3 / 2)
		began := time.Now()
		r.kill(syscall.SIGCONT, all...)
		r.awaitDead()
		r.t.Logf("killed %v after SIGCONT", time.Since(began).Round(time.Millisecond))
	},
}

// kill signals processes, some of which may have ended.
func (r *chaosRound) kill(s syscall.Signal, pids ...int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s)
	}
}

// awaitDead returns when no process of the command is alive.
func (r *chaosRound) awaitDead() {
	r.t.Helper()
	eventually(r.t, "the command is dead", func() bool {
		for _, pid := range r.members {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if _, state, _ := strings.Cut(string(stat), ") "); err == nil && !strings.HasPrefix(state, "Z") {
				return false
			}
		}
		return true
	})
}

// watchdogOf returns the id of the watchdog of a process, 0 for none.
func watchdogOf(t *testing.T, parent int) (pid int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // the thread may have ended
		for _, child := range strings.Fields(string(text)) {
			if line, _ := os.ReadFile("/proc/" + child + "/cmdline"); strings.HasPrefix(string(line), "coordtop-watchdog\x00") {
				pid, _ = strconv.Atoi(child)
			}
		}
	}
	return pid
}

const (
	chaosLease = 2 * time.Second
	stoppedAll = "all are stopped past the end"
)

func TestWhateverDiesNoTwoCommandsRun(t *testing.T) {
	t.Parallel()
	for name, start := range lockServers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, file := start(t), filepath.Join(t.TempDir(), "lock")
			names, rounds := slices.Sorted(maps.Keys(chaos)), 0
			if rounds, _ = strconv.Atoi(os.Getenv(roundsEnv)); rounds == 0 {
				names, rounds = []string{"coordtop is killed", "the command is stopped"}, 2
			}
			for i := range rounds {
				playChaos(t, s, file, names[i%len(names)])
			}
		})
	}
}

// playChaos plays one round.
func playChaos(t *testing.T, s lockServer, file, what string) {
	t.Run(what, func(t *testing.T) {
		u, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		r := &chaosRound{link: localserver.ProxyForTest(t, u.Host)}
		near := strings.Replace(s.url, u.Host, r.link.Addr(), 1)
		lease := "--lease=" + chaosLease.String()
		r.kept = runsUnder(t, "", "lock", lease, near+"mutex=job", "--", "sh", "-c", fmt.Sprintf(locked, file))
		r.prints(" in\n")
		for _, field := range strings.Fields(r.out.String())[:3] {
			pid, _ := strconv.Atoi(field)
			r.members = append(r.members, pid)
		}
		r.next = runsUnder(t, "", "lock", lease, s.url+"mutex=job", "--", "sh", "-c",
			fmt.Sprintf("exec 9>>%[1]s; flock -n 9 || echo overlap >>%[1]s.overlap; echo in", file))
		if s.queued != nil {
			eventually(t, "it waits", func() bool { return s.queued() == 1 })
		}
		began := time.Now()
		chaos[what](r)
		r.next.prints("in\n")
		t.Logf("next in after %v", time.Since(began).Round(time.Millisecond))
		r.next.ends(exitOK)
		r.awaitDead()
		ends(t, r.cmd)
		overlap := os.Remove(file+".overlap") == nil
		if overlap && what != stoppedAll { // a stopped process keeps its lock on the file, and does no work
			t.Error("two commands were inside")
		}
	})
}
