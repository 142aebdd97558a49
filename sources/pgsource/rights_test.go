package pgsource

import (
	"strings"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestWhatARightRefusesIsNeverAskedFor(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{
		"create role alice login", "revoke execute on function pg_control_system(), pg_control_checkpoint() from public",
	}})
	p := r.session("a")
	r.watch(Options{URL: r.server.URLFor("alice", "", "postgres")}).synced()
	for range 3 {
		p.do("select pg_advisory_lock(4242)")
		r.row("", "4242", "held", is(sources.StatusHeld))
		p.do("select pg_advisory_unlock(4242)")
		r.row("", "4242", "free", is(sources.StatusFree))
	}
	log, err := r.server.Logged()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log) {
		if strings.Contains(line, "ERROR") || strings.Contains(line, "denied") {
			t.Errorf("the server logs: %s", line)
		}
	}
}
