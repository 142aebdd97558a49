package app

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// socketRedis starts a server with a password that has a socket too, and returns the socket's path.
func socketRedis(t *testing.T) (path string, c *redis.Client) {
	t.Helper()
	server := localserver.RedisForTest(t, localserver.RedisOptions{Password: marker, Config: []string{"unixsocket redis.sock"}})
	path = filepath.Join(server.Dir(), "redis.sock")
	c = redis.NewClient(&redis.Options{Network: "unix", Addr: path, Password: marker, DB: 1})
	t.Cleanup(func() { _ = c.Close() })
	return path, c
}

func TestARedisIsReachedByItsSocket(t *testing.T) {
	t.Parallel()
	path, c := socketRedis(t)
	set(t, c, "app:leader:billing", "host-07:4411", time.Hour)
	url := "unix://:" + marker + "@" + path + "?db=1"
	for name, start := range map[string]func(w *world) []string{
		"an argument": func(*world) []string { return []string{url + "&election=app:leader:*"} },
		"the environment": func(w *world) []string {
			w.vars["REDIS_URL"] = url
			return nil
		},
		"the config file": func(w *world) []string {
			w.vars["SECRET"] = marker
			w.write(t, configFile, "sources: [{url: 'unix://"+path+"?db=1', password_env: SECRET}]\n")
			return []string{"redis.sock/1/app:leader:billing"}
		},
	} {
		w := newWorld(t)
		if code := w.main(t.Context(), append([]string{"get", "-o", "json"}, start(w)...)...); code != exitOK {
			t.Errorf("%s: exit code %d: %s", name, code, w.stderr)
			continue
		}
		var got struct {
			Sources    []struct{ Name, Type, Mode string }
			Primitives []struct{ Name, Namespace string }
		}
		if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Sources) != 1 || got.Sources[0].Name != "redis.sock" || got.Sources[0].Mode != "tracking" {
			t.Errorf("%s: sources %+v", name, got.Sources)
		}
		if len(got.Primitives) != 1 || got.Primitives[0].Name != "app:leader:billing" || got.Primitives[0].Namespace != "1" {
			t.Errorf("%s: primitives %+v", name, got.Primitives)
		}
		if strings.Contains(w.stdout.String()+w.stderr.String(), marker) {
			t.Errorf("%s: the password is shown", name)
		}
	}
}

func TestALockIsAcquiredByASocket(t *testing.T) {
	t.Parallel()
	path, c := socketRedis(t)
	h := holds(t, "acquire", "--write", "--yes", "unix://:"+marker+"@"+path+"?db=1&mutex=app:lock:x")
	h.line(1, "acquired")
	if n, err := c.Exists(t.Context(), "app:lock:x").Result(); n != 1 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	h.signals(syscall.SIGTERM)
	h.ends(exitOK)
	if n, err := c.Exists(t.Context(), "app:lock:x").Result(); n != 0 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	if strings.Contains(h.out.String()+h.errs.String(), marker) {
		t.Error("the password is shown")
	}
}

func TestDoctorExaminesASocket(t *testing.T) {
	t.Parallel()
	path, _ := socketRedis(t)
	lines := examined(t, newWorld(t), exitOK, "unix://:"+marker+"@"+path+"?keys=app:*")
	if bad := append(graded(lines, "warn"), graded(lines, "fail")...); len(bad) > 0 {
		t.Errorf("it complains: %q", bad)
	}
	has(t, lines, "redis.sock unix://"+path, "ok connect "+path+" in ", "ok TLS none", "ok login as default", "ok changes pushed: tracking")
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "ok name ") }) {
		t.Error("a socket has no host to be found")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for bad, want := range map[string]string{
		"unix://" + dir + "/none.sock": "fail connect there is no socket at " + dir + "/none.sock: check the path, and whether the server runs",
		"unix://" + file:               "fail connect cannot connect to " + file + ": it is no socket",
		"unix://" + dir:                "fail connect cannot connect to " + dir + ": it is no socket",
		"unix://" + file + "/x.sock":   "fail connect cannot connect to " + file + "/x.sock: connect: not a directory",
	} {
		if failures := graded(examined(t, newWorld(t), exitFailed, bad), "fail"); len(failures) != 1 || failures[0] != want {
			t.Errorf("%q, want %q", failures, want)
		}
	}
	if failures := graded(examined(t, newWorld(t), exitNoAnswer, "unix://"+path), "fail"); len(failures) != 1 || !strings.HasPrefix(failures[0], "fail login the server at "+path+" wants a password for default") {
		t.Errorf("%q", failures)
	}
}

func TestARedisIsReachedByTheVariablesAndTheKeyOfLeaderService(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	host, port, err := net.SplitHostPort(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	set(t, c, "app:leader:billing", "host-07:4411", time.Hour)
	w := newWorld(t)
	w.vars["REDIS_HOST"], w.vars["MUTEX_REDIS_HOST"], w.vars["REDIS_PORT"] = "nowhere.invalid", host, port
	for _, args := range [][]string{{host + "/app:leader:billing"}, {server.URL() + "?prefix=app&leader=billing"}} {
		if code := w.main(t.Context(), append([]string{"get"}, args...)...); code != exitOK || !strings.Contains(w.stdout.String(), "host-07:4411") {
			t.Errorf("%q: exit code %d: %s%s", args, code, w.stdout, w.stderr)
		}
	}
}
