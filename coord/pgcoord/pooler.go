package pgcoord

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
)

// errPooler: statements of ours run in sessions that others use too, in which the same
// lock is given to everybody who asks.
var errPooler = fmt.Errorf("%w: a pooler in transaction or statement mode stands between: it gives each statement another server session, "+
	"so two could own one lock: use its session mode, or the server's own address", coord.ErrRefused)

// checkPooler tells a pooler that gives us a server session of our own from one that
// lends sessions for a transaction. The former keeps the pid of ours the same, and never
// lets a second client of ours have it. A pooler of the latter sort takes the session
// that was used last, or the one that was not used for longest; the second client holds
// one in a transaction, so that either way pids meet or change unless others use the pool
// at the same instant, which every renewal would see (errMoved).
func (d *Driver) checkPooler(ctx context.Context, l *link) error {
	second, err := d.newPrepared(ctx, d.options.TTL, watchName, nil)
	if err != nil {
		return fmt.Errorf("looking at the pooler: %w", err)
	}
	defer second.close(ctx)
	other := func(sql string) (string, error) { return pidAfter(ctx, second, sql) }
	first := l.facts.pid
	steps := []func() (string, error){
		func() (string, error) { return other("begin") },
		func() (string, error) { return pidAfter(ctx, l, "") },
		func() (string, error) { return other("commit") },
		func() (string, error) { return pidAfter(ctx, l, "") },
		func() (string, error) { return pidAfter(ctx, l, "") },
	}
	mine := fmt.Sprint(first)
	for i, step := range steps {
		pid, err := step()
		switch {
		case i == 0 && replyIn(err) != nil: // not even a transaction keeps its session
			return errPooler
		case err != nil:
			return fmt.Errorf("looking at the pooler: %w", notOurLoss(err))
		}
		if ours := i != 0 && i != 2; ours != (pid == mine) {
			return errPooler
		}
	}
	return nil
}

// pidAfter runs a statement, if there is one, and tells which process serves the next.
func pidAfter(ctx context.Context, l *link, sql string) (pid string, err error) {
	err = l.do(ctx, func(ctx context.Context, conn *pgconn.PgConn) error {
		if sql != "" {
			if err := conn.Exec(ctx, sql).Close(); err != nil {
				return tidy(err)
			}
		}
		r, err := single(ctx, conn, "select pg_catalog.pg_backend_pid()")
		if err == nil {
			pid = r.text(0)
		}
		return err
	})
	return pid, err
}

// errMoved: another process of the server answered than the one that gave us the lock.
var errMoved = errors.New("another server session answered: a pooler stands between and has taken ours away")
