package pgsource

import (
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestOwnersAndQueueAreShownInOrder(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{})
	a := r.session("owner").do("select pg_advisory_lock(4242)")
	x, s, y, z := r.session("x"), r.session("s"), r.session("y"), r.session("z")
	r.wait(x, "select pg_advisory_lock(4242)")
	r.wait(s, "select pg_advisory_lock_shared(4242)")
	r.wait(y, "select pg_advisory_lock(4242)")
	r.wait(z, "select pg_advisory_lock_shared(4242)")
	r.watch(Options{})
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	if got := owners(row.Primitive); got != pids(a.pid) {
		t.Errorf("owners %s, want %d", got, a.pid)
	}
	if got, want := queue(row.Queue.Waiters), pids(x.pid, pids(s.pid)+"s", y.pid, pids(z.pid)+"s"); got != want {
		t.Errorf("queue %s, want %s", got, want)
	}
	blocked := []string{pids(a.pid), pids(a.pid, x.pid), pids(a.pid, x.pid, s.pid), pids(a.pid, x.pid, y.pid)}
	for i, w := range row.Queue.Waiters {
		if got := attr(w.Attrs, "blocked by"); got != blocked[i] {
			t.Errorf("waiter %d is blocked by %s, want %s", i, got, blocked[i])
		}
		if w.Since.How != sources.Told || w.Since.At.IsZero() {
			t.Errorf("waiter %d waits since %+v", i, w.Since)
		}
	}
}
