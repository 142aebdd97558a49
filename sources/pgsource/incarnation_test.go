package pgsource

import (
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// endedWithServer waits for the owner of 4242 to be gone with its server, and returns what is said of it.
func (r *rig) endedWithServer() sources.Event {
	r.t.Helper()
	e := r.Event(sources.EventRestarted, "")
	if e := r.Event(sources.EventReleased, "4242"); e.Cause != sources.CauseRestart {
		r.t.Errorf("%+v", e)
	}
	return e
}

func TestWhatBecameOfTheServerIsSaid(t *testing.T) {
	t.Parallel()
	t.Run("a session crashed", func(t *testing.T) {
		t.Parallel()
		r := serve(t, localserver.PostgresOptions{})
		victim := r.session("a").do("select pg_advisory_lock(4242)")
		r.watch(Options{}).synced()
		noError(t, syscall.Kill(int(victim.pid), syscall.SIGKILL))
		if e := r.endedWithServer(); !strings.HasPrefix(e.Detail, "crash recovery: ") || e.How != sources.Inferred {
			t.Errorf("%+v", e)
		}
	})
	t.Run("a session crashed, seen by a plain role", func(t *testing.T) {
		t.Parallel()
		r := serve(t, localserver.PostgresOptions{Setup: []string{"create role alice login"}})
		r.root.do("checkpoint") // the role outlives the crash
		victim := r.session("a").do("select pg_advisory_lock(4242)")
		r.watch(Options{URL: r.server.URLFor("alice", "", "postgres")}).synced()
		noError(t, syscall.Kill(int(victim.pid), syscall.SIGKILL))
		if e := r.endedWithServer(); !strings.HasPrefix(e.Detail, "crash recovery: ") || e.How != sources.Inferred {
			t.Errorf("%+v", e)
		}
	})
	t.Run("another of several", func(t *testing.T) {
		t.Parallel()
		r := serve(t, localserver.PostgresOptions{})
		standby := localserver.PostgresForTest(t, localserver.PostgresOptions{StandbyOf: r.server})
		other := r.sessionAt(standby.URL(), "promotes")
		r.session("a").do("select pg_advisory_lock(4242)")
		r.watch(Options{URL: "postgres://postgres@" + r.server.Addr() + "," + standby.Addr() + "/postgres?sslmode=disable"}).synced()
		r.server.Kill()
		other.do("select pg_promote()")
		if e := r.endedWithServer(); !strings.HasPrefix(e.Detail, "another server: "+standby.Addr()+": ") || e.How != sources.Told {
			t.Errorf("%+v", e)
		}
	})
	t.Run("its connection was cut", func(t *testing.T) {
		t.Parallel()
		r := borrow(t)
		r.session("a").do("select pg_advisory_lock(4242)")
		r.watch(Options{}).synced()
		r.root.do("select pg_terminate_backend(pid) from pg_stat_activity where application_name = '" + clientName + "'")
		r.Event(sources.EventSourceDown, "")
		r.Event(sources.EventSourceUp, "")
		r.row("", "4242", "held", is(sources.StatusHeld))
		for _, e := range r.Drain() {
			if e.Kind == sources.EventRestarted {
				t.Errorf("nothing became of it: %+v", e)
			}
		}
	})
}
