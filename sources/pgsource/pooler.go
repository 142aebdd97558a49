package pgsource

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// pooler says what stands between us and the server.
type pooler uint8

const (
	direct        pooler = iota
	pooledSession        // it gives us a server session of our own
	pooledLent           // it lends one for each transaction: there is nothing to set, prepare or listen with
)

// findPooler compares the process that serves us with the one that the login named. Where
// they differ, a second connection tells the modes apart: it holds a server session in a
// transaction, so that a pooler that lends sessions gives it ours, or ours to it, or
// another to us.
func findPooler(ctx context.Context, o *Options, config *pgconn.Config, l *line, pid uint32) (pooler, error) {
	if l.conn.PID() == pid {
		return direct, nil
	}
	second, err := open(ctx, o, config, nil)
	if err != nil {
		return direct, err
	}
	defer second.close()
	steps := []struct {
		on   *line
		sql  string
		ours bool
	}{{second, "begin", false}, {l, "", true}, {second, "commit", false}, {l, "", true}, {l, "", true}}
	for _, s := range steps {
		served, err := servedBy(ctx, s.on.conn, s.sql)
		if err != nil {
			return direct, err
		}
		if s.ours != (served == pid) {
			return pooledLent, nil
		}
	}
	return pooledSession, nil
}

// servedBy runs a statement, if there is one, and tells which process serves the next.
func servedBy(ctx context.Context, conn *pgconn.PgConn, sql string) (uint32, error) {
	const doing = "looking at the pooler"
	if sql != "" {
		if err := conn.Exec(ctx, sql).Close(); err != nil {
			return 0, because(ctx, doing, err)
		}
	}
	row, err := ask(ctx, conn, "select pg_catalog.pg_backend_pid()")
	if err != nil {
		return 0, because(ctx, doing, err)
	}
	n, err := strconv.ParseUint(row[0], 10, 32)
	return uint32(n), because(ctx, doing, err)
}
