package redissource

import (
	"errors"
	"fmt"
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
	if err := r.server.Freeze(); err != nil {
		t.Fatal(err)
	}
	r.Row("", "app:leader:x", "stale", stale)
	if err := r.server.Thaw(); err != nil {
		t.Fatal(err)
	}
	r.Row("", "app:leader:x", "led again", led)
	r.NoOwnerEvents()
}

func TestShortFreezeLosesNothing(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Silence: 20 * time.Second}, held).synced()
	if err := r.server.Freeze(); err != nil {
		t.Fatal(err)
	}
	r.Row("", "app:leader:x", "stale", stale) // the Hub's own limit
	asked := make(chan error, 1)
	go func() { asked <- r.writer.Do(r.ctx, "SET", "app:leader:x", uuidB, "PX", "600000").Err() }() // joined below
	if err := r.server.Thaw(); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
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
	if err := r.server.Restart(r.ctx); err != nil {
		t.Fatal(err)
	}
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
	if err := r.server.Restart(r.ctx); err != nil {
		t.Fatal(err)
	}
	if e := r.Event(sources.EventRestarted, ""); !strings.HasPrefix(e.Detail, "restarted, none of the owners is there any more: run ") || e.How != sources.Inferred {
		t.Errorf("%+v", e)
	}
	e := r.Event(sources.EventReleased, "")
	if e.How == sources.Told || e.After.IsZero() || e.After.After(down.At) {
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
			if err := s.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			for synced := false; !synced; {
				c, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				synced = c.Synced
			}
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

func TestReadConnectionIsKeptFromIdling(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}).synced() // without a key that would be read each second
	longest := 0
	r.State("a command after a long pause", func(*sources.State) bool {
		for line := range strings.Lines(r.do("CLIENT", "LIST").(string)) {
			var idle int
			_, fields, _ := strings.Cut(line, " idle=")
			if !strings.Contains(line, "name="+clientName+" ") || strings.Contains(line, " flags=tB ") {
				continue
			}
			if _, err := fmt.Sscanf(fields, "%d", &idle); err != nil {
				t.Fatal(err)
			}
			if longest = max(longest, idle); longest > 5 && idle < longest {
				return true
			}
		}
		return false
	})
	if longest > 15 {
		t.Errorf("it was left alone for %d s", longest)
	}
}

// pushWays are the connections on which the change of a key can be pushed.
var pushWays = map[string]struct {
	keys    []Selection
	prepare func(*localserver.Proxy)
}{
	"on the push connection": {leaders(), func(*localserver.Proxy) {}},
	"on the read connection": {scattered(), refuseRedirect},
}

func TestDelayedPushIsNoInstant(t *testing.T) {
	t.Parallel()
	for name, way := range pushWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			way.prepare(proxy)
			watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: way.keys}).synced()
			proxy.Delay(200 * time.Millisecond)
			r.About("", "the delay", func(a sources.About) bool { return a.RoundTrip > 150*time.Millisecond })
			r.do("SET", "app:leader:x", uuidB, "PX", "600000")
			change := time.Now()
			if e := r.Event(sources.EventOwnerChanged, ""); e.How == sources.Told || e.After.After(change) || e.At.Before(change.Add(-time.Millisecond)) {
				t.Errorf("it changed at %v: %+v", change, e)
			}
		})
	}
}

// TestAPushThatIsHeldUpIsNoInstant holds back what the server pushes for less than the
// silence that makes a source stale: who took it is told in the stretch since the last proof,
// and who took it and gave it up meanwhile breaks the gap.
func TestAPushThatIsHeldUpIsNoInstant(t *testing.T) {
	t.Parallel()
	for name, way := range pushWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			way.prepare(proxy)
			watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: way.keys}).synced()
			r.Row("", "app:leader:x", "led", led)
			holdUp := func(commands ...[]any) {
				held := proxy.Await("ping")
				<-held
				proxy.BlackHole()
				for _, c := range commands {
					r.do(c...)
				}
				r.do("BLPOP", "nothing", "0.5")
				proxy.Resume()
			}
			before := time.Now()
			holdUp([]any{"DEL", "app:leader:x"})
			after := time.Now()
			free := r.Event(sources.EventReleased, "app:leader:x")
			if free.How == sources.Told || free.After.IsZero() || free.After.After(after.Add(-500*time.Millisecond)) || free.At.Before(before) {
				t.Errorf("released between %v and %v: %+v", before, after, free)
			}
			before = time.Now()
			holdUp([]any{"SET", "app:leader:x", uuidB}, []any{"DEL", "app:leader:x"})
			r.Row("", "app:leader:x", "a stretch that was not observed", func(row *sources.Row, st *sources.State) bool {
				for _, d := range row.Unobserved(st) {
					if !d.To.IsZero() && d.To.Sub(d.From) > 400*time.Millisecond && d.To.After(before) {
						return true
					}
				}
				return false
			})
			blinked := time.Now()
			r.do("BLPOP", "nothing", "0.2")
			r.do("SET", "app:leader:x", uuidA)
			e := r.Event(sources.EventAcquired, "app:leader:x")
			if e.Gap.Min > e.At.Sub(before) || e.Gap.Max < e.At.Sub(free.At) || e.Last != (sources.OwnerRef{}) {
				t.Errorf("free since %v, taken and given up between %v and %v: %+v", free.At, before, blinked, e)
			}
			events, _ := r.Hub.Subscribe(0).Events(0)
			for _, e := range events {
				if e.Kind == sources.EventSourceDown {
					t.Errorf("the source was stale: %+v", e)
				}
			}
		})
	}
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

func TestRefreshLooksAgainNow(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Resync: time.Hour}, held).synced()
	r.do("SWAPDB", "0", "1")
	r.Hub.Refresh("src")
	r.Expect(sources.EventReleased, "app:leader:x")
}

func TestWriteInAnotherDatabaseIsNoChange(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, held).synced()
	other := r.writer.Conn()
	defer other.Close()
	if err := other.Select(r.ctx, 1).Err(); err != nil {
		t.Fatal(err)
	}
	if err := other.Set(r.ctx, "app:leader:x", uuidB, 0).Err(); err != nil {
		t.Fatal(err)
	}
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
