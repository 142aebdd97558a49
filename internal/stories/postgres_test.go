package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

func postgresStory(t *testing.T, watch string) (*story, *localserver.Postgres) {
	t.Helper()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	return tell(t, fmt.Sprintf(quick+"sources:\n- {name: ledger, url: %q, watch: [%s]}\n", server.URL(), watch)), server
}

func TestAnOwnerIdleInATransactionKeepsOthersWaiting(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	owner := s.session(server.URL(), "batch")
	s.exec(owner, "begin")
	s.exec(owner, "select pg_advisory_xact_lock(7)")
	s.waits(server.URL(), "worker-1", "select pg_advisory_lock(7)")
	s.waits(server.URL(), "worker-2", "select pg_advisory_lock(7)")
	s.finds(truth{"owner-idle", []string{"7"}, []string{"batch pid .* is idle in a transaction since", "^effect: 2 wait, the longest for .*worker-1 pid.*; 2 waiters hold back vacuum in their databases$", `^next: ask who runs batch.* \[4\]`}})
}

func TestAnOwnerThatWorksKeepsOthersWaiting(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	owner := s.session(server.URL(), "batch")
	s.exec(owner, "begin")
	s.exec(owner, "select pg_advisory_xact_lock(7)")
	s.keeps(owner, "select pg_sleep(600)")
	s.waits(server.URL(), "worker-1", "select pg_advisory_lock(7)")
	s.finds(truth{"long-wait", []string{"7"}, []string{"^told: batch pid .* owns it", "!idle"}})
}

func TestAWaitThatIsShortIsNoProblem(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	s := tell(t, fmt.Sprintf("sources:\n- {name: ledger, url: %q, watch: [{mutex: '7'}]}\n", server.URL())) // 30 s, as everywhere
	owner := s.session(server.URL(), "batch")
	s.exec(owner, "begin")
	s.exec(owner, "select pg_advisory_xact_lock(7)")
	s.waits(server.URL(), "worker-1", "select pg_advisory_lock(7)")
	s.gets("ledger/7", waiters(1))
	s.calm()
}

func TestAKilledSessionLosesSeveralLocks(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '1', expected: true}, {mutex: '2', expected: true}, {mutex: '3', expected: true}")
	owner := s.session(server.URL(), "batch")
	s.exec(owner, "select pg_advisory_lock(1), pg_advisory_lock(2)")
	other := s.session(server.URL(), "other")
	s.exec(other, "select pg_advisory_lock(3)")
	s.record("ledger/1", "ledger/2", "ledger/3")
	s.exec(s.session(server.URL(), "person"), fmt.Sprintf("select pg_terminate_backend(%d)", owner.PgConn().PID()))
	s.finds(truth{"owner-gone", []string{"1", "2"}, []string{"^owner-gone: 2 mutexes have no owner$", "all were owned by batch", "sessions ended", "^possible: it was killed or restarted$", "^possible: its connection was cut$"}})
}

func TestAnotherServerTakesOver(t *testing.T) {
	t.Parallel()
	a, b := localserver.PostgresForTest(t, localserver.PostgresOptions{}), localserver.PostgresForTest(t, localserver.PostgresOptions{})
	url := strings.Replace(a.URL(), a.Addr(), a.Addr()+","+b.Addr(), 1)
	s := tell(t, fmt.Sprintf(quick+"sources:\n- {name: ledger, url: %q, watch: [{mutex: '1', expected: true}]}\n", url))
	s.exec(s.session(a.URL(), "batch"), "select pg_advisory_lock(1)")
	s.record("ledger/1")
	a.Kill()
	s.finds(truth{"server-restarted", []string{"1"}, []string{"had no owner since another server answers for postgres ledger$", "another server: " + b.Addr()}})
}

func TestAProgramUnlocksWhatShouldBeOwned(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '1', expected: true}, {mutex: '2', expected: true}")
	owner := s.session(server.URL(), "batch")
	s.exec(owner, "select pg_advisory_lock(1), pg_advisory_lock(2)")
	s.record("ledger/1", "ledger/2")
	s.exec(owner, "select pg_advisory_unlock(1)")
	s.finds(truth{"leader-resigned", []string{"1"}, []string{"should be owned, and is free$", "batch pid .* gave it up at"}})
}

func TestALockLeaksInAPooledSession(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: server, Mode: "transaction"})
	leak, err := pgx.Connect(t.Context(), pooler.URL()+"&application_name=batch&default_query_exec_mode=simple_protocol")
	if err != nil {
		t.Fatal(err)
	}
	s.exec(leak, "select pg_advisory_lock(7)")
	if err := leak.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.waits(server.URL(), "worker-1", "select pg_advisory_lock(7)")
	s.finds(truth{"owner-idle", []string{"7"}, []string{"batch pid .* is idle", "^effect: 1 waits for"}})
}

func TestAnExclusiveWaiterKeepsOthersFromSharing(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	s.exec(s.session(server.URL(), "reader-1"), "select pg_advisory_lock_shared(7)")
	s.waits(server.URL(), "writer", "select pg_advisory_lock(7)")
	s.gets("ledger/7", waiters(1))
	s.waits(server.URL(), "reader-2", "select pg_advisory_lock_shared(7)")
	s.waits(server.URL(), "reader-3", "select pg_advisory_lock_shared(7)")
	s.gets("ledger/7", waiters(3))
	s.finds(truth{"head-blocks", []string{"7"}, []string{"^told: writer pid .*, first in the queue, wants it exclusively, while 1 owner shares it; 2 behind it could share it too", "reader-1 pid .* is idle"}})
}

func TestASharedWaiterBehindAnExclusiveOwnerBlocksNobody(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	s.exec(s.session(server.URL(), "writer"), "select pg_advisory_lock(7)")
	s.waits(server.URL(), "reader-1", "select pg_advisory_lock_shared(7)")
	s.gets("ledger/7", waiters(1))
	s.waits(server.URL(), "reader-2", "select pg_advisory_lock_shared(7)")
	s.gets("ledger/7", waiters(2))
	s.finds(truth{"owner-idle", []string{"7"}, []string{"^told: writer pid .* is idle", "!first in the queue, wants"}})
}

func TestASessionWaitsForItsOwnSharedLock(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	other, own := s.session(server.URL(), "reader"), s.session(server.URL(), "upgrader")
	s.exec(other, "select pg_advisory_lock_shared(7)")
	s.exec(own, "select pg_advisory_lock_shared(7)")
	s.keeps(own, "select pg_advisory_lock(7)")
	s.gets("ledger/7", waiters(1))
	// Postgres gives a session its own upgrade: it waits for the other reader alone.
	s.finds(truth{"owner-idle", []string{"7"}, []string{"reader pid .* is idle"}})
}

func TestTheLockTableIsNearlyFull(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Config: []string{"max_locks_per_transaction = 10", "max_connections = 20"}})
	s := tell(t, fmt.Sprintf(quick+"sources:\n- {name: ledger, url: %q}\n", server.URL()))
	c := s.session(server.URL(), "batch")
	s.exec(c, "select pg_advisory_lock(n) from generate_series(1, 100) n")
	s.calm() // a twin: a third of it
	s.exec(c, "select pg_advisory_lock(n) from generate_series(101, 250) n")
	s.finds(truth{"lock-table-full", nil, []string{"^lock-table-full: the lock table of postgres ledger .*is nearly full$", "^told: .* % taken by advisory locks$", "next: raise max_locks_per_transaction"}})
}

func TestAPooledSessionWaitsForALockOfItsOwnProgram(t *testing.T) {
	t.Parallel()
	s, server := postgresStory(t, "{mutex: '7'}")
	s.exec(s.session(server.URL(), "host-1:4411"), "select pg_advisory_lock(7)")
	s.waits(server.URL(), "host-1:4411", "select pg_advisory_lock(7)")
	s.finds(truth{"own-upgrade", []string{"7"}, []string{"host-1:4411.* owns it in another session, and waits for it in this one"}})
}
