package app

import (
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

func TestOneWordIsSaidWhereAProxyIsBetweenUsAndPostgres(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	between := strings.Replace(p.URL(), p.Addr(), localserver.ProxyForTest(t, p.Addr()).Addr(), 1)
	const words = "NAT or a proxy stands between"
	for url, want := range map[string]int{p.URL(): 0, between: 1} {
		url += "&mutex=4242"
		w := newWorld(t)
		if code := w.main(t.Context(), "get", url); code != 0 || strings.Count(w.stderr.String(), words) != want {
			t.Errorf("get: exit code %d, %q, want it %d times", code, w.stderr, want)
		}
		h := holds(t, "acquire", "--write", "--yes", url)
		h.line(1, "acquired")
		h.types("resign")
		h.ends(0)
		if strings.Count(h.errs.String(), words) != want {
			t.Errorf("acquire: %q, want it %d times", h.errs, want)
		}
	}
}
