package pgsource

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// oldest is the lowest version that will do.
const oldest = 12

// statementLimit is what the server allows a statement of ours.
const statementLimit = 5 * time.Second

// server is what a connection tells of its server and of itself.
type server struct {
	version  string
	major    int
	pid      uint32 // of the process that serves us
	database string
	oid      uint32 // of the database
	user     string
	standby  bool
	started  int64  // Unix µs of its clock
	system   string // the cluster's identifier; "": we may not see it
	timeline string // "": we may not see it
	capacity lockTable
	pooler   pooler
	trip     time.Duration // of a round trip to it
}

// lockTable is what the table of locks has room for.
type lockTable struct{ perTransaction, connections, prepared uint64 }

// entries is the nominal size. Servers have some slack beyond it (facts: almost twice as
// much went in on a default installation).
func (t lockTable) entries() uint64 { return t.perTransaction * (t.connections + t.prepared) }

// incarnation identifies a life of the server: all advisory locks end with it. The
// timeline is left out on purpose: a standby that is promoted in place keeps its
// processes, sessions and locks.
func (s *server) incarnation() string {
	text := instant(time.UnixMicro(s.started), time.Microsecond)
	if s.system != "" {
		text = s.system + "@" + text
	}
	return text
}

func (s *server) role() string {
	if s.standby {
		return roleStandby
	}
	return rolePrimary
}

const (
	roleStandby = "standby"
	rolePrimary = "primary"
)

const serverSQL = `select pg_catalog.pg_backend_pid(), pg_catalog.current_database(),
 (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database()), current_user, pg_catalog.pg_is_in_recovery(),
 (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint,
 current_setting('max_locks_per_transaction'), current_setting('max_connections'), current_setting('max_prepared_transactions')`

// askServer reads the facts of a fresh connection.
func askServer(ctx context.Context, conn *pgconn.PgConn) (server, error) {
	s := server{version: conn.ParameterStatus("server_version")}
	var err error
	if s.major, err = majorVersion(s.version); err != nil {
		return s, err
	}
	row, err := ask(ctx, conn, serverSQL)
	if err != nil {
		return s, because(ctx, "asking the server about itself", err)
	}
	n := numbers{}
	s.pid, s.database, s.oid, s.user = uint32(n.read(row[0])), row[1], uint32(n.read(row[2])), row[3]
	s.standby, s.started = row[4] == "t", n.read(row[5])
	s.capacity = lockTable{uint64(n.read(row[6])), uint64(n.read(row[7])), uint64(n.read(row[8]))}
	if n.err != nil {
		return s, fmt.Errorf("asking the server about itself: %w", n.err)
	}
	start := time.Now()
	if s.system, err = askIfAllowed(ctx, conn, "select system_identifier::text from pg_catalog.pg_control_system()"); err != nil {
		return s, err
	}
	s.trip = time.Since(start)
	s.timeline, err = askIfAllowed(ctx, conn, "select timeline_id::text from pg_catalog.pg_control_checkpoint()")
	return s, err
}

// numbers reads several numbers and keeps the first error.
type numbers struct{ err error }

func (n *numbers) read(text string) int64 {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil && n.err == nil {
		n.err = err
	}
	return v
}

// askIfAllowed returns "" where we have no right to know.
func askIfAllowed(ctx context.Context, conn *pgconn.PgConn, sql string) (string, error) {
	row, err := ask(ctx, conn, sql)
	var reply *pgconn.PgError
	switch {
	case err == nil:
		return row[0], nil
	case errors.As(err, &reply) && reply.Code == stateNoRight:
		return "", nil
	}
	return "", because(ctx, "asking the server about itself", err)
}

// versionError: the server cannot be watched.
type versionError struct{ version string }

func (e *versionError) Error() string {
	return fmt.Sprintf("the server is version %q: Postgres %d or newer is needed", e.version, oldest)
}

// majorVersion reads "15.18 (Debian 15.18-1)", "17beta2" and "9.6.24".
func majorVersion(text string) (int, error) {
	digits := text
	if i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = text[:i]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < oldest {
		return 0, &versionError{text}
	}
	return n, nil
}

// settle makes a connection of our own one that can only look. It is not for connections
// through a pooler that lends server sessions: the next borrower would have our settings.
func settle(ctx context.Context, conn *pgconn.PgConn) error {
	_, err := ask(ctx, conn, `select pg_catalog.set_config('default_transaction_read_only', 'on', false),
 pg_catalog.set_config('statement_timeout', $1, false), pg_catalog.set_config('lock_timeout', '1000', false)`,
		strconv.FormatInt(statementLimit.Milliseconds(), 10))
	return because(ctx, "configuring the session", err)
}

// instant writes a time as the attributes and identifiers have it.
func instant(t time.Time, precision time.Duration) string {
	if precision >= time.Second {
		return t.UTC().Format("2006-01-02T15:04:05Z")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}
