package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

const ydbNode = "/local/app"

// ydbForTest is an emulator with a coordination node and semaphores.
func ydbForTest(t testing.TB, o ydbtest.Options) *ydbtest.Server {
	t.Helper()
	s, err := ydbtest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.CreateNode(ydbNode); err != nil {
		t.Fatal(err)
	}
	for name, limit := range map[string]uint64{"primary": 1, "quota": 10} {
		if err := s.CreateSemaphore(ydbNode, name, limit, []byte("data of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// peer is another program's session on the node.
func peer(t testing.TB, s *ydbtest.Server, name string) *coord.Session {
	t.Helper()
	d, err := ydbcoord.New(s.URL(0)+"?node="+ydbNode, ydbcoord.Options{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := coord.Open(context.Background(), d, coord.SessionOptions{Description: name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close(context.Background())
		_ = d.Close(context.Background())
	})
	return session
}

// permits takes some of a semaphore.
func permits(t *testing.T, s *coord.Session, name string, n uint64, data string) *coord.Lease {
	t.Helper()
	l, err := s.Semaphore(name, coord.SemaphoreOptions{Data: []byte(data)}).Acquire(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// semaphoreJSON is what the tests read of a row of get.
type semaphoreJSON struct {
	Namespace, Kind, Name, State string
	Limit                        *int64
	Taken                        uint64
	Ephemeral                    bool
	Data                         *struct{ Text string }
	Owners                       []struct {
		Label, Guard string
		Fence        *string
		Permits      uint64
	}
	Queue struct {
		Known   string
		Waiters []struct {
			Label, Order string
			Permits      uint64
		}
	}
}

// brief is a row in short, owners and waiters in order.
func (s semaphoreJSON) brief() string {
	text := fmt.Sprintf("%s %s %s %d", s.Namespace, s.Kind, s.State, s.Taken)
	if s.Limit != nil {
		text += fmt.Sprintf("/%d", *s.Limit)
	}
	if s.Ephemeral {
		text += " ephemeral"
	}
	if s.Data != nil {
		text += " (" + s.Data.Text + ")"
	}
	for _, o := range s.Owners {
		text += fmt.Sprintf(", %s has %d", o.Label, o.Permits)
		if o.Fence != nil {
			text += " fence " + *o.Fence
		}
	}
	for _, w := range s.Queue.Waiters {
		text += fmt.Sprintf(", %s wants %d as %s", w.Label, w.Permits, w.Order)
	}
	return text
}

func TestGetShowsOwnersWaitersInOrderAndTheDataOfSemaphores(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	permits(t, peer(t, s, "a"), "quota", 3, "host-1:1")
	permits(t, peer(t, s, "b"), "quota", 5, "host-2:2")
	for i, n := range []uint64{4, 1} { // the second would fit, and stands behind the first
		m := peer(t, s, "w").Semaphore("quota", coord.SemaphoreOptions{Data: fmt.Appendf(nil, "waiter-%d", i)})
		if _, err := m.Enqueue(t.Context(), n); err != nil { // its session ends with the test
			t.Fatal(err)
		}
	}
	if _, err := peer(t, s, "m").Mutex("job", coord.MutexOptions{Data: []byte("host-3:3")}).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "get", s.URL(0)+"?node="+ydbNode+"&election=primary&mutex=job&semaphore=quota&semaphore=missing", "-o", "json")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Sources    []struct{ Type, Health, Mode string }
		Primitives []semaphoreJSON
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Sources) != 1 || got.Sources[0].Type != "ydb" || got.Sources[0].Health != "live" || got.Sources[0].Mode != "watches" {
		t.Errorf("sources %+v", got.Sources)
	}
	want := []string{
		"/local/app mutex held 1/1 ephemeral, host-3:3 has 1 fence 5",
		"/local/app semaphore absent 0",
		"/local/app election no leader 0/1 (data of primary)",
		"/local/app semaphore held 8/10 (data of quota), host-1:1 has 3, host-2:2 has 5, waiter-0 wants 4 as 3, waiter-1 wants 1 as 4",
	}
	for i := range max(len(want), len(got.Primitives)) {
		if i >= len(want) || i >= len(got.Primitives) || got.Primitives[i].brief() != want[i] {
			t.Fatalf("got %+v\nwant %q", got.Primitives, want)
		}
	}
	t.Run("by name", func(t *testing.T) { namesOfSemaphores(t, s) })
}

// namesOfSemaphores looks for single semaphores by name.
func namesOfSemaphores(t *testing.T, s *ydbtest.Server) {
	w := newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: jobs, url: '%s', watch: [{node: app, election: primary}, {node: /local/app, semaphore: quota}]}]", s.URL(0)))
	for name, code := range map[string]int{
		"jobs/quota": exitOK, "jobs/local/app/quota": exitOK, "jobs//local/app/quota": exitOK, "jobs/primary": exitOK,
		"jobs/local/other/quota": exitNotFound, "jobs/job": exitNotFound,
	} {
		if got := w.main(t.Context(), "get", name); got != code {
			t.Errorf("%s: exit code %d, want %d: %s", name, got, code, w.stderr)
		}
	}
}

func TestYDBIsFoundByItsOwnVariables(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{"mary": {Password: "hunter2"}}})
	w := newWorld(t)
	w.vars = map[string]string{
		"YDB_CONNECTION_STRING":       s.URL(0) + "?semaphore=quota", // on every node that is found
		"YDB_STATIC_CREDENTIALS_USER": "mary", "YDB_STATIC_CREDENTIALS_PASSWORD": "hunter2",
	}
	if code := w.main(t.Context(), "get"); code != exitOK || !strings.Contains(w.stdout.String(), "quota") {
		t.Errorf("exit code %d: %s%s", code, w.stdout, w.stderr)
	}
}

func TestWatchTellsWhatOthersDoWithSemaphores(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	cmd := command(t, "watch", s.URL(0)+"?node="+ydbNode+"&election=primary&semaphore=quota", "-o", "json")
	out := newStream()
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	run := &watching{world: &world{stdout: out}}
	run.has(t, "synced ")
	a, b := peer(t, s, "a"), peer(t, s, "b")
	lease := permits(t, a, "quota", 3, "host-1:1")
	run.has(t, "acquired quota host-1:1")
	permits(t, b, "quota", 5, "host-2:2")
	run.has(t, "acquired quota host-2:2")
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.has(t, "released quota was host-1:1")
	term, err := a.Election("primary", coord.ElectionOptions{}).Campaign(t.Context(), []byte("host-1:1"))
	if err != nil {
		t.Fatal(err)
	}
	run.has(t, "acquired primary host-1:1")
	if err := term.Proclaim(t.Context(), []byte("host-1:1 draining")); err != nil {
		t.Fatal(err)
	}
	run.has(t, "proclaimed primary host-1:1")
	if err := term.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.has(t, "released primary was host-1:1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestPeopleOwnAndLeadOnYDB(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	at := s.URL(0) + "?node=" + ydbNode

	h := holds(t, "campaign", "--write", "--yes", at+"&election=primary", "--data", "mary")
	won := h.line(1, "acquired")
	owner := s.Owners(ydbNode, "primary")
	if len(owner) != 1 || !strings.HasSuffix(string(owner[0].Data), " mary") || won.Owner == nil || !strings.HasPrefix(won.Owner.ID, fmt.Sprint(owner[0].SessionID)+"@") {
		t.Fatalf("said %+v, the service has %+v", won, owner)
	}
	h.types("proclaim draining")
	if l := h.line(2, "proclaimed"); l.Data == nil || !strings.HasSuffix(l.Data.Text, " draining") || strings.Contains(l.Data.Text, "mary") {
		t.Errorf("said %+v", l)
	}
	if now := s.Owners(ydbNode, "primary"); len(now) != 1 || !strings.HasSuffix(string(now[0].Data), " draining") || now[0].OrderID != owner[0].OrderID {
		t.Errorf("the service has %+v", now)
	}
	h.types("resign")
	h.line(3, "resigning")
	h.line(4, "resigned")
	h.ends(exitOK)
	if left := s.Sessions(ydbNode); len(s.Owners(ydbNode, "primary")) != 0 || len(left) != 0 {
		t.Errorf("left behind: %+v", left)
	}
	if list := strings.Join(h.audit(), "; "); !strings.Contains(list, "campaign before") || !strings.Contains(list, "resign after") {
		t.Errorf("the audit has %s", list)
	}

	h = holds(t, "acquire", "--write", "--yes", at+"&semaphore=quota", "--permits", "4")
	h.line(1, "acquired")
	mutex := holds(t, "acquire", "--write", "--yes", at+"&mutex=job")
	mutex.line(1, "acquired")
	if q, m := s.Owners(ydbNode, "quota"), s.Owners(ydbNode, "job"); len(q) != 1 || q[0].Count != 4 || len(m) != 1 || m[0].Count != ydbcoord.AllPermits {
		t.Errorf("the service has %+v and %+v", q, m)
	}
	second := holds(t, "acquire", "--write", "--yes", at+"&mutex=job", "--wait", "0s")
	second.ends(exitTimeout)
	if err := mutex.in.Close(); err != nil {
		t.Fatal(err)
	}
	mutex.ends(exitOK)
	if err := s.ExpireSession(ydbNode, s.Owners(ydbNode, "quota")[0].SessionID); err != nil {
		t.Fatal(err)
	}
	h.line(2, "lost")
	h.ends(exitLost)
	for named, why := range map[string]string{"mutex=primary": "it is a lasting semaphore", "election=quota": "its limit is 10"} {
		command := "acquire"
		if strings.HasPrefix(named, "election") {
			command = "campaign"
		}
		refused := holds(t, command, "--write", "--yes", at+"&"+named)
		refused.ends(exitCannot)
		if text := refused.errs.String(); !strings.Contains(text, why) {
			t.Errorf("%s: said %s", named, text)
		}
	}
	tooMany := holds(t, "acquire", "--write", "--yes", "--permits", "11", at+"&semaphore=quota")
	tooMany.ends(exitCannot)
	if text := tooMany.errs.String(); !strings.Contains(text, "its limit is 10") {
		t.Errorf("said %s", text)
	}
	missing := holds(t, "campaign", "--write", "--yes", at+"&election=nobody")
	missing.ends(exitCannot)
	if text := missing.errs.String(); !strings.Contains(text, "there is no semaphore of this name") {
		t.Errorf("said %s", text)
	}
}
