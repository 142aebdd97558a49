package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
)

// nodeJSON is what the tests read of a node that is described.
type nodeJSON struct {
	Namespace, Incarnation string

	Settings                     map[string]string
	Known, Used, Owners, Waiters int
}

func describedNode(t *testing.T, w *world, arg string) (code int, got nodeJSON) {
	t.Helper()
	before := len(w.stdout.String())
	code = w.main(t.Context(), "node", "describe", arg, "-o", "json")
	if text := w.stdout.String()[before:]; text != "" {
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	return code, got
}

func TestANodeIsCreatedAlteredDescribedAndDropped(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	w := newWorld(t)
	w.write(t, configFile, ydbConfig(s, "protect: true", "primary"))
	reasoned := append([]string{"--reason", "a new service"}, sure...)
	steps := []struct {
		args     []string
		event    string
		settings string
	}{
		{[]string{"create", "y/sub/new", "--session-grace-period", "20s", "--read-consistency", "strict"}, "create-node", "read consistency strict, session grace period 20s"},
		{[]string{"alter", "y/local/sub/new", "--self-check-period", "2s", "--attach-consistency", "relaxed", "--rate-limiter-counters", "detailed"}, "alter-node",
			"attach consistency relaxed, rate limiter counters detailed, read consistency strict, self check period 2s, session grace period 20s"},
		{[]string{"drop", "y//local/sub/new"}, "drop-node", ""},
	}
	for _, c := range steps {
		code, line := provisions(t, w, append(append([]string{"node"}, c.args...), reasoned...)...)
		if code != exitOK || line.Event != c.event || line.Result != "done" || line.Namespace != "/local/sub/new" || line.Name != "" {
			t.Fatalf("%q: exit code %d, printed %+v, %s", c.args, code, line, w.stderr)
		}
		code, got := describedNode(t, w, "y/sub/new")
		if c.settings == "" {
			if code != exitNotFound {
				t.Errorf("%q: exit code %d: %s", c.args, code, w.stderr)
			}
			continue
		}
		var settings []string
		for _, name := range []string{"attach consistency", "rate limiter counters", "read consistency", "self check period", "session grace period"} {
			if value := got.Settings[name]; !strings.HasPrefix(value, "not set (") {
				settings = append(settings, name+" "+value)
			}
		}
		if code != exitOK || got.Namespace != "/local/sub/new" || strings.Join(settings, ", ") != c.settings || got.Incarnation == "" || got.Known != 0 {
			t.Errorf("%q: exit code %d, the node is %+v: %s", c.args, code, got, w.stderr)
		}
	}
	audit, err := os.ReadFile(filepath.Join(w.home, ".local/state/coordtop", auditName))
	if err != nil || strings.Count(string(audit), "a new service") != 2*len(steps) || strings.Count(string(audit), `"result":"done"`) != len(steps) {
		t.Errorf("the audit has %s, %v", audit, err)
	}
}

func TestANodeIsNotDroppedWhileAnythingKnownInItIsUsed(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	permits(t, peer(t, s, "a"), "quota", 10, "host-1")
	if _, err := peer(t, s, "w").Semaphore("quota", coord.SemaphoreOptions{Data: []byte("host-2")}).Enqueue(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	if _, err := peer(t, s, "m").Mutex("job", coord.MutexOptions{}).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	url, w := s.URL(0)+"?node="+ydbNode, newWorld(t)
	if code := w.main(t.Context(), "get", url+"&mutex=job&semaphore=quota"); code != exitOK { // it remembers the names
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	if code, got := describedNode(t, w, url); code != exitOK || got.Known != 2 || got.Used != 2 || got.Owners != 2 || got.Waiters != 1 {
		t.Errorf("exit code %d, the node is %+v: %s", code, got, w.stderr)
	}
	for says, c := range map[string]struct {
		args []string
		code int
	}{
		"add --write --yes to mean it":    {nil, exitUsage},
		"it is in use: job owned by":      {sure, exitCannot},
		"--force needs the path":          {append([]string{"--force"}, sure...), exitUsage},
		"--typed is not the path":         {append([]string{"--force", "--typed", "app"}, sure...), exitUsage},
		"--typed is for --force":          {append([]string{"--typed", ydbNode}, sure...), exitUsage},
		"name one coordination node, as ": {append([]string{"&node=/local/b"}, sure...), exitUsage},
	} {
		args, at := c.args, url
		if len(args) > 0 && args[0][0] == '&' {
			at, args = url+args[0], args[1:]
		}
		code := w.main(t.Context(), append([]string{"node", "drop", at}, args...)...)
		if code != c.code || !strings.Contains(w.stderr.String(), says) {
			t.Errorf("%s: exit code %d: %s", says, code, w.stderr)
		}
	}
	late := newWorld(t) // its watch sees nothing, but the last look does
	late.wrapDriver = func(d coord.Driver) coord.Driver {
		return opened{d, func() { permits(t, peer(t, s, "b"), "primary", 1, "host-3") }}
	}
	free := s.URL(0) + "?node=" + ydbNode + "&election=primary"
	if code, line := provisions(t, late, append([]string{"node", "drop", free}, sure...)...); code != exitChanged || line.Result != "missed" {
		t.Errorf("one that came just before: exit code %d, %+v: %s", code, line, late.stderr)
	}
	if len(s.Semaphores(ydbNode)) != 3 {
		t.Fatal("it was dropped")
	}
	if code, line := provisions(t, w, append([]string{"node", "drop", url, "--force", "--typed", ydbNode}, sure...)...); code != exitOK || line.Result != "done" ||
		!strings.Contains(w.stderr.String(), "In use now (3): ") && !strings.Contains(w.stderr.String(), "In use now (2): ") {
		t.Errorf("exit code %d, %+v: %s", code, line, w.stderr)
	}
	if len(s.Semaphores(ydbNode)) != 0 {
		t.Error("it is left")
	}
}

func TestDroppingByForceAsksForThePathOnATerminal(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	permits(t, peer(t, s, "a"), "quota", 10, "host-1")
	for _, try := range []struct {
		typed string
		code  int
	}{{"/local/ap", exitUsage}, {ydbNode, exitOK}} {
		on := inSight(t, command(t, append([]string{"node", "drop", onNode(s, "quota"), "--force"}, sure...)...))
		on.await("In use now (1): quota owned by host-1.")
		on.await("Type " + ydbNode + " to do this").keys(try.typed + "\r")
		if code := ends(t, on.cmd); code != try.code {
			t.Errorf("%s: exit code %d", try.typed, code)
		}
		if left := len(s.Semaphores(ydbNode)); (left == 0) != (try.code == exitOK) {
			t.Errorf("%s: %d semaphores are left", try.typed, left)
		}
	}
}

func TestWhatANodeCommandRefuses(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	here, nowhere := s.URL(0)+"?node="+ydbNode, s.URL(0)+"?node=/local/%1b%5b2J%e2%80%ae"
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"Redis":                  {[]string{"create", "redis://127.0.0.1:1/0"}, exitCannot, "redis has nothing that exists"},
		"Postgres":               {[]string{"describe", "postgres://127.0.0.1:1/x"}, exitCannot, "postgres has nothing that exists"},
		"dflockd":                {[]string{"drop", "dflockd://127.0.0.1:1"}, exitCannot, "dflockd has nothing that exists"},
		"no node":                {[]string{"describe", s.URL(0)}, exitUsage, "name one coordination node"},
		"one that exists":        {append([]string{"create", here}, sure...), exitCannot, "/local/app exists"},
		"no setting":             {append([]string{"alter", here}, sure...), exitUsage, "no setting is given"},
		"a word of the wire":     {append([]string{"alter", here, "--read-consistency", "UNSET"}, sure...), exitUsage, "read consistency: strict or relaxed"},
		"a word that is none":    {append([]string{"alter", here, "--read-consistency", "lax"}, sure...), exitUsage, "read consistency: strict or relaxed"},
		"too short a time":       {append([]string{"alter", here, "--self-check-period", "10us"}, sure...), exitUsage, "whole milliseconds"},
		"altering what is not":   {append([]string{"alter", nowhere, "--self-check-period", "1s"}, sure...), exitNotFound, "there is no such coordination node"},
		"dropping what is not":   {append([]string{"drop", nowhere}, sure...), exitNotFound, "there is no such coordination node"},
		"describing what is not": {[]string{"describe", nowhere}, exitNotFound, "there is no such coordination node"},
	} {
		w := newWorld(t)
		code, line := provisions(t, w, append([]string{"node"}, c.args...)...)
		if code != c.code || line.Result == "done" || !strings.Contains(w.stderr.String(), c.says) || strings.ContainsAny(w.stderr.String(), "\x1b\u202e") {
			t.Errorf("%s: exit code %d, %+v, %q", name, code, line, w.stderr)
		}
	}
	w := newWorld(t)
	w.write(t, configFile, ydbConfig(s, "read_only: true", "primary"))
	if code := w.main(t.Context(), append([]string{"node", "drop", "y/app"}, sure...)...); code != exitReadOnly {
		t.Errorf("read_only: exit code %d: %s", code, w.stderr)
	}
	text := newWorld(t)
	if code := text.main(t.Context(), "node", "describe", "--config", filepath.Join(w.home, configFile), "y/app"); code != exitOK || !strings.Contains(text.stdout.String(), "session grace period   not set (10s)") ||
		!strings.Contains(text.stdout.String(), "known semaphores       1, of which 0") {
		t.Errorf("describing a read_only one: exit code %d: %s%s", code, text.stdout, text.stderr)
	}
}
