package pgsource

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"coordtop/internal/ground/pgwire"
)

// server holds the facts that a connection has read about its server and about itself.
type server struct {
	version  string
	major    int
	database string
	oid      uint32 // of the database
	user     string
	standby  bool
	address  string         // where we reached it
	started  int64          // Unix µs of the server's clock
	children childProcesses // changes if a crash of one session has ended all
	system   string         // the cluster's identifier; "" if we may not read it
	capacity capacity
	pooler   pgwire.Pooler
	blocking bool          // pg_blocking_pids may be called
	trip     time.Duration // of a round trip to it
}

// capacity is the size of the server's lock table.
type capacity struct{ perTransaction, connections, prepared uint64 }

// entries returns the nominal size. Servers can exceed it: a default installation accepted almost twice as many.
func (t capacity) entries() uint64 { return t.perTransaction * (t.connections + t.prepared) }

// incarnation returns a text that identifies a run of the server, with which all advisory locks end. It does not
// include the timeline, because a standby that is promoted in place keeps its processes, sessions and locks.
func (s *server) incarnation() string {
	text := time.UnixMicro(s.started).UTC().Format(exactly)
	if s.system != "" {
		text = s.system + "@" + text
	}
	return text
}

func (s *server) role() string {
	if s.standby {
		return "standby"
	}
	return "primary"
}

const serverSQL = `select pg_catalog.current_database(),
 (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database()), current_user, pg_catalog.pg_is_in_recovery(),
 (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint,
 current_setting('max_locks_per_transaction'), current_setting('max_connections'), current_setting('max_prepared_transactions'),
 pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'execute'),
 pg_catalog.has_function_privilege('pg_catalog.pg_blocking_pids(integer)', 'execute'),
 (select backend_start::text from pg_catalog.pg_stat_activity where backend_type = 'checkpointer'),
 (select stats_reset::text from pg_catalog.pg_stat_archiver)`

// askServer reads the facts over a new connection.
func askServer(ctx context.Context, conn *pgwire.Conn) (server, error) {
	s := server{version: conn.Version(), major: conn.Major(), pooler: conn.Pooler(), address: conn.Address()}
	const doing = "asking the server about itself"
	start := time.Now()
	row, err := conn.One(ctx, serverSQL)
	s.trip = time.Since(start)
	if err != nil {
		return s, pgwire.Because(ctx, doing, err)
	}
	number := func(i int) int64 {
		n, bad := strconv.ParseInt(row.Text(i), 10, 64)
		err = cmp.Or(err, bad)
		return n
	}
	s.database, s.oid, s.user = row.Text(0), uint32(number(1)), row.Text(2)
	s.standby, s.started, s.blocking = row.Text(3) == "t", number(4), row.Text(9) == "t"
	s.children = childProcesses{checkpointer: row.Text(10), statistics: row.Text(11)}
	s.capacity = capacity{uint64(number(5)), uint64(number(6)), uint64(number(7))}
	if err != nil {
		return s, fmt.Errorf("%s: %w", doing, err)
	}
	if row.Text(8) != "t" { // each refusal would be in the server's log
		return s, nil
	}
	start = time.Now()
	row, err = conn.One(ctx, "select system_identifier::text from pg_catalog.pg_control_system()")
	s.system, s.trip = row.Text(0), time.Since(start)
	return s, pgwire.Because(ctx, doing, err)
}

// exactly is the layout of times in identifiers.
const exactly = "2006-01-02T15:04:05.000000Z"

// instant writes a time for an attribute.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
