package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// kept is an acquire or campaign that runs.
type kept struct {
	t         *testing.T
	cmd       *exec.Cmd
	in        io.WriteCloser
	out, errs *stream
}

// holds starts one as a process.
func holds(t *testing.T, args ...string) *kept {
	t.Helper()
	return holdsWith(t, "", args...)
}

// holdsWith starts one as a process, with a config file unless that is empty.
func holdsWith(t *testing.T, file string, args ...string) *kept {
	t.Helper()
	return holdsIn(t, nil, file, args...)
}

// holdsIn starts one as a process, with more variables.
func holdsIn(t *testing.T, environ []string, file string, args ...string) *kept {
	t.Helper()
	h := &kept{t: t, cmd: command(t, args...), out: newStream(), errs: newStream()}
	h.cmd.Stdout, h.cmd.Stderr = h.out, h.errs
	h.cmd.Env = append(h.cmd.Env, environ...)
	if file != "" {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		h.cmd.Env = append(h.cmd.Env, "COORDTOP_CONFIG="+path)
	}
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v said %q", args, h.errs)
		}
	})
	return h
}

func (h *kept) types(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

type heldLine struct {
	At, Event, Name string
	Owner           *struct{ ID, Label string }
	Data            *struct{ Text string }
	Until           *string `json:"trusted_until"`
	Place           int
	Notification    *struct{ Channel, Payload string }
	Detail          *string
}

// signals sends a signal to the process.
func (h *kept) signals(s syscall.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.t.Fatal(err)
	}
}

// stops stops the process, and returns when it stands still.
func (h *kept) stops() {
	h.t.Helper()
	h.signals(syscall.SIGSTOP)
	var status syscall.WaitStatus
	_, err := syscall.Wait4(h.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(h.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		h.t.Fatalf("it did not stop: %v, %v", status, err)
	}
}

// line waits for the nth line, from 1, and checks its event.
func (h *kept) line(n int, event string) heldLine {
	h.t.Helper()
	text := h.out.await(h.t, func(s string) bool { return strings.Count(s, "\n") >= n })
	var l heldLine
	if err := json.Unmarshal([]byte(strings.Split(text, "\n")[n-1]), &l); err != nil {
		h.t.Fatal(err)
	}
	if l.Event != event {
		h.t.Fatalf("line %d is %+v, want %s; %s", n, l, event, h.errs)
	}
	return l
}

func (h *kept) ends(code int) {
	h.t.Helper()
	if got := ends(h.t, h.cmd); got != code {
		h.t.Errorf("exit code %d, want %d: %s%s", got, code, h.out, h.errs)
	}
}

// home is the home directory of the process.
func (h *kept) home() string {
	home := ""
	for _, v := range h.cmd.Env {
		if dir, ok := strings.CutPrefix(v, "HOME="); ok {
			home = dir
		}
	}
	return home
}

// audit are the lines that the process wrote, as far as they are asked for here.
func (h *kept) audit() []string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.home(), ".local", "state", "coordtop", auditName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		var rec struct{ Action, Stage, Result string }
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			h.t.Fatalf("%q: %v", line, err)
		}
		list = append(list, strings.TrimSpace(rec.Action+" "+rec.Stage+" "+rec.Result))
	}
	return list
}

// recorded waits until the audit has a line.
func (h *kept) recorded(line string) {
	h.t.Helper()
	eventually(h.t, "the audit has "+line, func() bool { return slices.Contains(h.audit(), line) })
}

func gone(t *testing.T, c *redis.Client, key string) {
	t.Helper()
	if value, err := c.Get(context.Background(), key).Result(); !errors.Is(err, redis.Nil) {
		t.Errorf("%s has %q, %v", key, value, err)
	}
}

func TestCampaignLeadsObeysLinesAndResigns(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := holds(t, "campaign", "--write", "--yes", "--data", "hello", server.URL()+"?election=app:leader:x")
	first := h.line(1, "acquired")
	if first.Name != "app:leader:x" || first.Owner == nil || first.Until == nil || first.Data == nil || !strings.HasSuffix(first.Data.Text, " hello") {
		t.Errorf("it says %+v", first)
	}
	h.recorded("campaign after done")
	h.types("proclaim draining now")
	identity, _ := strings.CutSuffix(first.Data.Text, " hello")
	if l := h.line(2, "proclaimed"); l.Data.Text != identity+" draining now" || l.Owner.ID != first.Owner.ID || l.Owner.Label != identity {
		t.Errorf("it says %+v", l)
	}
	if value, err := c.Get(context.Background(), "app:leader:x").Result(); !strings.HasSuffix(value, " "+identity+" draining now") {
		t.Errorf("others see %q, %v", value, err)
	}
	h.recorded("proclaim after done")
	h.types("abdicate")
	h.line(3, "refused")
	h.types("resign")
	if l := h.line(4, "resigning"); l.Until == nil || l.Owner == nil {
		t.Errorf("it says %+v", l)
	}
	if l := h.line(5, "resigned"); l.Until != nil {
		t.Errorf("it says %+v", l)
	}
	gone(t, c, "app:leader:x")
	h.ends(0)
	if got := strings.Join(h.audit(), ", "); !strings.HasPrefix(got, "campaign before, campaign after done, proclaim before, proclaim after done, resign before, resign after") {
		t.Errorf("the audit has %q", got)
	}
}

func TestTheEndOfInputAndSignalsResign(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	for name, end := range map[string]func(h *kept) error{
		"end":     func(h *kept) error { return h.in.Close() },
		"SIGTERM": func(h *kept) error { return h.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(h *kept) error { return h.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGINT":  func(h *kept) error { return h.cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := holds(t, "acquire", "--write", "--yes", server.URL()+"?mutex=app:lock:"+name)
			h.line(1, "acquired")
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			h.line(2, "resigning")
			h.line(3, "resigned")
			gone(t, c, "app:lock:"+name)
			h.ends(0)
		})
	}
}

func TestWhatIsNotConfirmedOrPossibleHasItsExitCode(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:lock:taken", "host-a:1", time.Minute)
	set(t, c, "app:leader:x", "host-b:2", time.Minute)
	w := newWorld(t)
	w.write(t, configFile, "sources:\n- {name: ro, url: '"+server.URL()+"', read_only: true, watch: [mutex: 'app:*']}\n"+
		"- {name: pr, url: '"+server.URL()+"', protect: true, watch: [mutex: 'app:lock:*', election: 'app:leader:*']}\n")
	address := server.URL()
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"acquire pr/app:lock:taken", exitUsage, "add --write --yes"},
		{"acquire --write pr/app:lock:taken", exitUsage, "add --write --yes"},
		{"acquire --write --yes ro/app:lock:taken", exitReadOnly, "read_only"},
		{"acquire --write --yes pr/app:lock:taken", exitUsage, "add --reason"},
		{"acquire --write --yes --reason r pr/app:lock:none", exitNotFound, "not found"},
		{"acquire --write --yes --reason r pr/app:leader:x", exitCannot, "campaign"},
		{"campaign --write --yes --reason r pr/app:lock:taken", exitCannot, "acquire"},
		{"acquire --write --yes --reason r --wait 0 pr/app:lock:taken", exitTimeout, "owned by host-a:1"},
		{"acquire --write --yes --reason r --shared pr/app:lock:taken", exitCannot, "share"},
		{"acquire --write --yes --reason r --permits 2 pr/app:lock:taken", exitCannot, "permits"},
		{"acquire --write --yes " + address, exitUsage, "exactly one of"},
		{"acquire --write --yes " + address + "?mutex=app:lock:*", exitUsage, "exactly one of"},
		{"acquire --write --yes " + address + "?mutex=a&election=b", exitUsage, "exactly one of"},
		{"acquire --write --yes redis://127.0.0.1:1/0?mutex=a", exitNoAnswer, "127.0.0.1:1"},
	} {
		w.stdout, w.stderr = newStream(), newStream()
		code := w.main(t.Context(), strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(w.stderr.String(), tt.says) || w.stdout.String() != "" {
			t.Errorf("%s: exit code %d, want %d with %q: %s%s", tt.args, code, tt.code, tt.says, w.stderr, w.stdout)
		}
	}
	if value, err := c.Get(t.Context(), "app:lock:taken").Result(); value != "host-a:1" {
		t.Errorf("the lock has %q, %v", value, err)
	}
}

// So does a service manager start what it runs.
func TestAnInputThatNobodyHoldsEndsNothing(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	for _, taken := range []bool{false, true} {
		h := &kept{t: t, cmd: command(t, "acquire", "--write", "--yes", server.URL()+"?mutex=app:lock:null"), out: newStream(), errs: newStream()}
		h.cmd.Stdout, h.cmd.Stderr = h.out, h.errs // its input is /dev/null
		if taken {
			set(t, c, "app:lock:null", "host-a:1", time.Minute)
		}
		if err := h.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if taken {
			h.errs.await(t, func(s string) bool { return strings.Contains(s, "waiting for") })
			c.Del(t.Context(), "app:lock:null")
		}
		h.line(1, "acquired")
		h.signals(syscall.SIGTERM)
		h.line(2, "resigning")
		h.line(3, "resigned")
		h.ends(exitOK)
	}
}

func TestAWaitThatRunsOutEndsWithItsExitCode(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:lock:taken", "host-a:1", time.Minute)
	h := holds(t, "acquire", "--write", "--yes", "--wait", "200ms", server.URL()+"?mutex=app:lock:taken")
	h.ends(exitTimeout)
	if got := strings.Join(h.audit(), ", "); got != "acquire before, acquire after missed" {
		t.Errorf("the audit has %q", got)
	}
}

func TestALeaseThatIsTakenAwayEndsTheCommand(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	h := holds(t, "campaign", "--write", "--yes", server.URL()+"?election=app:leader:x")
	h.line(1, "acquired")
	set(t, c, "app:leader:x", "thief:1", time.Minute)
	if l := h.line(2, "lost"); l.Until != nil {
		t.Errorf("what is lost is trusted until %s", *l.Until)
	}
	h.ends(exitLost)
	if text := h.errs.String(); !strings.HasPrefix(text, "coordtop: app:leader:x: the server has nothing of this name") || !strings.Contains(text, "\ncoordtop: lost after ") {
		t.Errorf("said %s", text)
	}
	if value, err := c.Get(t.Context(), "app:leader:x").Result(); value != "thief:1" {
		t.Errorf("the key has %q, %v", value, err)
	}
}

func TestAProcessThatDiesLeavesTheFirstLineOfTheAudit(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:lock:taken", "host-a:1", time.Minute)
	h := holds(t, "acquire", "--write", "--yes", server.URL()+"?mutex=app:lock:taken")
	h.recorded("acquire before")
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	h.ends(-1)
	if got := strings.Join(h.audit(), ", "); got != "acquire before" {
		t.Errorf("the audit has %q", got)
	}
}
