package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// guardOf is the guard of the only owner of the only primitive that get shows.
func guardOf(t *testing.T, url string) string {
	t.Helper()
	w := newWorld(t)
	w.main(t.Context(), "get", "-o", "json", url)
	var got struct {
		Primitives []struct{ Owners []struct{ Guard string } }
	}
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil || len(got.Primitives) != 1 || len(got.Primitives[0].Owners) != 1 {
		t.Fatalf("%v: %s%s", err, w.stdout, w.stderr)
	}
	return got.Primitives[0].Owners[0].Guard
}

// releases runs release on a row, and returns the exit code and what it printed.
func releases(t *testing.T, w *world, url, guard string, more ...string) (code int, line struct{ Result, Detail string }) {
	t.Helper()
	code = w.main(t.Context(), append([]string{"release", url, "--if-owner", guard}, more...)...)
	if text := w.stdout.String(); text != "" {
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	return code, line
}

func TestReleaseEndsWhatAnotherOwnsAndTellsTheResult(t *testing.T) {
	t.Parallel()
	confirmed := []string{"--reason", "its host is gone", "--write", "--yes"}
	for name, prepare := range map[string]func(t *testing.T) (url string, owned func() bool, change func()){
		"redis": func(t *testing.T) (string, func() bool, func()) {
			s := localserver.RedisForTest(t, localserver.RedisOptions{})
			c := writer(t, s.Addr())
			set(t, c, "app:lock:x", "host-1:1", 0)
			return "redis://" + s.Addr() + "/0?mutex=app:lock:x",
				func() bool { return c.Exists(context.Background(), "app:lock:x").Val() == 1 },
				func() { set(t, c, "app:lock:x", "host-2:2", 0) }
		},
		"postgres": func(t *testing.T) (string, func() bool, func()) {
			s := localserver.PostgresForTest(t, localserver.PostgresOptions{})
			first := login(t, s.URL(), "mary")
			first.does("select pg_advisory_lock(4242)")
			watch := login(t, s.URL(), "observer")
			return s.URL() + "&mutex=4242",
				func() bool {
					var n int
					if err := watch.conn.QueryRow(context.Background(), "select count(*) from pg_locks where locktype = 'advisory' and granted").Scan(&n); err != nil {
						t.Fatal(err)
					}
					return n > 0
				},
				func() {
					first.does("select pg_advisory_unlock(4242)")
					login(t, s.URL(), "john").does("select pg_advisory_lock(4242)")
				}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, owned, change := prepare(t)
			guard := guardOf(t, url)
			for what, c := range map[string]struct {
				guard string
				more  []string
				code  int
				says  string
			}{
				"without --write --yes": {guard, nil, exitUsage, "add --write --yes to mean it"},
				"without --yes":         {guard, []string{"--write"}, exitUsage, "add --write --yes to mean it"},
				"without an owner":      {"", confirmed, exitUsage, "--if-owner is missing: say whose ownership is to end, now " + guard},
				"of another owner":      {guard + "0", confirmed, exitChanged, "no owner has the guard of --if-owner; owned now by " + guard},
			} {
				w := newWorld(t)
				if code, line := releases(t, w, url, c.guard, c.more...); code != c.code || !strings.Contains(w.stderr.String(), c.says) || line.Result != "" || !owned() {
					t.Errorf("%s: exit code %d, printed %+v: %s", what, code, line, w.stderr)
				}
			}
			change()
			w := newWorld(t)
			if code, line := releases(t, w, url, guard, confirmed...); code != exitChanged || line.Result != "" || !owned() {
				t.Errorf("when another owns it: exit code %d, printed %+v: %s", code, line, w.stderr)
			}
			w = newWorld(t)
			code, line := releases(t, w, url, guardOf(t, url), confirmed...)
			if code != exitOK || line.Result != "done" || owned() {
				t.Errorf("exit code %d, printed %+v: %s", code, line, w.stderr)
			}
			audit, err := os.ReadFile(filepath.Join(w.home, ".local/state/coordtop", auditName))
			if err != nil || strings.Count(string(audit), "its host is gone") != 2 || !strings.Contains(string(audit), `"release"`) {
				t.Errorf("the audit has %s, %v", audit, err)
			}
			if code, _ := releases(t, newWorld(t), url, guard, confirmed...); code != exitChanged {
				t.Errorf("of nobody: exit code %d", code)
			}
		})
	}
}

// lastInstant is a driver for which something happens just before it ends what another owns.
type lastInstant struct {
	coord.Driver
	before func()
}

func (d lastInstant) ForceRelease(ctx context.Context, f coord.Foreign) error {
	d.before()
	return d.Driver.(coord.ForceReleaser).ForceRelease(ctx, f)
}

// ownedLock is a lock of host-1:1 on a server of its own.
func ownedLock(t *testing.T) (c *redis.Client, url, guard string) {
	t.Helper()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c = writer(t, s.Addr())
	set(t, c, "app:lock:x", "host-1:1", 0)
	url = "redis://" + s.Addr() + "/0?mutex=app:lock:x"
	return c, url, guardOf(t, url)
}

func TestReleaseIsComparedByTheServerAtTheLastInstant(t *testing.T) {
	t.Parallel()
	c, url, guard := ownedLock(t)
	// The key is another's between the look and the script, and the watch cannot have seen it yet.
	w := newWorld(t)
	w.wrapDriver = func(d coord.Driver) coord.Driver {
		return lastInstant{d, func() { set(t, c, "app:lock:x", "host-2:2", 0) }}
	}
	code, line := releases(t, w, url, guard, "--write", "--yes")
	if code != exitChanged || line.Result != "missed" {
		t.Errorf("exit code %d, printed %+v: %s", code, line, w.stderr)
	}
	if owner := c.Get(t.Context(), "app:lock:x").Val(); owner != "host-2:2" {
		t.Errorf("it is owned by %q", owner)
	}
}

func TestReleaseSaysWhyItIsNotPossible(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, s.Addr())
	set(t, c, "app:lock:x", "host-1:1", time.Hour)
	_, locks := dflockd(t, dflocktest.Options{})
	h := holds(t, "acquire", "--write", "--yes", locks+"?mutex=m")
	h.line(1, "acquired")
	url := "redis://" + s.Addr() + "/0?mutex=app:lock:x"
	confirmed := []string{"--write", "--yes"}
	for what, c := range map[string]struct {
		config, target string
		more           []string
		code           int
		says           string
	}{
		"a read-only source":       {"read_only: true", "r/app:lock:x", confirmed, exitReadOnly, "read_only"},
		"a protected source":       {"protect: true", "r/app:lock:x", confirmed, exitUsage, "add --reason TEXT"},
		"no such name":             {"", "r/app:lock:y", confirmed, exitNotFound, "did you mean r/app:lock:x?"},
		"a whole source":           {"", "r", confirmed, exitUsage, "name one primitive"},
		"a backend that cannot be": {"", locks + "?mutex=m", confirmed, exitCannot, "its lease ends in"},
	} {
		w := newWorld(t)
		w.write(t, configFile, fmt.Sprintf("sources: [{name: r, url: 'redis://%s', watch: [{mutex: 'app:lock:*'}]%s}]", s.Addr(), strings.TrimSuffix(", "+c.config, ", ")))
		if code, line := releases(t, w, c.target, guardOf(t, url), c.more...); code != c.code || !strings.Contains(w.stderr.String(), c.says) || line.Result != "" {
			t.Errorf("%s: exit code %d, printed %+v: %s", what, code, line, w.stderr)
		}
	}
	if n := c.Exists(t.Context(), "app:lock:x").Val(); n != 1 {
		t.Error("it is gone")
	}
	w := newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: r, url: 'redis://%s', protect: true, watch: [{mutex: 'app:lock:*'}]}]", s.Addr()))
	if code, line := releases(t, w, "r/app:lock:x", guardOf(t, url), "--write", "--yes", "--reason", "gone"); code != exitOK || line.Result != "done" {
		t.Errorf("a protected source with a reason: exit code %d, %+v: %s", code, line, w.stderr)
	}
	h.types("resign")
	h.ends(exitOK)
}

func TestReleaseThatIsNotPossibleNamesTheRightOrTheSetting(t *testing.T) {
	t.Parallel()
	const ann = "user: ann, password_command: [echo, x], "
	onRedis := func(user string, write ...any) func(*testing.T) string {
		return func(t *testing.T) string {
			s := localserver.RedisForTest(t, localserver.RedisOptions{Users: []string{"ann on >x ~* &* " + user}})
			if err := writer(t, s.Addr()).Do(t.Context(), write...).Err(); err != nil {
				t.Fatal(err)
			}
			return "sources: [{name: s, url: 'redis://" + s.Addr() + "', " + ann + "watch: [{mutex: x}]}]"
		}
	}
	onYDB := func(allows string, deny ydbtest.Rights) func(*testing.T) string {
		return func(t *testing.T) string {
			s := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{"root": {Password: "x"}, "ann": {Password: "x", Deny: deny}}})
			d, err := ydbcoord.New(strings.Replace(s.URL(0), "://", "://root:x@", 1)+"?node="+ydbNode, ydbcoord.Options{})
			if err != nil {
				t.Fatal(err)
			}
			session, err := coord.Open(context.Background(), d, coord.SessionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = session.Close(context.Background()), d.Close(context.Background()) })
			permits(t, session, "quota", 1, "host-1:1")
			return "sources: [{name: s, url: '" + s.URL(0) + "', " + ann + allows + ", watch: [{semaphore: quota, node: " + ydbNode + "}]}]"
		}
	}
	for name, c := range map[string]struct {
		config func(*testing.T) string
		says   string
	}{
		"redis, no right to delete":       {onRedis("+@all -del", "SET", "x", "host-1:1"), "DEL"},
		"redis, no right to run a script": {onRedis("+@all -@scripting", "SET", "x", "host-1:1"), "evalsha"},
		"redis, a value that is too long": {onRedis("+@all", "SET", "x", strings.Repeat("x", 5000)), "longer than the 4096 bytes"},
		"redis, a list":                   {onRedis("+@all", "RPUSH", "x", "host-1:1"), "a list"},
		"ydb, a protected owner":          {onYDB("clients_unprotected: true", 0), "protected by a key"},
		"ydb, no right to delete":         {onYDB("allow_recreate: true", ydbtest.Erase), "erase"},
		"ydb, no right to create anew":    {onYDB("allow_recreate: true", ydbtest.Write), "write"},
		"ydb, by default":                 {onYDB("read_only: false", 0), "clients_unprotected"},
		"postgres, no right": {func(t *testing.T) string {
			p := localserver.PostgresForTest(t, localserver.PostgresOptions{Setup: []string{"create role ann login"}})
			login(t, p.URL(), "mary").does("select pg_advisory_lock(4242)")
			return "sources: [{name: s, url: '" + p.URLFor("ann", "", "postgres") + "', watch: [{mutex: 4242}]}]"
		}, "superuser"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(t, configFile, c.config(t))
			w.main(t.Context(), "get", "-o", "json", "s")
			var got struct {
				Primitives []struct {
					Name   string
					Owners []struct{ Guard string }
				}
			}
			if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil || len(got.Primitives) != 1 {
				t.Fatalf("%v: %s%s", err, w.stdout, w.stderr)
			}
			guard := "none"
			if owners := got.Primitives[0].Owners; len(owners) > 0 {
				guard = owners[0].Guard
			}
			w.stdout, w.stderr = newStream(), newStream()
			code, line := releases(t, w, "s/"+got.Primitives[0].Name, guard, "--write", "--yes")
			if code != exitCannot || line.Result == "done" || !strings.Contains(w.stderr.String(), c.says) {
				t.Errorf("exit code %d, printed %+v: %s", code, line, w.stderr)
			}
		})
	}
}

func TestReleaseSaysOfANameThatNobodyBearsWhatGetSays(t *testing.T) {
	t.Parallel()
	redis := "redis://" + localserver.RedisForTest(t, localserver.RedisOptions{}).Addr() + "/0?"
	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL() + "&"
	for url, says := range map[string]string{
		redis + "mutex=app:lock:stuk": "free, or misspelt: nobody owns anything of this name",
		redis + "election=app:ledr":   "the server has nothing of this name: is it misspelt?",
		postgres + "mutex=4243":       "free, or misspelt: nobody owns anything of this name",
		postgres + "election=4243":    "the server has nothing of this name: is it misspelt?",
	} {
		w := newWorld(t)
		w.main(t.Context(), "get", url)
		if !strings.Contains(w.stdout.String(), says) {
			t.Errorf("get %s does not say %q: %s%s", url, says, w.stdout, w.stderr)
		}
		w = newWorld(t)
		code, line := releases(t, w, url, "redis:3b2f", "--write", "--yes")
		if text := w.stderr.String(); code != exitChanged || line.Result != "" || !strings.Contains(text, "nothing was released: ") || !strings.Contains(text, says) {
			t.Errorf("%s: exit code %d, printed %+v: %s", url, code, line, text)
		}
	}
}

func TestReleaseChecksItsArgumentsBeforeItAsksToConfirm(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, s.Addr()), "app:lock:x", "host-1:1", 0)
	config := fmt.Sprintf("sources: [{name: r, url: 'redis://%s', watch: [{mutex: 'app:lock:*'}]}, {name: p, url: 'redis://%s', protect: true}]", s.Addr(), s.Addr())
	for says, args := range map[string][]string{
		"no config names this source":                                {"q/app:lock:x", "--if-owner", "g"},
		"name one primitive":                                         {"r", "--if-owner", "g"},
		"--if-owner is missing: say whose ownership is to end, now ": {"r/app:lock:x"},
		"and --reason TEXT: p is protected":                          {"p/app:lock:x", "--if-owner", "g"},
		"add --write --yes to mean it":                               {"r/app:lock:x", "--if-owner", "g"},
	} {
		w := newWorld(t)
		w.write(t, configFile, config)
		if code := w.main(t.Context(), append([]string{"release"}, args...)...); code != exitUsage || !strings.Contains(w.stderr.String(), says) {
			t.Errorf("%v: exit code %d: %s", args, code, w.stderr)
		}
	}
}

func TestReleaseAsksForTheNameOnATerminal(t *testing.T) {
	t.Parallel()
	c, url, guard := ownedLock(t)
	for _, try := range []struct {
		typed string
		code  int
		left  int64
	}{{"y", exitUsage, 1}, {"app:lock:y", exitUsage, 1}, {"app:lock:x", exitOK, 0}} {
		on := inSight(t, command(t, "release", url, "--if-owner", guard))
		on.await("Type app:lock:x to end this ownership").keys(try.typed + "\r")
		if code := ends(t, on.cmd); code != try.code {
			t.Errorf("%s: exit code %d", try.typed, code)
		}
		if n := c.Exists(t.Context(), "app:lock:x").Val(); n != try.left {
			t.Errorf("%s: %d left", try.typed, n)
		}
	}
}

func TestReleaseEndsOnASignalWhileItAsks(t *testing.T) {
	t.Parallel()
	c, url, guard := ownedLock(t)
	for name, interrupt := range map[string]func(*sight){
		"ctrl-C":  func(on *sight) { on.keys("\x03") },
		"SIGTERM": func(on *sight) { _ = on.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		on := inSight(t, command(t, "release", url, "--if-owner", guard))
		interrupt(on.await("Type app:lock:x to end this ownership"))
		on.await("interrupted") // abandon would end it without this word
		if code := ends(t, on.cmd); code != exitError {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
	if n := c.Exists(t.Context(), "app:lock:x").Val(); n != 1 {
		t.Error("it was released")
	}
}
