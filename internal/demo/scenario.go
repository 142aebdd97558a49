package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/internal/localserver"
)

// Role is the behaviour of a candidate process.
type Role string

// The roles.
const (
	RoleLeader  Role = "leader"  // leads until it is replaced
	RoleDeputy  Role = "deputy"  // leads for a while, proclaims its progress, resigns, comes back
	RoleWorker  Role = "worker"  // takes a mutex, works for some seconds, releases it
	RoleReader  Role = "reader"  // takes a mutex in shared mode, for longer
	RoleStaller Role = "staller" // takes a mutex, and now and then stops renewing it
	RoleLeaker  Role = "leaker"  // takes a lock in a connection, forgets it, and keeps the connection

	RoleScheduler Role = "scheduler" // leads until it is replaced, and proclaims the settings that it uses
	RolePublisher Role = "publisher" // writes new settings into a semaphore's data
	RolePool      Role = "pool"      // has several workers, each of which owns a permit of a semaphore while it works
	RoleService   Role = "service"   // owns a permit of an ephemeral semaphore while it runs, with its address as the data
)

// contest is one primitive and the processes that contend for it.
type contest struct {
	Task                          // without the fields that differ between its processes
	names        []string         // of its processes
	replaceEvery [2]time.Duration // bounds of the random time after which the owner is stopped gracefully; zero: never
}

func seconds(least, most time.Duration) [2]time.Duration {
	return [2]time.Duration{least * time.Second, most * time.Second}
}

// hosts returns names of machines.
func hosts(numbers ...int) []string {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = fmt.Sprintf("host-%02d", n)
	}
	return names
}

// leads reports whether a process with this role is named by its machine and a number that changes with each start,
// like a process id.
func (r Role) leads() bool { return r == RoleLeader || r == RoleDeputy || r == RoleScheduler }

// redisContests returns an election whose leader is replaced now and then, one whose leaders resign all the time, two
// stable ones that one process leads, and a mutex.
func redisContests() []contest {
	return []contest{
		{Task: Task{Key: "demo:leader:scheduler", Role: RoleLeader, TTL: 6 * time.Second}, names: hosts(1, 2, 3), replaceEvery: seconds(30, 60)},
		{Task: Task{Key: "demo:leader:reports", Role: RoleDeputy, TTL: 10 * time.Second}, names: hosts(4, 5)},
		{Task: Task{Key: "demo:leader:billing", Also: "demo:leader:invoices", Role: RoleLeader, TTL: 30 * time.Second}, names: hosts(6, 7)},
		{Task: Task{Key: "demo:lock:nightly-export", Role: RoleWorker, TTL: 5 * time.Second}, names: []string{"worker-a", "worker-b", "worker-c"}},
	}
}

const redisQuery = "election=demo:leader:*&mutex=demo:lock:*"

// postgresContests returns contests with every form of a key: an election whose leader notifies on a channel and is
// replaced, a mutex with many workers, a lock that two share, and a leaked lock with programs that wait for it in vain.
// All waiters are in the server's queue.
func postgresContests() []contest {
	return []contest{
		{Task: Task{Key: "demo:leader:ledger", Role: RoleLeader, Channel: ledgerChannel}, names: hosts(8, 9, 10), replaceEvery: seconds(45, 90)},
		{Task: Task{Key: "demo:lock:month-end", Role: RoleWorker}, names: []string{"closing-a", "closing-b", "closing-c", "closing-d"}},
		{Task: Task{Key: compactorKey, Role: RoleReader}, names: []string{"compactor-1", "compactor-2"}},
		{Task: Task{Key: leakedKey, Role: RoleLeaker}, names: []string{"invoice-api"}},
		{Task: Task{Key: leakedKey, Role: RoleWorker}, names: []string{"invoice-mail", "invoice-pdf"}},
	}
}

const (
	ledgerChannel = "demo_ledger"
	leakedKey     = "4242"
	compactorKey  = "17:-4"
	postgresQuery = "election=demo:leader:ledger&mutex=demo:lock:month-end," + compactorKey + "," + leakedKey + "&channels=" + ledgerChannel
)

// ydbContests returns the usual uses of coordination nodes: a lock, fewer permits than connections that need one, an
// election whose leader is replaced, settings that are pushed to programs, and the discovery of a service's instances.
func ydbContests() []contest {
	return []contest{
		{Task: Task{Key: ydbExport, Role: RoleWorker, TTL: 5 * time.Second}, names: []string{"export-a", "export-b", "export-c"}},
		{Task: Task{Key: ydbConnections, Role: RolePool, TTL: 5 * time.Second}, names: []string{"api-1", "api-2", "api-3"}},
		{Task: Task{Key: ydbScheduler, Role: RoleScheduler, TTL: 5 * time.Second}, names: hosts(11, 12, 13), replaceEvery: seconds(45, 90)},
		{Task: Task{Key: ydbSettings, Role: RolePublisher}, names: []string{"settings-editor"}},
		{Task: Task{Key: ydbServices, Role: RoleService, TTL: 5 * time.Second}, names: []string{"search-1", "search-2", "search-3"}, replaceEvery: seconds(60, 120)},
	}
}

const ydbQuery = "node=" + ydbNode + "&election=" + ydbScheduler + "&mutex=" + ydbExport +
	"&semaphore=" + ydbConnections + "&semaphore=" + ydbSettings + "&semaphore=" + ydbServices

// server is a running private server.
type server interface {
	URL() string
	Stop(ctx context.Context) error
}

// backend is one server of the scenario, before it is started.
type backend struct {
	name     string
	port     int // 0: any
	contests []contest
	query    string // query of a URL that selects exactly the contests
	names    map[string]string
	start    func(ctx context.Context, port int) (server, error) // after an error the server must not be used
	url      func(port int) string                               // returns the URL of a server that is not installed yet; nil: it needs no installation
}

func backends(o Options) []backend {
	return []backend{
		{
			name: "redis", port: o.RedisPort, contests: redisContests(), query: redisQuery,
			start: func(ctx context.Context, port int) (server, error) {
				return localserver.StartRedis(ctx, localserver.RedisOptions{Port: port})
			},
			url: func(port int) string { return fmt.Sprintf("redis://127.0.0.1:%d/0", port) },
		},
		{
			name: "postgres", port: o.PostgresPort, contests: postgresContests(), query: postgresQuery,
			names: map[string]string{compactorKey: "ledger/compactor"},
			start: func(ctx context.Context, port int) (server, error) {
				return localserver.StartPostgres(ctx, localserver.PostgresOptions{Port: port, Bin: o.PostgresBin})
			},
			url: func(port int) string {
				return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
			},
		},
		{
			name: "ydb", port: o.YDBPort, contests: ydbContests(), query: ydbQuery,
			start: startYDB,
		},
		{
			name: "dflockd", port: o.DflockdPort, contests: dflockdContests(), query: dflockdQuery,
			start: startDflockd,
		},
	}
}

// emulator is a server inside this process: YDB's coordination service, or dflockd.
type emulator struct {
	url string
	io.Closer
}

func (e emulator) URL() string { return e.url }

func (e emulator) Stop(context.Context) error { return e.Close() }

// guard returns a function that calls body and catches its panic, for a server inside this process.
func guard(ctx context.Context) func(body func()) {
	return func(body func()) {
		_ = spawn.Call(ctx, func() error { body(); return nil }) // otherwise a panic would end our process
	}
}
