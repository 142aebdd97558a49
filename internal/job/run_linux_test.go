package job_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/job"
)

const (
	expired = "expired"
	lost    = "lost"
)

func TestTheExitCodeIsTheCommandsOwn(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143} {
		begin(t, nil, "sh", "-c", script).want(outcome{Code: want})
	}
}

func TestACommandThatCannotBeRunSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain, script := filepath.Join(dir, "plain"), filepath.Join(dir, "script")
	for path, mode := range map[string]os.FileMode{plain: 0o600, script: 0o700} {
		if err := os.WriteFile(path, []byte("echo hello\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"coordtop-no-such": 127, dir + "/none": 127, plain: 126, dir: 126} {
		if code, err := job.Runnable([]string{name}); code != want || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %d, %v", name, code, err)
		}
		if o := begin(t, nil, name).outcome(); o.Code != want || o.Err == "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if o := begin(t, nil, script).outcome(); o.Code != 126 || !strings.Contains(o.Err, "#!") {
		t.Errorf("a script without a first line: %+v", o)
	}
	if code, err := job.Runnable([]string{"sh"}); code != 0 || err != nil {
		t.Error(code, err)
	}
}

func TestTheCommandKnowsItsLease(t *testing.T) {
	t.Parallel()
	around := func(o *order, cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, job.FileVariable+"=/outer", "COORDTOP_FENCE=1", "COORDTOP_NAME=outer")
	}
	r := begin(t, around, "sh", "-c", `echo "$COORDTOP_NAME $COORDTOP_OWNER ${COORDTOP_FENCE-none}"; env | grep -Ec "^COORDTOP_(NAME|OWNER|FENCE|DEADLINE_FILE)="`)
	if got := r.rest(); got != "nightly tester none\n3\n" {
		t.Errorf("without a fence: %q", got)
	}
	r.want(outcome{})
	r = begin(t, func(o *order, _ *exec.Cmd) { o.Fence = 1<<63 + 1 }, "sh", "-c", `echo $COORDTOP_FENCE`)
	if got := r.rest(); got != "9223372036854775809\n" {
		t.Errorf("the fence: %q", got)
	}
}

func TestTheDeadlineFileFollowsTheLease(t *testing.T) {
	t.Parallel()
	input, keys := pipe(t)
	short := func(o *order, cmd *exec.Cmd) {
		cmd.Stdin = input
		o.Trust = boot() + 20*time.Second
	}
	r := begin(t, short, "sh", "-c", `echo $COORDTOP_DEADLINE_FILE; read x`)
	path := r.line()
	if err := job.CheckDeadline(path); err != nil {
		t.Error(err)
	}
	until := func() (boot int64, day time.Time) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, second, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		boot, err1 := strconv.ParseInt(first, 10, 64)
		day, err2 := time.Parse(time.RFC3339Nano, second)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		return boot, day
	}
	before, day := until()
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	r.renew(time.Hour, time.Hour)
	await(t, "the renewal in the file", func() bool {
		now, later := until()
		return now-before > int64(59*time.Minute) && later.Sub(day) > 59*time.Minute
	})
	keys.Close()
	r.want(outcome{Code: 1})
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	if err := job.CheckDeadline(path); err == nil {
		t.Error("a missing file is trusted")
	}
}

func TestADeadlineFileIsTrustedOnlyIfBothClocksSay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deadline")
	future, past := time.Now().Add(time.Hour).Format(time.RFC3339Nano), time.Now().Add(-time.Hour).Format(time.RFC3339Nano)
	for text, trusted := range map[string]bool{
		fmt.Sprintf("%d %s\n", boot()+time.Hour, future): true,
		fmt.Sprintf("%d %s\n", boot()+time.Hour, past):   false, // of an earlier boot
		fmt.Sprintf("%d %s\n", boot()-1, future):         false,
		"":                                               false, "1": false, "x y\n": false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := job.CheckDeadline(path); (err == nil) != trusted {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAFolderThatCannotBeWrittenIsAWarning(t *testing.T) {
	t.Parallel()
	r := begin(t, func(o *order, _ *exec.Cmd) { o.Folder = "/proc/none" }, "sh", "-c", `test ! -e $COORDTOP_DEADLINE_FILE`)
	r.want(outcome{})
	if said := r.stderr(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "no deadline file") {
		t.Errorf("it said %q", said)
	}
}

func TestTermComesWithTheGraceAndKillBeforeTheWindowEnds(t *testing.T) {
	t.Parallel()
	short := func(o *order, _ *exec.Cmd) {
		now := boot()
		o.Trust, o.Window, o.Grace = now+4*time.Second, now+6*time.Second, time.Second // a busy machine starts a command in two
	}
	polite := begin(t, short, "sh", "-c", `trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done`)
	polite.line()
	polite.want(outcome{Code: 3, Lost: expired})
	if got := polite.rest(); got != "bye\n" {
		t.Errorf("it printed %q", got)
	}
	var window time.Duration
	stubborn := begin(t, func(o *order, c *exec.Cmd) { short(o, c); window = o.Window }, "sh", "-c", `trap 'echo no' TERM; echo ready; while :; do sleep 0.01; done`)
	stubborn.line()
	stubborn.want(outcome{Code: 137, Lost: expired})
	if boot() >= window {
		t.Error("it was killed after the window")
	}
	if got := stubborn.rest(); got != "no\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestKillComesAtOnceWhenTheServiceReportsTheLoss(t *testing.T) {
	t.Parallel()
	r := begin(t, func(o *order, _ *exec.Cmd) { o.Grace = 30 * time.Second }, "sh", "-c", `trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	r.line()
	r.tell("lose")
	r.want(outcome{Code: 137, Lost: lost})
	if got := r.rest(); got != "" {
		t.Errorf("it printed %q", got)
	}
}

func TestARenewedLeaseKeepsTheCommand(t *testing.T) {
	t.Parallel()
	short := func(o *order, _ *exec.Cmd) { o.Trust, o.Window = boot()+4*time.Second, boot()+4*time.Second }
	r := begin(t, short, "sh", "-c", `echo ready; sleep 4.5; exit 4`)
	r.line()
	r.renew(time.Minute, time.Minute)
	r.want(outcome{Code: 4})
}

func TestSignalsArePassedOn(t *testing.T) {
	t.Parallel()
	for sig, asks := range map[syscall.Signal]bool{
		syscall.SIGINT: true, syscall.SIGTERM: true, syscall.SIGHUP: true, syscall.SIGQUIT: true,
		syscall.SIGUSR1: false, syscall.SIGUSR2: false, syscall.SIGWINCH: false,
	} {
		r := begin(t, nil, "sh", "-c", `trap 'exit 5' `+strconv.Itoa(int(sig))+`; echo ready; while :; do sleep 0.01; done`)
		r.line()
		r.signal(sig)
		want := outcome{Code: 5}
		if asks {
			want.Stopped = sig
		}
		r.want(want)
	}
}

func TestWhatTheCommandLeavesBehindIsEndedBeforeRunReturns(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"in its group":          `sleep 100 & echo $!`,
		"that ignores TERM":     `sh -c 'trap "" TERM HUP INT; echo $$; exec sleep 100' &`,
		"that left its group":   `setsid sh -c 'echo $$; exec sleep 100' &`,
		"that forked twice":     `setsid sh -c 'sleep 100 & echo $!' &`,
		"with no environment":   `env -i setsid sh -c 'sleep 100 & echo $!' &`,
		"that closed its files": `setsid sh -c 'echo $$; exec sleep 100 <&- >&- 2>&-' &`,
	} {
		input, keys := pipe(t)
		r := begin(t, func(_ *order, cmd *exec.Cmd) { cmd.Stdin = input }, "sh", "-c", script+"\nread x; exit 6")
		left := r.number()
		keys.Close()
		r.want(outcome{Code: 6})
		if alive(left) {
			t.Errorf("a process %s is alive", name)
		}
	}
}
