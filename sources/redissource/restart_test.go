package redissource

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// TestTheSameOwnerBehindALostRestartIsAnotherTerm kills a server that saved nothing, and one that
// saved all; the same owner is there again, with the same deadline, before anybody looks.
func TestTheSameOwnerBehindALostRestartIsAnotherTerm(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]bool{"lost": false, "kept": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := []any{"SET", "app:leader:x", "host-1:1", "PXAT", time.Now().Add(time.Hour).UnixMilli()}
			r := serve(t, localserver.RedisOptions{Keep: keep}, set)
			proxy := localserver.ProxyForTest(t, r.server.Addr())
			watch(t, r, Options{Client: client(proxy.Addr(), "", ""), Selections: leaders()}).synced()
			before := r.Row("", "app:leader:x", "led", led)
			proxy.BlackHole()
			r.server.Kill()
			noError(t, r.server.Restart(r.ctx))
			r.do(set...)
			proxy.Resume()
			if e := r.Event(sources.EventRestarted, ""); strings.HasPrefix(e.Detail, "restarted without its data") == keep || e.How != sources.Told {
				t.Errorf("%+v", e)
			}
			r.synced()
			row := r.Row("", "app:leader:x", "led again", led)
			if another := len(row.Terms) > len(before.Terms); another == keep {
				t.Errorf("%d terms, then %d: %+v", len(before.Terms), len(row.Terms), row.Terms)
			}
		})
	}
}

func TestTheStartOfTheServerIsTold(t *testing.T) {
	t.Parallel()
	earliest := time.Now().Add(-3 * time.Second)
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, held).synced()
	r.About("", "a start", func(a sources.About) bool { return a.Started.After(earliest) && a.Started.Before(time.Now()) })
}
