package pgsource

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestProgramsThatReconnectBehindAPoolerKeepTheirLetters(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create role alice login"}})
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{
		Server: r.server, Roles: []string{"alice"}, Config: []string{"server_lifetime = 0"}, // each client gets a session of its own
	})
	r.watch(Options{}).synced()
	type worker struct{ role, name string }
	shift := []worker{{"postgres", "worker"}, {"postgres", "other"}, {"alice", "worker"}, {"alice", ""}, {"postgres", ""}}
	for i := range 2 * len(shift) {
		w := shift[i%len(shift)]
		p := r.sessionAt(pooler.URLFor(w.role, "postgres"), w.name).do("select pg_advisory_lock(77)")
		r.row("", "77", fmt.Sprintf("%+v owns it", w), func(row *sources.Row, _ *sources.State) bool { return len(row.Terms) == i+1 && len(row.Owners) == 1 })
		p.do("select pg_advisory_unlock(77)").leave()
		r.row("", "77", "free", is(sources.StatusFree))
	}
	terms := r.row("", "77", "free", is(sources.StatusFree)).Terms
	owners := map[string]bool{}
	for i, term := range terms {
		owners[term.Owner.ID] = true
		if want := uint8(i % len(shift)); term.Hue != want {
			t.Errorf("term %d of %+v has hue %d, want %d: one for each program", i, shift[i%len(shift)], term.Hue, want)
		}
	}
	if len(owners) != len(terms) {
		t.Errorf("%d owners in %d terms: each of their sessions is one", len(owners), len(terms))
	}
}

func TestSessionsOfOneProgramThatFollowEachOtherAreTermsAndCounts(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: r.server, Config: []string{"server_lifetime = 0"}})
	r.watch(Options{}).synced()
	first := r.sessionAt(pooler.URL(), "worker").do("select pg_advisory_lock(77)")
	r.Event(sources.EventAcquired, "77")
	second := r.sessionAt(pooler.URL(), "worker")
	got := second.begin("select pg_advisory_lock(77)")
	r.row("", "77", "it waits", func(row *sources.Row, _ *sources.State) bool { return row.Queue.Len == 1 })
	first.do("select pg_advisory_unlock(77)")
	noError(t, <-got)
	row := r.row("", "77", "the second owns it", func(row *sources.Row, _ *sources.State) bool { return len(row.Terms) == 2 })
	if row.Terms[0].Hue != row.Terms[1].Hue || row.Terms[0].Owner.ID == row.Terms[1].Owner.ID {
		t.Errorf("terms %+v, want two of one letter", row.Terms)
	}
	if e := r.Event(sources.EventOwnerChanged, "77"); e.Owner.ID == e.Previous.ID {
		t.Errorf("told as %+v", e)
	}
	if n := row.Changes(row.Terms[1].Start.At, time.Hour); n != 2 {
		t.Errorf("%d changes are counted, want both", n)
	}
}
