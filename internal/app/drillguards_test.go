package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/localserver"
)

func TestADrillEndsAtAStrangerAndTouchesNothing(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := drills(t, server.URL()+"?election=app:leader:x", "--write", "--yes", "--rounds", "100", "--lease", "1s", "--how", "resign")
	h.round(1)
	set(t, c, "app:leader:x", "stranger:1", 0)
	d := h.result(exitChanged)
	if d.Early == nil || !strings.Contains(*d.Early, "stranger:1 ") || len(d.Rounds) == 0 {
		t.Errorf("%+v", d)
	}
	if got := c.Get(t.Context(), "app:leader:x").Val(); got != "stranger:1" {
		t.Errorf("the stranger's key has %q", got)
	}
	h.recorded("drill after failed")
}

func TestADrillEndsWithoutAServer(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	h := drills(t, server.URL()+"?election=app:leader:x", "--write", "--yes", "--rounds", "100", "--lease", "1s", "--how", "resign")
	h.round(1)
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := h.result(exitNoAnswer); d.Early == nil || len(d.Rounds) == 0 {
		t.Errorf("%+v", d)
	}
}

func TestADrillEndsWhereNobodyCanLead(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := drills(t, server.URL()+"?election=app:leader:x", "--write", "--yes", "--rounds", "100", "--lease", "1s")
	h.round(1)
	for setting, value := range map[string]string{"maxmemory-policy": "noeviction", "maxmemory": "1"} { // no key can be set any more
		if err := c.ConfigSet(t.Context(), setting, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if d := h.result(exitTimeout); d.Early == nil || !strings.Contains(*d.Early, "no leader") {
		t.Errorf("%+v", d)
	}
	gone(t, c, "app:leader:x")
}

func TestADrillIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:leader:led", "host-1:1", 0)
	url := server.URL() + "?election="
	source := fmt.Sprintf("sources: [{name: leases, url: %q, watch: [{election: app:leader:x}], ", server.URL())
	for name, c := range map[string]struct {
		config string
		args   []string
		code   int
		says   string
	}{
		"without confirmation":      {"", []string{url + "app:leader:x"}, exitUsage, "add --write --yes"},
		"where somebody leads":      {"", []string{url + "app:leader:led", "--write", "--yes"}, exitCannot, "host-1:1 leads it"},
		"a mutex":                   {"", []string{server.URL() + "?mutex=app:leader:x", "--write", "--yes"}, exitCannot, "no election"},
		"one candidate":             {"", []string{url + "app:leader:x", "--write", "--yes", "--candidates", "1"}, exitUsage, "--candidates"},
		"no such way":               {"", []string{url + "app:leader:x", "--write", "--yes", "--how", "nicely"}, exitUsage, "kill, stop, cut, resign or release"},
		"a stranger by --yes":       {"", []string{url + "app:leader:led", "--write", "--yes", "--how", "release"}, exitUsage, "--if-owner is missing"},
		"several rounds, one guard": {"", []string{url + "app:leader:led", "--write", "--yes", "--how", "release", "--if-owner", "g"}, exitUsage, "--rounds 1"},
		"a lease that is too short": {"", []string{url + "app:leader:x", "--write", "--yes", "--lease", "1ms"}, exitCannot, "lease"},
		"read-only":                 {source + "read_only: true}]", []string{"leases/app:leader:x", "--write", "--yes"}, exitReadOnly, "read_only"},
		"protected":                 {source + "protect: true}]", []string{"leases/app:leader:x", "--write", "--yes"}, exitUsage, "add --reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.config != "" {
				w.write(t, configFile, c.config+"\n")
			}
			if code := w.main(t.Context(), append([]string{"drill"}, c.args...)...); code != c.code || !strings.Contains(w.stderr.String(), c.says) {
				t.Errorf("exit code %d, want %d: %s", code, c.code, w.stderr)
			}
			if _, err := os.Stat(filepath.Join(w.home, ".local", "state", "coordtop", auditName)); err == nil {
				t.Error("the audit has something")
			}
		})
	}
	gone(t, c, "app:leader:x")
}

func TestADrillOfAProtectedSourceIsAuditedWithItsReason(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	file := fmt.Sprintf("sources: [{name: leases, url: %q, watch: [{election: app:leader:x}], protect: true}]\n", server.URL())
	svg := filepath.Join(t.TempDir(), "drill.svg")
	h := holdsWith(t, file, "drill", "leases/app:leader:x", "--write", "--yes", "--reason", "rehearsal", "--rounds", "1", "--lease", "1s", "--pause", "100ms", "--how", "resign", "--svg", svg)
	h.ends(exitOK)
	for _, want := range []string{"round 1 of 1: drill-", "1 of 1 rounds, each leader resigned; 2 candidates of our own, TTL 1.0 s", "\nno leader "} {
		if !strings.Contains(h.out.String(), want) {
			t.Errorf("%q is not in %s", want, h.out)
		}
	}
	h.recorded("drill before")
	h.recorded("drill after done")
	if picture, err := os.ReadFile(svg); err != nil || !strings.Contains(string(picture), "drill-") {
		t.Errorf("the picture: %v, %.300s", err, picture)
	}
}

func TestAStrangersLeaderIsReleasedOnceForEachConfirmation(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	rivals := []*rival{newRival(t, server.URL(), "app:leader:x"), nil}
	rivals[0].leads(t)
	rivals[1] = newRival(t, server.URL(), "app:leader:x")
	url := server.URL() + "?election=app:leader:x"
	guard := guardOf(t, url)
	h := drills(t, url, "--how", "release", "--rounds", "1", "--write", "--yes", "--if-owner", guard)
	d := h.result(exitOK)
	if len(d.Rounds) != 1 || d.Rounds[0].OwnMS != nil || d.Rounds[0].NobodyMS == nil || d.Rounds[0].Leader.ID == d.Rounds[0].Next.ID {
		t.Errorf("%+v", d)
	}
	drills(t, url, "--how", "release", "--rounds", "1", "--write", "--yes", "--if-owner", guard).ends(exitChanged) // another leads now
	if !strings.HasSuffix(c.Get(t.Context(), "app:leader:x").Val(), rivalName) {
		t.Error("the next leader is gone")
	}
	drills(t, url, "--write", "--yes").ends(exitCannot) // a stranger is never killed
}

// candidatesOf returns the processes that a drill has started.
func candidatesOf(t *testing.T, h *kept) (pids []string) {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", fmt.Sprint(h.cmd.Process.Pid)).Output()
	if err != nil {
		t.Fatalf("no candidates: %v", err)
	}
	return strings.Fields(string(out))
}

func TestADrillThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		for _, way := range []string{"resign", "stop"} {
			t.Run(s.String()+" "+way, func(t *testing.T) {
				t.Parallel()
				key := "app:leader:" + way + s.String()
				h := drills(t, server.URL()+"?election="+strings.ReplaceAll(key, " ", "%20"), "--write", "--yes", "--rounds", "100", "--lease", "1s", "--how", way)
				h.round(1)
				pids := candidatesOf(t, h)
				h.signals(s)
				code := ends(t, h.cmd)
				if want := map[bool]int{true: -1, false: exitError}[s == syscall.SIGKILL]; code != want {
					t.Errorf("exit code %d, want %d: %s", code, want, h.errs)
				}
				eventually(t, "no candidate is left", func() bool {
					for _, pid := range pids {
						if state, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(state), ") Z ") {
							return false
						}
					}
					return true
				})
				eventually(t, "nobody leads", func() bool { return c.Exists(context.Background(), key).Val() == 0 })
				if s != syscall.SIGKILL {
					h.recorded("drill after failed")
				}
			})
		}
	}
}
