package stories

import (
	"fmt"
	"net"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// ydbStory watches semaphores of these limits; one of limit 1 is a mutex.
func ydbStory(t *testing.T, semaphores map[string]uint64) (*story, *ydbtest.Server) {
	t.Helper()
	return ydbStoryWith(t, quick, semaphores)
}

func ydbStoryWith(t *testing.T, config string, semaphores map[string]uint64) (*story, *ydbtest.Server) {
	t.Helper()
	s := &story{T: t}
	server := s.ydb(semaphores)
	config += fmt.Sprintf("sources:\n- name: jobs\n  url: %q\n  watch:\n", server.URL(0))
	for name, limit := range semaphores {
		kind := "semaphore"
		if limit == 1 {
			kind = "mutex"
		}
		config += fmt.Sprintf("  - {%s: %s, node: %s}\n", kind, name, node)
	}
	return tell(t, config), server
}

func TestTwoSessionsWaitForEachOther(t *testing.T) {
	t.Parallel()
	s, server := ydbStory(t, map[string]uint64{"orders": 1, "stock": 1})
	a, b := s.member(server, "host-1:1"), s.member(server, "host-2:1")
	s.takes(a, "orders", "host-1:1", 1)
	s.takes(b, "stock", "host-2:1", 1)
	s.queues(a, "stock", "host-1:1", 1)
	s.queues(b, "orders", "host-2:1", 1)
	s.record()
	s.finds(truth{"ring", []string{"orders", "stock"}, []string{"^ring: 2 wait for each other", "^told: host-1:1 waits for jobs/local/app/stock, which host-2:1 owns$", "^told: host-2:1 waits for jobs/local/app/orders, which host-1:1 owns$", "^next: end one of them"}})
}

func TestAChainOfWaitsIsNoRing(t *testing.T) {
	t.Parallel()
	s, server := ydbStory(t, map[string]uint64{"orders": 1, "stock": 1})
	a, b, c := s.member(server, "host-1:1"), s.member(server, "host-2:1"), s.member(server, "host-3:1")
	s.takes(a, "orders", "host-1:1", 1)
	s.takes(b, "stock", "host-2:1", 1)
	s.queues(a, "stock", "host-1:1", 1)
	s.queues(c, "orders", "host-3:1", 1)
	s.record()
	s.finds(
		truth{"owner-waits", []string{"orders"}, []string{"^told: host-1:1 owns it, and itself waits for jobs/local/app/stock, which host-2:1 owns$", "^next: look at jobs/local/app/stock first"}},
		truth{"long-wait", []string{"stock"}, nil},
	)
}

func TestASemaphoreIsFull(t *testing.T) {
	t.Parallel()
	s, server := ydbStory(t, map[string]uint64{"connections": 10})
	s.takes(s.member(server, "host-1:1"), "connections", "host-1:1", 3)
	s.takes(s.member(server, "host-2:1"), "connections", "host-2:1", 7)
	s.queues(s.member(server, "host-3:1"), "connections", "host-3:1", 1)
	s.record()
	s.finds(truth{"permits-taken", []string{"connections"}, []string{"10 of 10 permits taken", "^told: all permits are taken$", "host-2:1 has most, 7", "^effect: 1 waits for"}})
}

func TestAFullSemaphoreThatNobodyWaitsForIsNoProblem(t *testing.T) {
	t.Parallel()
	s, server := ydbStory(t, map[string]uint64{"connections": 10})
	s.takes(s.member(server, "host-1:1"), "connections", "host-1:1", 10)
	s.record()
	s.wait(3 * time.Second)
	s.calm()
}

func TestTheFirstInTheQueueWantsMoreThanIsFree(t *testing.T) {
	t.Parallel()
	s, server := ydbStory(t, map[string]uint64{"connections": 10})
	s.takes(s.member(server, "host-1:1"), "connections", "host-1:1", 7)
	s.queues(s.member(server, "big"), "connections", "big", 5)
	s.queues(s.member(server, "small-1"), "connections", "small-1", 1)
	s.queues(s.member(server, "small-2"), "connections", "small-2", 1)
	s.record()
	s.finds(truth{"head-blocks", []string{"connections"}, []string{"^told: big, first in the queue, needs 5 permits, and 3 are free; 2 behind it could go$"}})
}

func TestTheFirstInTheQueueWantsNoMoreThanOthers(t *testing.T) {
	t.Parallel()
	s, server := ydbStory(t, map[string]uint64{"connections": 10})
	s.takes(s.member(server, "host-1:1"), "connections", "host-1:1", 7)
	s.queues(s.member(server, "big-1"), "connections", "big-1", 5)
	s.queues(s.member(server, "big-2"), "connections", "big-2", 5)
	s.record()
	s.finds(truth{"permits-taken", []string{"connections"}, []string{"^told: 3 permits are free, too few for the first in the queue$", "!could go"}})
}

func TestASessionOfYDBEndsWithALeader(t *testing.T) {
	t.Parallel()
	s := &story{T: t}
	server := s.ydb(map[string]uint64{"primary": 1, "backup": 1})
	s = tell(t, fmt.Sprintf(quick+"sources:\n- {name: jobs, url: %q, watch: [{election: primary, node: %s}, {election: backup, node: %s}]}\n", server.URL(0), node, node))
	a := s.member(server, "host-1:1")
	s.takes(a, "primary", "host-1:1", 1)
	s.takes(a, "backup", "host-1:1", 1)
	s.record("jobs/primary", "jobs/backup")
	for _, session := range server.Sessions(node) {
		if session.Description == "host-1:1" {
			if err := server.ExpireSession(node, session.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.finds(truth{"leader-gone", []string{"backup", "primary"}, []string{"all were owned by host-1 until .*; all ended at once", "^possible: it gave it up$", "^possible: its session ended: it was killed, stopped or cut off$"}})
}

func TestASemaphoreIsDeletedWhileItIsOwned(t *testing.T) {
	t.Parallel()
	s := &story{T: t}
	server := s.ydb(map[string]uint64{"primary": 1})
	s = tell(t, fmt.Sprintf(quick+"sources:\n- {name: jobs, url: %q, watch: [{election: primary, node: %s}]}\n", server.URL(0), node))
	s.takes(s.member(server, "host-1:1"), "primary", "host-1:1", 1)
	s.record("jobs/primary")
	if err := server.DeleteSemaphore(node, "primary"); err != nil {
		t.Fatal(err)
	}
	s.finds(truth{"deleted", []string{"primary"}, []string{"it was deleted at .* while host-1:1 owned it", "^next: find out who deleted it"}})
}

func TestTwoProgramsWaitForEachOtherAcrossServers(t *testing.T) {
	t.Parallel()
	s := &story{T: t}
	jobs := s.ydb(map[string]uint64{"orders": 1})
	ledger := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	s = tell(t, fmt.Sprintf(quick+"sources:\n- {name: jobs, url: %q, watch: [{mutex: orders, node: %s}]}\n- {name: ledger, url: %q, watch: [{mutex: '7'}]}\n", jobs.URL(0), node, ledger.URL()))
	a, b := s.member(jobs, "host-1:1"), s.session(ledger.URL(), "host-2:1")
	s.takes(a, "orders", "host-1:1", 1)
	s.exec(b, "select pg_advisory_lock(7)")
	s.queues(s.member(jobs, "host-2:1"), "orders", "host-2:1", 1)
	s.waits(ledger.URL(), "host-1:1", "select pg_advisory_lock(7)")
	s.record()
	s.finds(truth{"ring", []string{"7", "orders"}, []string{"^told: host-1:1 .*waits for ledger/postgres/7, which host-2:1", "^told: host-2:1 waits for jobs/local/app/orders, which host-1:1 owns"}})
}

func TestTwoProgramsOfOneHostAreNoRing(t *testing.T) {
	t.Parallel()
	s := &story{T: t}
	jobs := s.ydb(map[string]uint64{"orders": 1})
	ledger := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	s = tell(t, fmt.Sprintf(quick+"sources:\n- {name: jobs, url: %q, watch: [{mutex: orders, node: %s}]}\n- {name: ledger, url: %q, watch: [{mutex: '7'}]}\n", jobs.URL(0), node, ledger.URL()))
	s.takes(s.member(jobs, "host-1:1"), "orders", "host-1:1", 1)
	s.exec(s.session(ledger.URL(), "host-2:1"), "select pg_advisory_lock(7)")
	s.queues(s.member(jobs, "host-2:2"), "orders", "host-2:2", 1)
	s.waits(ledger.URL(), "host-1:2", "select pg_advisory_lock(7)")
	s.record()
	s.finds(truth{"owner-idle", []string{"7"}, nil}, truth{"long-wait", []string{"orders"}, nil})
}

func TestALockIsOnTheWrongServer(t *testing.T) {
	t.Parallel()
	var servers []*dflocktest.Server
	for range 2 {
		d, err := dflocktest.Start(dflocktest.Options{ReadTimeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		servers = append(servers, d)
	}
	s := tell(t, fmt.Sprintf(quick+"sources:\n- {name: workers, url: 'dflockd://%s,%s'}\n", servers[0].Addr(), servers[1].Addr()))
	for _, d := range servers { // one of them is wrong
		conn, err := net.Dial("tcp", d.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "l\njob\n0 300\n"); err != nil {
			t.Fatal(err)
		}
	}
	s.record()
	s.finds(truth{"two-owners", []string{"job", "job"}, []string{"^told: .* is the wrong server for it: its hash says "}})
}
