package app

import (
	"fmt"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

// leftRig is a campaign through a proxy that will drop our side of its links only.
func leftRig(t *testing.T, p *localserver.Postgres, target, host string, key int) (*kept, *localserver.Proxy, *borrower) {
	t.Helper()
	proxy := localserver.ProxyForTest(t, host)
	h := holds(t, "campaign", "--write", "--yes", strings.Replace(target, host, proxy.Addr(), 1)+fmt.Sprintf("&election=%d", key))
	h.line(1, "acquired")
	return h, proxy, &borrower{t: t, direct: login(t, p.URL(), "direct").conn, key: key}
}

func TestALockThatALostLinkLeftBehindIsFreeWhenTheCommandEnds(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	h, proxy, lock := leftRig(t, p, p.URL(), p.Addr(), 4242)
	proxy.DropClients()
	h.line(2, "lost")
	h.ends(exitLost)
	if pid := lock.owner(); pid != 0 {
		t.Errorf("process %d owns it after the command has ended", pid)
	}
	if strings.Contains(h.errs.String(), "may be owned still") {
		t.Errorf("said %s", h.errs)
	}
}

func TestASessionThatCannotBeEndedIsNamedOnStandardError(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p})
	h, proxy, lock := leftRig(t, p, b.URL(), b.Addr(), 4243)
	pid := lock.owner()
	proxy.DropClients()
	h.line(2, "lost")
	h.ends(exitLost)
	if want := fmt.Sprintf("select pg_terminate_backend(%d)", pid); pid == 0 || !strings.Contains(h.errs.String(), want) {
		t.Errorf("said %s, want %s", h.errs, want)
	}
}
