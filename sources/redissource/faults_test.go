package redissource

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// held is what the fault tests start with: one leader with a long lease.
var held = []any{"SET", "app:leader:x", uuidA, "PX", "600000"}

func stale(row *sources.Row, s *sources.State) bool { return row.Status(s) == sources.StatusStale }
func led(row *sources.Row, s *sources.State) bool   { return row.Status(s) == sources.StatusLed }
func leaderless(row *sources.Row, s *sources.State) bool {
	return row.Status(s) == sources.StatusNoLeader
}

func TestFrozenServerGoesStaleWithinTheLimitAndComesBack(t *testing.T) {
	t.Parallel()
	// The source alone would believe in its connection for an hour.
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Silence: time.Hour}, held).synced()
	r.Row("", "app:leader:x", "led", led)
	noError(t, r.server.Freeze())
	r.Row("", "app:leader:x", "stale", stale)
	noError(t, r.server.Thaw())
	r.Row("", "app:leader:x", "led again", led)
	r.NoOwnerEvents()
}

func TestShortFreezeLosesNothing(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Silence: 20 * time.Second}, held).synced()
	noError(t, r.server.Freeze())
	r.Row("", "app:leader:x", "stale", stale) // the Hub's own limit
	asked := make(chan error, 1)
	go func() { asked <- r.writer.Do(r.ctx, "SET", "app:leader:x", uuidB, "PX", "600000").Err() }() // joined below
	noError(t, r.server.Thaw())
	noError(t, <-asked)
	if e := r.Event(sources.EventOwnerChanged, ""); e.Ref.Name != "app:leader:x" || e.At.Before(e.After) {
		t.Errorf("%+v", e)
	}
	for _, e := range r.Drain() {
		if e.Kind == sources.EventSourceDown {
			t.Errorf("the connection was given up: %+v", e)
		}
	}
}

func TestKilledServerGoesStaleAtOnce(t *testing.T) {
	t.Parallel()
	// Silence alone would tell in an hour.
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Silence: time.Hour}, held).synced()
	r.Row("", "app:leader:x", "led", led)
	r.server.Kill()
	r.Event(sources.EventSourceDown, "")
	row := r.Row("", "app:leader:x", "stale", stale)
	if len(row.Owners) != 1 {
		t.Errorf("the old state is not kept: %+v", row.Primitive)
	}
	r.State("the reason", func(s *sources.State) bool {
		err := s.Sources[0].Err
		return err != nil && strings.Contains(err.Error(), "nothing listens at")
	})
	r.NoOwnerEvents()
}

func TestRestartedServerWithItsDataInventsNothing(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{Keep: true}, Options{Selections: leaders()}, held).synced()
	r.server.Kill()
	r.Event(sources.EventSourceDown, "")
	noError(t, r.server.Restart(r.ctx))
	if e := r.Event(sources.EventRestarted, ""); !strings.HasPrefix(e.Detail, "the server was restarted: run ") || e.How != sources.Told {
		t.Errorf("%+v", e)
	}
	r.synced().Row("", "app:leader:x", "led again", led)
	r.NoOwnerEvents()
}

func TestRestartedServerWithoutItsDataShowsTheTruth(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, held).synced()
	r.server.Kill()
	down := r.Event(sources.EventSourceDown, "")
	noError(t, r.server.Restart(r.ctx))
	if e := r.Event(sources.EventRestarted, ""); !strings.HasPrefix(e.Detail, "restarted without its data: run ") || e.How != sources.Told {
		t.Errorf("%+v", e)
	}
	e := r.Event(sources.EventReleased, "")
	if e.Cause != sources.CauseRestart || e.How != sources.Inferred || e.After.IsZero() || e.After.After(down.At) {
		t.Errorf("the owner went while nobody looked: %+v, down %v", e, down.At)
	}
	r.Row("", "app:leader:x", "without a leader", leaderless)
}

func TestFlushEndsEveryOwnerAndInventsNothing(t *testing.T) {
	t.Parallel()
	for name, protocol := range map[string]int{"RESP3": 3, "RESP2": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held, []any{"SET", "app:leader:y", uuidB})
			c := client(r.server.Addr(), "", "")
			c.Protocol = protocol
			watch(t, r, Options{Client: c, Selections: leaders()}).synced()
			r.do("FLUSHALL")
			seen := map[string]bool{}
			for len(seen) < 2 {
				e := r.Next()
				if e.Kind != sources.EventReleased || e.Cause != sources.CauseDeleted || e.How != sources.Inferred || seen[e.Ref.Name] {
					t.Fatalf("%v of %q: %+v", e.Kind, e.Ref.Name, e)
				}
				seen[e.Ref.Name] = true
			}
			r.do("SET", "app:leader:x", uuidB, "PX", "600000")
			r.Expect(sources.EventAcquired, "app:leader:x")
			r.do("FLUSHDB")
			r.Expect(sources.EventReleased, "app:leader:x")
		})
	}
}

func TestBlackHoledLinkGoesStaleAndComesBack(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, held)
	proxy := localserver.ProxyForTest(t, r.server.Addr())
	watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: leaders()}).synced()
	proxy.BlackHole()
	r.Row("", "app:leader:x", "stale", stale)
	r.do("SET", "app:leader:x", uuidB, "PX", "600000")
	change := time.Now()
	proxy.Resume()
	e := r.Event(sources.EventOwnerChanged, "")
	if e.After.IsZero() || e.After.After(change) || e.At.Before(change) {
		t.Errorf("it changed at %v: %+v", change, e)
	}
	r.Row("", "app:leader:x", "led again", led)
}

func TestSilentConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, held)
	for name, list := range map[string][]Selection{"tracking": leaders(), "polling": {{Pattern: "*:leader:*"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			s := New(Options{Name: "src", Client: client(proxy.Addr(), "", ""), Selections: list, Silence: 600 * time.Millisecond})
			defer s.Close()
			connectAndList(t, s)
			proxy.BlackHole()
			silent := time.Now()
			for {
				if _, err := s.Next(t.Context()); err != nil {
					if !strings.Contains(err.Error(), "no answer from") || errors.Is(err, sources.ErrRefused) {
						t.Error(err)
					}
					return
				}
				if took := time.Since(silent); took > testLimit {
					t.Fatalf("still believed after %v", took)
				}
			}
		})
	}
}

// connectAndList reads one whole listing. A machine that stalls for longer than the short
// silence limit of a test may lose a connection: then another one is made.
func connectAndList(t *testing.T, s *Source) {
	t.Helper()
	for connected := false; ; {
		if !connected {
			noError(t, s.Connect(t.Context()))
			connected = true
		}
		c, err := s.Next(t.Context())
		switch {
		case err == nil && c.Synced:
			return
		case err != nil && !strings.Contains(err.Error(), "no answer from"):
			t.Fatal(err)
		case err != nil:
			connected = false
			noError(t, s.Close())
		}
	}
}

func TestReadConnectionIsKeptFromIdling(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}).synced() // without a key that would be read each second
	last, commands := 0, 0
	r.State("commands of an idle connection", func(*sources.State) bool {
		for line := range strings.Lines(r.do("CLIENT", "LIST").(string)) {
			var idle int
			_, fields, _ := strings.Cut(line, " idle=")
			if !strings.Contains(line, "name="+clientName+" ") || strings.Contains(line, " flags=tB ") {
				continue
			}
			if _, err := fmt.Sscanf(fields, "%d", &idle); err != nil {
				t.Fatal(err)
			}
			if idle > 12 {
				t.Fatalf("nothing was sent for %d s", idle)
			}
			if idle < last {
				commands++
			}
			if last = idle; commands > 1 {
				return true
			}
		}
		return false
	})
}

func TestCutConnectionIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	cuts := map[string]func(*rig, *localserver.Proxy){
		"cut":         func(_ *rig, p *localserver.Proxy) { p.Cut() },
		"reset":       func(_ *rig, p *localserver.Proxy) { p.Reset() },
		"pushes only": func(r *rig, _ *localserver.Proxy) { r.kill("tracking") },
	}
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: leaders()}).synced()
			cut(r, proxy)
			proxy.Resume()
			r.Event(sources.EventSourceDown, "")
			r.do("SET", "app:leader:x", uuidB, "PX", "600000")
			r.Event(sources.EventOwnerChanged, "")
			r.Row("", "app:leader:x", "led again", led)
		})
	}
}

// kill closes the connection of ours that tracks.
func (r *rig) kill(what string) {
	r.t.Helper()
	list := r.do("CLIENT", "LIST").(string)
	for line := range strings.Lines(list) {
		if strings.Contains(line, "name="+clientName) && strings.Contains(line, " flags=tB ") {
			var id int64
			if _, err := fmt.Sscanf(line, "id=%d ", &id); err != nil {
				r.t.Fatal(err)
			}
			r.do("CLIENT", "KILL", "ID", id)
			return
		}
	}
	r.t.Fatalf("no connection is %s:\n%s", what, list)
}

func TestLossThatNobodyPushesIsFoundByTheResync(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Resync: 300 * time.Millisecond}, held).synced()
	r.do("SWAPDB", "0", "1")
	e := r.Expect(sources.EventReleased, "app:leader:x")
	if e.How == sources.Told || e.After.IsZero() {
		t.Errorf("told although it was not: %+v", e)
	}
	r.do("SWAPDB", "0", "1")
	r.Expect(sources.EventAcquired, "app:leader:x")
}

// TestResyncFindsWhateverWasNotPushed has two databases change their places, which no server
// pushes. Some keys differ between them, each in its own way; those that do not are asked for
// less.
func TestResyncFindsWhateverWasNotPushed(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return uuidA + strings.Repeat(" ", n) }
	differing := []struct {
		name          string
		before, after []any // the command that makes the key, without its name
		want          sources.EventKind
	}{
		{"given-up", []any{"SET", uuidA}, nil, sources.EventReleased},
		{"taken", nil, []any{"SET", uuidA}, sources.EventAcquired},
		{"handed-over", []any{"SET", uuidA}, []any{"SET", uuidB}, sources.EventOwnerChanged},
		{"renewed", []any{"SET", uuidA, "PX", "600000"}, []any{"SET", uuidA, "PX", "700000"}, sources.EventRenewed},
		{"shortened", []any{"SET", uuidA, "PX", "600000"}, []any{"SET", uuidA, "PX", "500000"}, sources.EventLeaseChanged},
		{"for-ever", []any{"SET", uuidA, "PX", "600000"}, []any{"SET", uuidA}, sources.EventLeaseChanged},
		{"no-lock-any-more", []any{"SET", uuidA}, []any{"RPUSH", uuidA}, sources.EventOwnerUnknown},
		{"a-hash-now", []any{"SET", uuidA}, []any{"HSET", uuidB + ":1", "1"}, sources.EventOwnerChanged},
		{"longer", []any{"SET", long(5000)}, []any{"SET", long(6000)}, sources.EventProclaimed},
		{"longer-than-is-read", []any{"SET", long(sources.BlobHead - len(uuidA))}, []any{"SET", long(5000)}, sources.EventProclaimed},
	}
	r := serve(t, localserver.RedisOptions{})
	create := func(name string, command []any) {
		if command != nil {
			r.do(append([]any{command[0], "app:leader:" + name}, command[1:]...)...)
		}
	}
	const equal = 100
	for i := range equal {
		create(fmt.Sprint(i), []any{"SET", uuidA})
		r.do("COPY", fmt.Sprintf("app:leader:%d", i), fmt.Sprintf("app:leader:%d", i), "DB", "1")
	}
	want := map[string]sources.EventKind{}
	for _, d := range differing {
		create(d.name, d.after)
		want["app:leader:"+d.name] = d.want
	}
	r.do("SWAPDB", "0", "1")
	for _, d := range differing {
		create(d.name, d.before)
	}
	watch(t, r, Options{Selections: leaders(), Resync: time.Hour}).synced()
	r.Drain()
	lengths, remainders := r.calls("strlen"), r.calls("pttl")
	r.do("SWAPDB", "0", "1")
	r.Hub.Refresh("src")
	got := map[string]sources.EventKind{}
	for len(got) < len(want) {
		e := r.Next()
		got[e.Ref.Name] = e.Kind
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	lengths, remainders = r.calls("strlen")-lengths, r.calls("pttl")-remainders
	if r.calls("config|get") > 0 { // what was found has proved the mode broken meanwhile, so that all was read once more
		return
	}
	if lengths >= equal {
		t.Errorf("asked for %d lengths", lengths)
	}
	if remainders >= 2*equal {
		t.Errorf("asked for %d remainders", remainders)
	}
}

func TestWriteInAnotherDatabaseIsNoChange(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, held).synced()
	other := r.writer.Conn()
	defer other.Close()
	noError(t, other.Select(r.ctx, 1).Err())
	noError(t, other.Set(r.ctx, "app:leader:x", uuidB, 0).Err())
	r.do("SET", "app:leader:end", uuidA)
	r.Expect(sources.EventAcquired, "app:leader:end")
}

func TestChangedRoleIsShown(t *testing.T) {
	t.Parallel()
	master := serve(t, localserver.RedisOptions{})
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Resync: 200 * time.Millisecond}).synced()
	host, port, _ := strings.Cut(master.server.Addr(), ":")
	r.do("REPLICAOF", host, port)
	r.About("", "the role", func(a sources.About) bool { return a.Role == "replica" && len(a.Warnings) > 0 })
	if err := r.Status().Err; errors.Is(err, sources.ErrRefused) {
		t.Errorf("refused: %v", err)
	}
}
