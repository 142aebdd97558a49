package app

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
)

// provisioned is what the tests read of the line of a command that changes a primitive itself.
type provisioned struct {
	Event, Result, Source, Namespace, Kind, Name, Detail string

	Limit *int64
	Data  *struct{ Text string }
	SHA   *string `json:"data_sha256"`
}

// provisions runs a command in a world, and returns its exit code and its line.
func provisions(t *testing.T, w *world, args ...string) (code int, line provisioned) {
	t.Helper()
	before := len(w.stdout.String())
	code = w.main(t.Context(), args...)
	if text := w.stdout.String()[before:]; text != "" {
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	return code, line
}

// onNode returns the URL of a semaphore.
func onNode(s *ydbtest.Server, name string) string {
	return s.URL(0) + "?node=" + ydbNode + "&semaphore=" + name
}

func sumOf(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }

var sure = []string{"--write", "--yes"}

func TestASemaphoreIsCreatedUpdatedDescribedAndDeleted(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	w := newWorld(t)
	w.write(t, configFile, ydbConfig(s, "protect: true", "primary"))
	file := w.write(t, "settings", "v1")
	reasoned := append([]string{"--reason", "a new service"}, sure...)
	for _, c := range []struct {
		args           []string
		event, limited string
		data           string
	}{
		{[]string{"create", "y/local/app/settings", "--limit", "3", "--data-file", file}, "create", "3", "v1"},
		{[]string{"update", "y/settings", "--data", "v2", "--if-data-sha", strings.ToUpper(sumOf("v1"))}, "update", "3", "v2"},
		{[]string{"update", "y/settings", "--data", ""}, "update", "3", ""},
		{[]string{"delete", "y/settings"}, "delete", "", ""},
	} {
		code, line := provisions(t, w, append(append([]string{"semaphore"}, c.args...), reasoned...)...)
		limit, data := "", ""
		if line.Limit != nil {
			limit = fmt.Sprint(*line.Limit)
		}
		if line.Data != nil {
			data = line.Data.Text
		}
		if code != exitOK || line.Event != c.event || line.Result != "done" || line.Namespace != ydbNode || line.Name != "settings" || limit != c.limited || data != c.data {
			t.Fatalf("%q: exit code %d, printed %+v, %s", c.args, code, line, w.stderr)
		}
	}
	if _, err := s.Semaphore(ydbNode, "settings"); !errors.Is(err, ydbtest.ErrNotFound) {
		t.Errorf("it is left: %v", err)
	}
	audit, err := os.ReadFile(filepath.Join(w.home, ".local/state/coordtop", auditName))
	if err != nil || strings.Count(string(audit), "a new service") != 8 || strings.Count(string(audit), `"result":"done"`) != 4 {
		t.Errorf("the audit has %s, %v", audit, err)
	}
}

func TestDescribePrintsAllOfTheDataAndWhoUsesIt(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	long := strings.Repeat("x", 5000) + "\x1b[2J\n"
	if err := s.UpdateSemaphore(ydbNode, "quota", []byte(long)); err != nil {
		t.Fatal(err)
	}
	permits(t, peer(t, s, "a"), "quota", 10, "host-1\x1b[2J")
	if _, err := peer(t, s, "w").Semaphore("quota", coord.SemaphoreOptions{Data: []byte("host-2")}).Enqueue(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	if code := w.main(t.Context(), "semaphore", "describe", onNode(s, "quota"), "-o", "json"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	var got struct {
		semaphoreJSON
		SHA string `json:"data_sha256"`
	}
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil || got.Data.Text != long || got.SHA != sumOf(long) ||
		len(got.Owners) != 1 || len(got.Queue.Waiters) != 1 || *got.Limit != 10 {
		t.Errorf("%v: %s", err, w.stdout)
	}
	text := newWorld(t)
	if code := text.main(t.Context(), "semaphore", "describe", onNode(s, "quota")); code != exitOK {
		t.Errorf("exit code %d: %s", code, text.stderr)
	}
	for _, want := range []string{"full 10/10", "owner   ", "permits 10", "guard ", "waiter  host-2  permits 4", "sha256  " + sumOf(long), `x\x1b[2J\n"`} {
		if !strings.Contains(text.stdout.String(), want) {
			t.Errorf("no %q in %s", want, text.stdout)
		}
	}
	if err := s.UpdateSemaphore(ydbNode, "quota", []byte("password=hunter2")); err != nil {
		t.Fatal(err)
	}
	masked := newWorld(t)
	code, line := provisions(t, masked, "semaphore", "describe", onNode(s, "quota"), "-o", "json")
	if code != exitOK || line.SHA != nil || strings.Contains(masked.stdout.String()+text.stdout.String()+w.stdout.String(), "hunter2") {
		t.Errorf("exit code %d: %s", code, masked.stdout)
	}
	if strings.Contains(text.stdout.String()+w.stdout.String(), "\x1b") {
		t.Error("an escape sequence came through")
	}
}

func TestASecretInTheDataIsNeitherPrintedNorWritten(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	const data = "host=db password=hunter2"
	w := newWorld(t)
	for _, c := range [][]string{{"update", onNode(s, "quota")}, {"create", onNode(s, "new"), "--limit", "1"}} {
		if code, line := provisions(t, w, append(append(append([]string{"semaphore"}, c...), "--data", data), sure...)...); code != exitOK || line.Data == nil || line.Data.Text != "host=db password=***" {
			t.Errorf("%s: exit code %d, %+v", c[0], code, line)
		}
	}
	audit, err := os.ReadFile(filepath.Join(w.home, ".local/state/coordtop", auditName))
	if all := w.stdout.String() + w.stderr.String() + string(audit); err != nil || strings.Contains(all, "hunter2") || !strings.Contains(all, "password=***") {
		t.Errorf("%v: %s", err, all)
	}
	if q, err := s.Semaphore(ydbNode, "quota"); err != nil || string(q.Data) != data {
		t.Errorf("quota is %+v, %v", q, err)
	}
}

func TestOnlyYDBHasSemaphoresThatExistWithoutAnOwner(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://127.0.0.1:1/0?semaphore=x", "postgres://127.0.0.1:1/x?semaphore=1", "dflockd://127.0.0.1:1?semaphore=x"} {
		for _, verb := range []string{"create", "update", "delete", "describe"} {
			w := newWorld(t)
			if code := w.main(t.Context(), "semaphore", verb, url); code != exitCannot || !strings.Contains(w.stderr.String(), "has nothing that exists without being owned") {
				t.Errorf("%s %s: exit code %d: %s", verb, url, code, w.stderr)
			}
		}
	}
	w := newWorld(t)
	w.write(t, configFile, "sources: [{name: a, url: 'redis://127.0.0.1:1/0', watch: [{mutex: x}]}]")
	if code := w.main(t.Context(), "semaphore", "describe", "a/x"); code != exitCannot {
		t.Errorf("by name: exit code %d: %s", code, w.stderr)
	}
}

func TestWhatASemaphoreCommandRefuses(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	permits(t, peer(t, s, "a"), "quota", 3, "host-1")
	guard := fmt.Sprintf("%d/%d", s.Owners(ydbNode, "quota")[0].SessionID, s.Owners(ydbNode, "quota")[0].OrderID)
	for name, c := range map[string]struct {
		args []string
		name string
		code int
		says string
	}{
		"not meant":                    {[]string{"create", "--limit", "1"}, "new", exitUsage, "add --write --yes"},
		"no limit":                     {append([]string{"create"}, sure...), "new", exitUsage, "--limit is missing"},
		"an ephemeral one":             {append([]string{"create", "--ephemeral"}, sure...), "new", exitCannot, "coordtop acquire --ephemeral makes one"},
		"one that exists":              {append([]string{"create", "--limit", "1"}, sure...), "quota", exitCannot, "it exists"},
		"no data":                      {append([]string{"update"}, sure...), "quota", exitUsage, "--data or --data-file is missing"},
		"two data":                     {append([]string{"update", "--data", "x", "--data-file", "y"}, sure...), "quota", exitUsage, "not both"},
		"a file that is not there":     {append([]string{"update", "--data-file", "/nowhere"}, sure...), "quota", exitUsage, "--data-file: "},
		"no hash":                      {append([]string{"update", "--data", "x", "--if-data-sha", "12"}, sure...), "quota", exitUsage, "64 hex digits"},
		"another hash":                 {append([]string{"update", "--data", "x", "--if-data-sha", sumOf("other")}, sure...), "quota", exitChanged, "its data is another by now"},
		"an update of nothing":         {append([]string{"update", "--data", "x"}, sure...), "new", exitNotFound, "not found"},
		"a deletion of nothing":        {append([]string{"delete"}, sure...), "new", exitNotFound, "not found"},
		"a deletion of an owned one":   {append([]string{"delete"}, sure...), "quota", exitCannot, "owned by host-1"},
		"force without owners":         {append([]string{"delete", "--force"}, sure...), "quota", exitUsage, "now " + guard},
		"force for other owners":       {append([]string{"delete", "--force", "--if-owner", "9/9"}, sure...), "quota", exitChanged, "now they have " + guard},
		"force for more owners":        {append([]string{"delete", "--force", "--if-owner", "9/9", "--if-owner", guard}, sure...), "quota", exitChanged, "now they have"},
		"owners without force":         {append([]string{"delete", "--if-owner", guard}, sure...), "quota", exitUsage, "--if-owner is for --force"},
		"a hostile name, said cleanly": {append([]string{"update", "--data", "x"}, sure...), "%1b%5b2J%e2%80%ae", exitNotFound, "not found"},
	} {
		w := newWorld(t)
		code, line := provisions(t, w, append([]string{"semaphore", c.args[0], onNode(s, c.name)}, c.args[1:]...)...)
		if code != c.code || line.Result == "done" || !strings.Contains(w.stderr.String(), c.says) || strings.ContainsAny(w.stderr.String(), "\x1b\u202e") {
			t.Errorf("%s: exit code %d, %+v, %q", name, code, line, w.stderr)
		}
	}
	w := newWorld(t)
	if code := w.main(t.Context(), append([]string{"semaphore", "create", s.URL(0) + "?node=/local/none&semaphore=x", "--limit", "1"}, sure...)...); code != exitCannot ||
		!strings.Contains(w.stderr.String(), "there is no such coordination node") {
		t.Errorf("on no node: exit code %d: %s", code, w.stderr)
	}
	w = newWorld(t)
	w.write(t, configFile, ydbConfig(s, "read_only: true", "primary"))
	if code := w.main(t.Context(), append([]string{"semaphore", "delete", "y/primary"}, sure...)...); code != exitReadOnly {
		t.Errorf("read_only: exit code %d: %s", code, w.stderr)
	}
	if code := w.main(t.Context(), "semaphore", "describe", "y/primary"); code != exitOK {
		t.Errorf("describing a read_only one: exit code %d: %s", code, w.stderr)
	}
	if q, err := s.Semaphore(ydbNode, "quota"); err != nil || string(q.Data) != "data of quota" || len(q.Owners) != 1 {
		t.Errorf("quota is %+v, %v", q, err)
	}
}

// opened is a driver before whose first session something happens.
type opened struct {
	coord.Driver
	before func()
}

func (d opened) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	d.before()
	return d.Driver.Open(ctx, o)
}

func TestWhatChangesJustBeforeIsNotOverwrittenOrDeleted(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	a := peer(t, s, "a")
	permits(t, a, "quota", 3, "host-1")
	guard := fmt.Sprintf("%d/%d", s.Owners(ydbNode, "quota")[0].SessionID, s.Owners(ydbNode, "quota")[0].OrderID)
	update := append([]string{"semaphore", "update", onNode(s, "quota"), "--data", "ours", "--if-data-sha", sumOf("data of quota")}, sure...)
	remove := append([]string{"semaphore", "delete", onNode(s, "quota"), "--force", "--if-owner", guard}, sure...)
	w := newWorld(t)
	w.wrapDriver = func(d coord.Driver) coord.Driver {
		return opened{d, func() {
			if err := s.UpdateSemaphore(ydbNode, "quota", []byte("theirs")); err != nil {
				t.Error(err)
			}
		}}
	}
	if code, line := provisions(t, w, update...); code != exitChanged || line.Result != "missed" {
		t.Errorf("update: exit code %d, %+v: %s", code, line, w.stderr)
	}
	b := peer(t, s, "b")
	w = newWorld(t)
	w.wrapDriver = func(d coord.Driver) coord.Driver { return opened{d, func() { permits(t, b, "quota", 1, "host-2") }} }
	if code, line := provisions(t, w, remove...); code != exitChanged || line.Result != "missed" {
		t.Errorf("delete: exit code %d, %+v: %s", code, line, w.stderr)
	}
	if q, err := s.Semaphore(ydbNode, "quota"); err != nil || string(q.Data) != "theirs" || len(q.Owners) != 2 {
		t.Errorf("quota is %+v, %v", q, err)
	}
}

func TestOfTwoUpdatesAtOnceNoneIsReportedFalsely(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	var two [2]*exec.Cmd
	for i := range two {
		two[i] = command(t, append([]string{
			"semaphore", "update", onNode(s, "quota"), "--data-file", "-", "--if-data-sha", sumOf("data of quota"),
		}, sure...)...)
		two[i].Stdin = strings.NewReader(fmt.Sprint("of ", i))
		if err := two[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	done := map[string]bool{}
	for i, cmd := range two {
		_ = cmd.Wait()
		switch code := cmd.ProcessState.ExitCode(); code {
		case exitOK, exitError: // done, and perhaps overwritten before our watch could show it
			done[fmt.Sprint("of ", i)] = true
		case exitChanged:
		default:
			t.Errorf("exit code %d", code)
		}
	}
	if q, err := s.Semaphore(ydbNode, "quota"); err != nil || !done[string(q.Data)] {
		t.Errorf("done are %v, and the data is %q, %v", done, q.Data, err)
	}
}

func TestAForcedDeletionSaysFirstWhomItEnds(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	permits(t, peer(t, s, "a"), "quota", 10, "host-1")
	if _, err := peer(t, s, "w").Semaphore("quota", coord.SemaphoreOptions{Data: []byte("host-2")}).Enqueue(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		typed string
		code  int
	}{{"qota", exitUsage}, {"quota", exitOK}} {
		on := inSight(t, command(t, "semaphore", "delete", onNode(s, "quota"), "--force"))
		on.await("These lose it (1): host-1.")
		on.await("These stop waiting (1): host-2.")
		on.await("Type quota to do this").keys(try.typed + "\r")
		if code := ends(t, on.cmd); code != try.code {
			t.Errorf("%s: exit code %d", try.typed, code)
		}
		if _, err := s.Semaphore(ydbNode, "quota"); errors.Is(err, ydbtest.ErrNotFound) != (try.code == exitOK) {
			t.Errorf("%s: %v", try.typed, err)
		}
	}
}

func TestAMissingRightIsNamedAsNotPossible(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{"mary": {Password: "hunter2", Deny: ydbtest.Write | ydbtest.Erase}}})
	w := newWorld(t)
	w.vars["PW"] = "hunter2"
	w.write(t, configFile, fmt.Sprintf("sources: [{name: y, url: '%s', user: mary, password_env: PW, watch: [{semaphore: quota, node: %s}]}]", s.URL(0), ydbNode))
	for _, args := range [][]string{
		{"semaphore", "create", "y/new", "--limit", "1"}, {"semaphore", "update", "y/quota", "--data", "x"}, {"semaphore", "delete", "y/quota"},
		{"node", "alter", "y/app", "--self-check-period", "1s"}, {"node", "drop", "y/app"}, {"node", "create", "y/new"},
	} {
		code, line := provisions(t, w, append(args, sure...)...)
		if code != exitCannot || line.Result != "failed" || strings.Contains(w.stderr.String(), "hunter2") {
			t.Errorf("%q: exit code %d, %+v: %s", args, code, line, w.stderr)
		}
	}
	if code := w.main(t.Context(), "semaphore", "describe", "y/quota"); code != exitOK {
		t.Errorf("describing: exit code %d: %s", code, w.stderr)
	}
}
