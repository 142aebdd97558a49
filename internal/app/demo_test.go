package app

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
)

// demoRun is a demo without a screen, in a process of its own.
type demoRun struct {
	cmd   *exec.Cmd
	out   *stream
	redis *redis.Client
	dir   string // of the server
}

// startDemo returns when the demo's four primitives have owners.
func startDemo(t *testing.T, args ...string) *demoRun {
	t.Helper()
	d := &demoRun{cmd: command(t, append([]string{"demo", "--no-ui"}, args...)...), out: newStream()}
	d.cmd.Env = append(d.cmd.Env, "PATH="+os.Getenv("PATH"))
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text := d.out.await(t, func(s string) bool { return strings.Contains(s, "all coordtop '") && strings.HasSuffix(s, "\n") })
	address, err := url.Parse(strings.TrimPrefix(strings.Split(text, "\n")[0], "redis "))
	if err != nil {
		t.Fatal(err)
	}
	d.redis = writer(t, address.Host)
	d.dir = d.redis.ConfigGet(t.Context(), "dir").Val()["dir"]
	eventually(t, "all four primitives are owned", func() bool { return len(d.owners(t)) == 4 })
	return d
}

// owners are the processes that own the keys of the demo.
func (d *demoRun) owners(t *testing.T) map[string]int {
	t.Helper()
	owners := map[string]int{}
	for _, key := range d.redis.Keys(context.Background(), "demo:*").Val() {
		value, err := d.redis.Get(context.Background(), key).Bytes()
		if errors.Is(err, redis.Nil) {
			continue // it ended between the two questions
		}
		if err != nil {
			t.Fatal(err)
		}
		label, _, _ := strings.Cut(string(rediscoord.ParseValue(value).Data), " ")
		_, pid, _ := strings.Cut(label, ":")
		if owners[key], err = strconv.Atoi(pid); err != nil {
			t.Fatalf("%s is owned by %q, want host:pid", key, label)
		}
	}
	return owners
}

// leavesNothing fails unless the owners, the server and its folder vanish.
func (d *demoRun) leavesNothing(t *testing.T, owners map[string]int) {
	t.Helper()
	eventually(t, "the server is gone", func() bool { return d.redis.Ping(context.Background()).Err() != nil })
	eventually(t, "the server's folder is gone", func() bool {
		_, err := os.Stat(d.dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	for key, pid := range owners {
		eventually(t, "the owner of "+key+" is gone", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
	}
}

// eventually looks again and again, but not for ever.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	bound := time.NewTimer(45 * time.Second)
	defer bound.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-bound.C:
			t.Fatalf("never came: %s", what)
		}
	}
}

func TestDemoPrintsWhereItsServersAreAndEndsOnASignal(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	form := regexp.MustCompile(`^redis redis://127\.0\.0\.1:\d+/0\nall coordtop 'redis://127\.0\.0\.1:\d+/0\?election=demo:leader:\*&mutex=demo:lock:\*'\n$`)
	if text := d.out.String(); !form.MatchString(text) {
		t.Errorf("printed %q", text)
	}
	owners := d.owners(t)
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, d.cmd); code != 0 {
		t.Errorf("exit code %d: %s", code, d.out)
	}
	d.leavesNothing(t, owners)
}

func TestDemoThatIsKilledLeavesNothingBehindAndItsNeighbourAlone(t *testing.T) {
	t.Parallel()
	killed, neighbour := startDemo(t, "--seed", "1"), startDemo(t, "--seed", "1")
	owners := killed.owners(t)
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ends(t, killed.cmd)
	killed.leavesNothing(t, owners)
	if len(neighbour.owners(t)) == 0 {
		t.Error("the demo beside it lost its owners too")
	}
	if err := neighbour.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ends(t, neighbour.cmd)
}

func TestDemoLeaderThatIsKilledIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	const election = "demo:leader:scheduler"
	first := d.owners(t)[election]
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another process leads", func() bool {
		next := d.owners(t)[election]
		return next != 0 && next != first
	})
	owners := d.owners(t)
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, d.cmd)
	d.leavesNothing(t, owners)
}

func TestDemoTakesThePortItIsTold(t *testing.T) {
	t.Parallel()
	first := startDemo(t)
	port := regexp.MustCompile(`:(\d+)/`).FindStringSubmatch(first.out.String())[1]
	second := newWorld(t)
	if code := second.main(t.Context(), "demo", "--no-ui", "--redis-port", port); code != exitError {
		t.Errorf("a port that is taken: exit code %d, %s", code, second.stderr)
	}
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, first.cmd)
	again := startDemo(t, "--redis-port", port)
	if !strings.Contains(again.out.String(), ":"+port+"/") {
		t.Errorf("asked for port %s, printed %q", port, again.out)
	}
	if err := again.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ends(t, again.cmd)
}

func TestDemoRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"demo":                             "coordtop demo --no-ui serves without a screen",
		"demo --no-ui --redis-port 70000":  "a port is a number from 1 to 65535",
		"demo --no-ui --redis-port 6379":   "6379 is a standard port",
		"demo --no-ui extra":               "extra",
		"demo-candidate --role juggler":    "address",
		"demo --no-ui --seed minus-eleven": "--seed",
	} {
		w := newWorld(t)
		if code := w.main(t.Context(), strings.Fields(args)...); code == exitOK || !strings.Contains(w.stderr.String(), want) {
			t.Errorf("%s: exit code %d, said %q, want %q", args, code, w.stderr, want)
		}
	}
}

func TestDemoWithoutRedisSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	cmd := command(t, "demo", "--no-ui") // its environment has no PATH
	errs := newStream()
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitError || !strings.Contains(errs.String(), "apt-get install redis-server") {
		t.Errorf("exit code %d, said %q", code, errs)
	}
}
