package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// writer is a plain client beside the program.
func writer(t testing.TB, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func set(t testing.TB, c *redis.Client, key, value string, ttl time.Duration) {
	t.Helper()
	if err := c.Set(context.Background(), key, value, ttl).Err(); err != nil {
		t.Fatal(err)
	}
}

// lineJSON is what the tests read of a line of watch.
type lineJSON struct {
	Seq             uint64
	Event           string
	Source          string
	Namespace       *string
	Name            string
	Owner, Previous *struct{ ID, Label string }
	Cause           *string
	Known           string
	Detail          *string
}

// brief is a line in short: what must be named rightly.
func (l lineJSON) brief() string {
	text := l.Event + " " + l.Name
	if l.Owner != nil {
		text += " " + l.Owner.Label
	}
	if l.Previous != nil {
		text += " was " + l.Previous.Label
	}
	return text
}

func parse(t testing.TB, text string) []lineJSON {
	t.Helper()
	var list []lineJSON
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			break // still being written
		}
		var l lineJSON
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, l)
	}
	return list
}

func TestGetShowsWhoOwnsWhatOnARealServer(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:leader:billing", "host-07:4411", 30*time.Second)
	set(t, c, "app:lock:endless", "host-08:12", 0)
	c.RPush(t.Context(), "app:lock:list", "x")
	w := newWorld(t)
	url := server.URL() + "?election=app:leader:*&mutex=app:lock:*&election=app:leader:vacant"
	if code := w.main(t.Context(), "get", url); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	for _, want := range []string{"app:leader:billing", "host-07:4411", "no leader", "app:leader:vacant", "no TTL", "a list, not a string"} {
		if !strings.Contains(w.stdout.String(), want) {
			t.Errorf("lacks %q:\n%s", want, w.stdout)
		}
	}

	w = newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: leases, url: '%s', watch: [{election: 'app:leader:*'}]}]\nowners: [{match: '^host-0?(\\d+):', label: 'node $1'}]\n", server.URL()))
	if code := w.main(t.Context(), "get", "leases/app:leader:billing", "-o", "json"); code != 0 {
		t.Fatalf("exit code %d: %s", code, w.stderr)
	}
	var got struct {
		Sources    []struct{ Name, Type, Health, Mode string }
		Primitives []struct {
			Name, Kind, State string
			Fresh             bool
			Owners            []struct {
				Label   string
				LeaseMS int64 `json:"lease_ms"`
				Expires *time.Time
			}
		}
	}
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Sources) != 1 || got.Sources[0].Health != "live" || got.Sources[0].Mode == "" {
		t.Errorf("sources %+v", got.Sources)
	}
	if len(got.Primitives) != 1 {
		t.Fatalf("primitives %+v", got.Primitives)
	}
	p := got.Primitives[0]
	if p.Name != "app:leader:billing" || p.Kind != "election" || p.State != "led" || !p.Fresh || len(p.Owners) != 1 {
		t.Fatalf("got %+v", p)
	}
	if o := p.Owners[0]; o.Label != "node 7" || o.Expires == nil || o.LeaseMS <= 0 || o.LeaseMS > 30_000 {
		t.Errorf("owner %+v", o)
	}

	w.stdout, w.stderr = newStream(), newStream()
	if code := w.main(t.Context(), "get", "leases/app:leader:nobody"); code != 4 || !strings.Contains(w.stderr.String(), "name 1 (leases/...): not found") {
		t.Errorf("exit code %d: %s", code, w.stderr)
	}
}

func TestANameIsAnsweredWhateverAnotherSourceDoes(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-07:4411", time.Hour)
	w := newWorld(t)
	w.write(t, configFile, fmt.Sprintf("sources: [{name: leases, url: '%s'}, {name: dead, url: 'redis://%s'}]\n", server.URL(), localserver.RefusingForTest(t)))
	for args, want := range map[string]int{
		"get leases/app:leader:billing": exitOK,
		"get leases/app:leader:nobody":  exitNotFound,
		"get dead/app:leader:billing":   exitNoAnswer,
		"get":                           exitNoAnswer,
	} {
		if code := w.main(t.Context(), strings.Fields(args)...); code != want {
			t.Errorf("%s: exit code %d, want %d: %s", args, code, want, w.stderr)
		}
	}
}

func TestAServerThatCannotBeReadIsExplained(t *testing.T) {
	t.Parallel()
	locked := localserver.RedisForTest(t, localserver.RedisOptions{
		Password: "hunter2", Users: []string{"blind on >hunter3 -@all +ping +hello"},
	})
	open := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, open.Addr()), "app:leader:x", "host:1", time.Hour)
	dark := localserver.RedisForTest(t, localserver.RedisOptions{})
	if err := dark.Freeze(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"nobody listens", "redis://" + localserver.RefusingForTest(t) + "/0", []string{"did not answer", "nothing listens at"}},
		{"no such host", "redis://host.invalid:6379/0", []string{"host.invalid did not answer"}},
		{"a wrong password", "redis://:wrong-pass@" + locked.Addr() + "/0", []string{"refused our credentials: ", "password"}},
		{"no password", "redis://" + locked.Addr() + "/0", []string{"refused our credentials: ", "password"}},
		{"a missing right", "redis://blind:hunter3@" + locked.Addr() + "/0?keys=app:*", []string{"cannot be watched: ", "scan"}},
		{"a cluster", "redis+cluster://" + open.Addr(), []string{"cannot be watched: ", "name its masters one by one"}},
		{"no answer", dark.URL(), []string{"did not answer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			code := w.main(t.Context(), "get", "--timeout", "3s", c.url, open.URL())
			if code != 3 {
				t.Errorf("exit code %d", code)
			}
			stderr := w.stderr.String()
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("lacks %q: %s", want, stderr)
				}
			}
			for _, secret := range []string{"hunter2", "hunter3", "wrong-pass"} {
				if strings.Contains(stderr, secret) {
					t.Errorf("the password is shown: %s", stderr)
				}
			}
			if !strings.Contains(w.stdout.String(), "app:leader:x") {
				t.Errorf("the server that works is not shown:\n%s", w.stdout)
			}
		})
	}
}

func TestAPasswordInAFileIsUsed(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{Password: "hunter2"})
	w := newWorld(t)
	w.write(t, ".config/coordtop/pw", "hunter2\n")
	w.write(t, configFile, fmt.Sprintf("sources: [{url: 'redis://%s/0', password_file: pw, watch: [{mutex: app:lock:x}]}]", server.Addr()))
	if code := w.main(t.Context(), "get"); code != 0 || !strings.Contains(w.stdout.String(), "free") {
		t.Errorf("exit code %d, %s%s", code, w.stdout, w.stderr)
	}
}

// watching runs watch until the test ends it.
type watching struct {
	*world
	end   context.CancelFunc
	done  chan int
	heard int // how much of the output hears has passed
}

func watch(t testing.TB, w *world, args ...string) *watching {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	run := &watching{world: w, end: end, done: make(chan int, 1)}
	go func() { run.done <- w.main(ctx, append([]string{"watch"}, args...)...) }()
	return run
}

// has waits for a line, as brief says it.
func (w *watching) has(t *testing.T, brief string) {
	t.Helper()
	w.stdout.await(t, func(text string) bool {
		for _, l := range parse(t, text) {
			if l.brief() == brief {
				return true
			}
		}
		return false
	})
}

func TestWatchNamesEveryChangeRightlyAndOnce(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	set(t, c, "app:leader:old", "host-1:1", time.Hour)
	run := watch(t, newWorld(t), server.URL()+"?election=app:leader:*&mutex=app:lock:*", "-o", "json")
	defer run.end()
	run.has(t, "synced ")

	ctx := t.Context()
	step := func(brief string, act func()) {
		t.Helper()
		act()
		run.has(t, brief)
	}
	step("acquired app:leader:a host-1:1", func() { c.SetNX(ctx, "app:leader:a", "host-1:1", time.Hour) })
	step("owner_changed app:leader:a host-2:2 was host-1:1", func() { set(t, c, "app:leader:a", "host-2:2", time.Hour) })
	step("renewed app:leader:a host-2:2", func() { c.PExpire(ctx, "app:leader:a", 2*time.Hour) })
	step("released app:leader:a was host-2:2", func() { c.Del(ctx, "app:leader:a") })
	// That a lease ran out is said only where an answer in time proves it: a busy machine may
	// need several tries, each of which is told rightly all the same.
	var tries []string
	for expired := false; !expired && len(tries) < 20; {
		name := fmt.Sprintf("app:lock:b%d", len(tries))
		c.SetNX(ctx, name, "host-3:3", 300*time.Millisecond)
		run.stdout.await(t, func(text string) bool {
			expired = strings.Contains(text, `"event":"expired"`)
			return expired || slices.ContainsFunc(parse(t, text), func(l lineJSON) bool { return l.brief() == "released "+name+" was host-3:3" })
		})
		tries = append(tries, "acquired "+name+" host-3:3", "released "+name+" was host-3:3")
		if expired {
			tries[len(tries)-1] = "expired " + name + " was host-3:3"
		}
	}
	c.SetNX(ctx, "other", "x", time.Hour) // not selected
	step("acquired app:lock:last host-4:4", func() { c.SetNX(ctx, "app:lock:last", "host-4:4", time.Hour) })

	run.end()
	if code := <-run.done; code != 0 {
		t.Errorf("exit code %d: %s", code, run.stderr)
	}
	var got []string
	var last uint64
	for _, l := range parse(t, run.stdout.String()) {
		if l.Seq <= last {
			t.Errorf("number %d after %d", l.Seq, last)
		}
		last = l.Seq
		if l.Event != "source_up" {
			got = append(got, l.brief())
		}
	}
	want := []string{
		"present app:leader:old host-1:1",
		"synced ",
		"acquired app:leader:a host-1:1",
		"owner_changed app:leader:a host-2:2 was host-1:1",
		"renewed app:leader:a host-2:2",
		"released app:leader:a was host-2:2",
	}
	want = append(append(want, tries...), "acquired app:lock:last host-4:4")
	if !strings.HasPrefix(want[len(want)-2], "expired ") {
		t.Error("no lease was seen to run out")
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestHostileNamesAndValuesStayInTheirLine(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	const hostile = "app:lock:\x1b]0;owned\a\r\n\xff\u202e"
	set(t, c, hostile, "\x1b[2J"+strings.Repeat("A", 5<<20), time.Hour)
	for _, format := range []string{"text", "json"} {
		w := newWorld(t)
		if code := w.main(t.Context(), "get", server.URL()+"?mutex=app:lock:*", "-o", format); code != 0 {
			t.Fatalf("exit code %d: %s", code, w.stderr)
		}
		out := w.stdout.String()
		if strings.ContainsAny(out, "\x1b\a\r\u202e") || len(out) > 20_000 {
			t.Errorf("%s: %d bytes: %.300q", format, len(out), out)
		}
	}
}

func TestWatchEndsQuietlyWhenNobodyReads(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := newWorld(t)
	first := newStream()
	ended := make(chan int, 1)
	go func() { ended <- w.mainTo(context.Background(), out, "watch", server.URL()+"?mutex=app:lock:x") }()
	buf := make([]byte, 4096)
	for !strings.Contains(first.String(), "synced") {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = first.Write(buf[:n])
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-ended:
		if code != 0 || w.stderr.String() != "" {
			t.Errorf("exit code %d, %s", code, w.stderr)
		}
	case <-time.After(longEnough):
		t.Fatal("it goes on, though nobody reads")
	}
}

// stuck is a reader that stops reading: a Write to it waits for the test.
type stuck struct {
	begun, free chan struct{}
	once        sync.Once
}

func (s *stuck) Write(b []byte) (int, error) {
	s.once.Do(func() { close(s.begun) })
	<-s.free
	return len(b), nil
}

func TestAReaderThatStopsReadingCannotKeepTheProcess(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	w := newWorld(t)
	exit := make(chan int, 1)
	w.exit = func(code int) { exit <- code }
	out := &stuck{begun: make(chan struct{}), free: make(chan struct{})}
	ctx, signal := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() { ended <- w.mainTo(ctx, out, "watch", server.URL()+"?mutex=app:lock:x") }()
	<-out.begun
	signal()
	select {
	case code := <-exit:
		if code != exitError {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(longEnough):
		t.Error("it stays for ever")
	}
	close(out.free)
	<-ended
}
