package localserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// patience bounds every wait for an event; a good run never comes near it.
const patience = 20 * time.Second

// eventually waits until ok, or fails.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func client(t *testing.T, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries = -1
	c := redis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestServerAnswersOnLoopbackAndLeavesNothingAfterStop(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	ctx := t.Context()
	r, err := localserver.StartRedis(ctx, localserver.RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(r.Addr())
	if err != nil || host != "127.0.0.1" || port == "6379" {
		t.Errorf("listens on %s (%v), want 127.0.0.1 and no standard port", r.Addr(), err)
	}
	if err := client(t, r.URL()).Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Error(err)
	}
	pid, dir := r.Pid(), r.Dir()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v (%v), want one that only we can read", info, err)
	}
	if pgid, err := syscall.Getpgid(pid); err != nil || pgid != pid {
		t.Errorf("the server's process group is %d (%v), want its own (%d)", pgid, err, pid)
	}
	for range 2 {
		if err := r.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
	if alive(pid) || exists(dir) || r.Pid() != 0 {
		t.Errorf("after Stop: process alive %v, folder there %v, Pid %d", alive(pid), exists(dir), r.Pid())
	}
	if err := r.Restart(ctx); err == nil {
		t.Error("a stopped server could be restarted")
	}
}

func TestKilledParentLeavesNoProcessAndNoFolder(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	for _, frozen := range []bool{false, true} {
		t.Run(fmt.Sprintf("server frozen %v", frozen), func(t *testing.T) {
			t.Parallel()
			parent := exec.Command(os.Args[0])
			parent.Env = append(os.Environ(), childEnv+"=1")
			parent.Stderr = os.Stderr
			in, err := parent.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			number, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			pid, err := strconv.Atoi(number)
			if err != nil || !alive(pid) || !exists(dir) {
				t.Fatalf("the parent said %q (%v)", line, err)
			}
			if frozen {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // it was killed, so this is an error by design
			eventually(t, "the server is gone", func() bool { return !alive(pid) })
			eventually(t, "the folder is gone", func() bool { return !exists(dir) })
		})
	}
}

func TestParentKilledWhileStartingLeavesNothing(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	for i := range 16 {
		temp := t.TempDir()
		parent := exec.Command(os.Args[0])
		parent.Env = append(os.Environ(), childEnv+"=1", "TMPDIR="+temp)
		in, err := parent.StdinPipe() // it ends by itself when this is closed
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		// The folder is the first trace of the start; the later rounds kill when the
		// server has written more of its own.
		trace := []string{"", "redis.conf", "redis-server.log", "redis.pid"}[i%4]
		eventually(t, "the start leaves a trace", func() bool {
			found, err := filepath.Glob(filepath.Join(temp, "coordtop-redis-*", trace))
			return err == nil && len(found) > 0
		})
		if err := parent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = parent.Wait() // it was killed, so this is an error by design
		eventually(t, "the folder is gone and no process works in it", func() bool {
			left, err := os.ReadDir(temp)
			return err == nil && len(left) == 0 && !mentioned(temp)
		})
	}
}

// mentioned reports whether a process has dir in its command line.
func mentioned(dir string) bool {
	out, err := exec.Command("ps", "-eo", "args").Output()
	return err != nil || strings.Contains(string(out), dir+"/coordtop-redis-")
}

func TestFreezeStopsAnswersAndThawBringsThem(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := client(t, r.URL())
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.Freeze(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	conn := c.WithTimeout(100 * time.Millisecond)
	if err := conn.Ping(short).Err(); err == nil {
		t.Error("a frozen server answered")
	}
	if err := r.Thaw(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the thawed server answers", func() bool { return c.Ping(ctx).Err() == nil })
}

func TestRestartKeepsThePortAndLosesOrKeepsTheData(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep %v", keep), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			r := localserver.RedisForTest(t, localserver.RedisOptions{Keep: keep})
			c := client(t, r.URL())
			addr, pid := r.Addr(), r.Pid()
			for round := range 2 {
				if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
					t.Fatal(err)
				}
				if round == 0 {
					r.Kill()
					if r.Pid() != 0 || alive(pid) {
						t.Error("the server survived Kill")
					}
				}
				if err := r.Restart(ctx); err != nil {
					t.Fatal(err)
				}
				if r.Addr() != addr || r.Pid() == pid {
					t.Errorf("restarted at %s as %d, want %s and not %d", r.Addr(), r.Pid(), addr, pid)
				}
				var n int64
				eventually(t, "the client is connected again", func() bool {
					var err error
					n, err = c.Exists(ctx, "k").Result()
					return err == nil
				})
				if (n == 1) != keep {
					t.Errorf("after restart %d: %d keys, want the data kept: %v", round, n, keep)
				}
			}
		})
	}
}

func TestPasswordAndUsersAreAskedFor(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := localserver.RedisForTest(t, localserver.RedisOptions{
		Password: `a "b\c`,
		Users:    []string{"alice on >secret ~app:* +get +ping"},
		Config:   []string{"maxclients 50"},
	})
	if err := client(t, r.URL()).Ping(ctx).Err(); err != nil {
		t.Errorf("with the password: %v", err)
	}
	if got, err := client(t, r.URL()).ConfigGet(ctx, "maxclients").Result(); err != nil || got["maxclients"] != "50" {
		t.Errorf("maxclients is %v (%v), want the extra line to count", got, err)
	}
	if err := client(t, "redis://"+r.Addr()).Ping(ctx).Err(); !redis.HasErrorPrefix(err, "NOAUTH") {
		t.Errorf("without a password: %v", err)
	}
	alice := client(t, "redis://alice:secret@"+r.Addr())
	if err := alice.Get(ctx, "app:x").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("alice reads what she may: %v", err)
	}
	if err := alice.Set(ctx, "app:x", "v", 0).Err(); !redis.HasErrorPrefix(err, "NOPERM") {
		t.Errorf("alice writes: %v", err)
	}
}

func TestTakenPortIsAnErrorIfAskedForAndAvoidedIfNot(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	ctx := t.Context()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()
	_, err = localserver.StartRedis(ctx, localserver.RedisOptions{Port: port, Dir: dir})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("on a taken port: %v, want EADDRINUSE", err)
	}
	if !exists(dir) {
		t.Error("somebody else's folder was removed")
	}
	if _, err := localserver.StartRedis(ctx, localserver.RedisOptions{Port: 6379}); err == nil {
		t.Error("a standard port was not refused")
	}
}

func TestManyServersStartAtOnce(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			r, err := localserver.StartRedis(t.Context(), localserver.RedisOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := r.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestUnusableServersAreToldApart(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	bad := filepath.Join(t.TempDir(), "no-such-server")
	_, err := localserver.StartRedis(t.Context(), localserver.RedisOptions{Program: bad})
	if !errors.Is(err, localserver.ErrMissing) || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("missing program: %v, want ErrMissing with the install hint", err)
	}
	_, err = localserver.StartRedis(t.Context(), localserver.RedisOptions{Config: []string{"no-such-directive yes"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-directive") {
		t.Errorf("bad configuration: %v, want what the server says", err)
	}
}

func TestRedisURLForTestTakesTheServerThatTheEnvironmentNames(t *testing.T) {
	const url = "redis://real.example:1234/3"
	t.Setenv(localserver.RedisEnv, url)
	if got := localserver.RedisURLForTest(t); got != url {
		t.Errorf("RedisURLForTest is %q, want %q", got, url)
	}
}
