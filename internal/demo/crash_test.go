package demo

import (
	"errors"
	"log/slog"
	"os/exec"
	"syscall"
	"testing"
)

func TestOnlyTheCandidateOfThatNameCrashes(t *testing.T) {
	t.Parallel()
	start := func(who string) (*member, *exec.Cmd) {
		cmd := exec.Command("cat") // ends with its input, and does nothing
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close() })
		c := &member{log: slog.New(slog.DiscardHandler)}
		c.set(who, cmd, in)
		return c, cmd
	}
	a, first := start("host-01:4411")
	b, second := start("worker-b")
	d := &Demo{members: []*member{a, {log: slog.New(slog.DiscardHandler)}, b}}
	for _, label := range []string{"", "somebody:1", "worker-bb", "pid 4711"} {
		if err := d.Crash(label, ""); !errors.Is(err, ErrNoCandidate) {
			t.Errorf("%q: %v", label, err)
		}
	}
	if err := d.Crash("worker-b pid 4711", ""); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err == nil {
		t.Error("it ended by itself")
	}
	if err := first.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other is gone: %v", err)
	}
	if err := d.Crash("host-01:4411", ""); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Error("the first ended by itself")
	}
}
