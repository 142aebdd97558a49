package demo

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
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

func TestAProcessThatRestsIsStartedLater(t *testing.T) {
	t.Parallel()
	c := &member{log: slog.New(slog.DiscardHandler), contest: contest{Task: Task{Key: "demo:leader:billing"}}}
	if c.rest() != 0 {
		t.Errorf("a new one rests for %v", c.rest())
	}
	d := &Demo{members: []*member{c, {log: slog.New(slog.DiscardHandler)}}}
	d.kill(time.Minute, "demo:leader:billing")
	if c.rest() < 50*time.Second || d.members[1].rest() != 0 {
		t.Errorf("it rests for %v, the other for %v", c.rest(), d.members[1].rest())
	}
}

func TestTheStoryRestartsRedisWithoutItsData(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	r, err := localserver.StartRedis(t.Context(), localserver.RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := &Demo{options: Options{Log: slog.New(slog.DiscardHandler)}, servers: []server{r, nil, nil, nil}}
	t.Cleanup(func() { _ = d.servers[0].Stop(context.Background()) })
	before := r.URL()
	d.restartRedis(t.Context())
	if d.servers[0] == nil || d.servers[0] == server(r) || d.servers[0].URL() != before {
		t.Fatalf("not another server at the same address: %v", d.servers[0])
	}
}
