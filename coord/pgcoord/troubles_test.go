package pgcoord_test

import (
	"context"
	"testing"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

// troubles are ends of a session that waits at a real server, which accepts a new one.
func troubles(t testing.TB, o pgcoord.Options) (func(testing.TB) coord.Driver, []coordtest.Trouble) {
	t.Helper()
	p := server(t, localserver.PostgresOptions{})
	nothing := func() {}
	// Where claims poll, no session stands in the queue: the one is meant that has tried and owns
	// nothing. Other connections of the same client are not the claim's.
	who := "wait_event = 'advisory'"
	if o.Poll > 0 {
		who = "backend_type = 'client backend' and application_name like 'coordtest%' and query like '%try_advisory_lock%' and " +
			"pid not in (select pid from pg_locks where locktype = 'advisory' and granted)"
	}
	each := func(what string) func() {
		return func() {
			c := sql(t, p.URL())
			eventually(t, "somebody was told", func() bool {
				return one[int64](t, c, "select count(*) filter (where "+what+"(pid)) from pg_stat_activity where "+who+" and pid <> pg_backend_pid()") > 0
			})
			c.Close(context.Background())
		}
	}
	all := []coordtest.Trouble{
		{Name: "terminated by an administrator", Begin: each("pg_terminate_backend"), End: nothing},
		{Name: "restart", Begin: p.Kill, End: func() {
			if err := p.Restart(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}},
	}
	if o.Poll == 0 {
		all = append(all, coordtest.Trouble{Name: "cancelled by an administrator", Begin: each("pg_cancel_backend"), End: nothing})
	}
	return func(t testing.TB) coord.Driver { return driver(t, p.URL(), o) }, all
}
