package app

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// TestAFullPoolIsNamedWithinTheWait has a pool with sessions to watch, and none for a claim.
func TestAFullPoolIsNamedWithinTheWait(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	pool := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Config: []string{"default_pool_size = 2"}})
	began := time.Now()
	h := holds(t, "acquire", "--write", "--yes", "--wait", "3s", pool.URL()+"&mutex=77")
	h.ends(exitTimeout)
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("it took %v", took)
	}
	if want := "not acquired: gave up waiting after 3s: connecting: the pooler has no server session left for us"; !strings.Contains(h.errs.String(), want) {
		t.Errorf("said %s, want %s", h.errs, want)
	}
}
