package redissource

import (
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// pushWays are the ways in which the change of a key can be pushed.
var pushWays = map[string][]Selection{"by its prefix": leaders(), "by itself": scattered()}

// throughProxy watches the lock that is held through a proxy, in each of pushWays.
func throughProxy(t *testing.T, o Options, test func(t *testing.T, r *rig, proxy *localserver.Proxy)) {
	t.Parallel()
	for name, keys := range pushWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{}, held)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			o := o
			o.Client, o.Selections = client(proxy.Addr(), "", ""), keys
			watch(t, r, o).synced()
			test(t, r, proxy)
		})
	}
}

func TestDelayedPushIsNoInstant(t *testing.T) {
	throughProxy(t, Options{}, func(t *testing.T, r *rig, proxy *localserver.Proxy) {
		proxy.Delay(200 * time.Millisecond)
		r.About("", "the delay", func(a sources.About) bool { return a.RoundTrip > 150*time.Millisecond })
		r.do("SET", "app:leader:x", uuidB, "PX", "600000")
		change := time.Now()
		if e := r.Event(sources.EventOwnerChanged, ""); e.How == sources.Told || e.After.After(change) || e.At.Before(change.Add(-time.Millisecond)) {
			t.Errorf("it changed at %v: %+v", change, e)
		}
	})
}

// TestAPushThatIsHeldUpIsNoInstant holds back what the server pushes for less than the
// silence that makes a source stale: who took it is told in the stretch since the last proof,
// and who took it and gave it up meanwhile breaks the gap.
func TestAPushThatIsHeldUpIsNoInstant(t *testing.T) {
	throughProxy(t, Options{}, func(t *testing.T, r *rig, proxy *localserver.Proxy) {
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

// TestAChangeInDarknessCameAfterTheLastProof breaks the connections long after the last look
// at the key.
func TestAChangeInDarknessCameAfterTheLastProof(t *testing.T) {
	throughProxy(t, Options{Resync: time.Hour}, func(t *testing.T, r *rig, proxy *localserver.Proxy) {
		r.Row("", "app:leader:x", "led", led)
		read := time.Now()
		r.do("BLPOP", "nothing", "1")
		for range 3 { // each is sent when the one before it was answered
			<-proxy.Await("ping")
		}
		proxy.Cut()
		r.do("SET", "app:leader:x", uuidB, "PX", "600000")
		change := time.Now()
		proxy.Resume()
		e := r.Event(sources.EventOwnerChanged, "")
		if !e.After.After(read.Add(500*time.Millisecond)) || e.After.After(change) || e.At.Before(change) {
			t.Errorf("last read at %v, changed at %v: %+v", read, change, e)
		}
	})
}
