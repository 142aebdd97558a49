package app

import (
	"syscall"
	"testing"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// reopened starts a campaign that goes on after a loss, and takes the lease away twice.
func reopened(t *testing.T, url string, take func()) {
	t.Helper()
	h := holds(t, "campaign", "--write", "--yes", "--reopen", "--retry-delay", "100ms", url)
	first := h.line(1, "acquired")
	for i := range 2 {
		take()
		if l := h.line(2+2*i, "lost"); l.Detail == nil || l.Until != nil {
			t.Errorf("it says %+v", l)
		}
		if l := h.line(3+2*i, "acquired"); l.Owner == nil || l.Owner.ID == first.Owner.ID {
			t.Errorf("it says %+v, and at first %+v", l, first)
		}
	}
	h.signals(syscall.SIGTERM)
	h.line(6, "resigning")
	h.line(7, "resigned")
	h.ends(0)
}

func TestACampaignGoesOnInANewSessionAfterALostTerm(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := localserver.RedisForTest(t, localserver.RedisOptions{})
		c := writer(t, server.Addr())
		reopened(t, server.URL()+"?election=app:leader:x", func() {
			if n, err := c.Del(t.Context(), "app:leader:x").Result(); n != 1 {
				t.Fatalf("%d keys were removed, %v", n, err)
			}
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
		conn := connect(t, server.URL())
		reopened(t, server.URL()+"&election=4242", func() {
			if _, err := conn.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'"); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("ydb", func(t *testing.T) {
		t.Parallel()
		server := ydbForTest(t, ydbtest.Options{})
		reopened(t, server.URL(0)+"?node="+ydbNode+"&election=primary", func() {
			for _, s := range server.Sessions(ydbNode) {
				if s.Owns == 1 {
					if err := server.ExpireSession(ydbNode, s.ID); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	})
	t.Run("dflockd", func(t *testing.T) {
		t.Parallel()
		server, url := dflockd(t, dflocktest.Options{})
		reopened(t, url+"?election=billing", func() {
			if err := server.Take("billing"); err != nil {
				t.Fatal(err)
			}
		})
	})
}
