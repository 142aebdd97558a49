package pgcoord

import (
	"context"
	"errors"
	"fmt"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
)

var _ coord.ForceReleaser = (*Driver)(nil)

const watchName = "coordtop-watch" // the name of connections that only read or end sessions

// forceQuery ends a session, or cancels its statement, if the session is the one that the parameters name and has
// exactly that row in pg_locks. It answers one row: whether we may not read the start of the session, and the result of
// the function, or null if it was not called.
const forceQuery = `with session as materialized (
  select pid, (extract(epoch from backend_start) * 1000000)::bigint as start from pg_catalog.pg_stat_activity where pid = $1::int4),
 lock as materialized (
  select from pg_catalog.pg_locks where locktype = 'advisory' and pid = $1::int4 and database = $3::oid
  and classid = $4::oid and objid = $5::oid and objsubid = $6::int2 and mode = $7::text and granted = $8::bool and $9::int8 in (0, %s))
 select session.pid is not null and start is null,
  case when start = $2::int8 and exists (select from lock) then pg_catalog.%s(session.pid) end
 from (select) one left join session on true`

// NotThroughPooler explains to people why no session can be ended through a pooler.
const NotThroughPooler = "a pooler stands between, which gives a session to one client after the other: name the server's own address"

var (
	errForcePooler = fmt.Errorf("%w: %s", coord.ErrRefused, NotThroughPooler)
	errForceHidden = fmt.Errorf("%w: it is hidden from our role when that session began, so it could be another by now: grant pg_monitor to the role", coord.ErrRefused)
)

// ForceRelease implements coord.ForceReleaser: it ends the session of an owner (pg_terminate_backend), or cancels the
// statement of a waiter (pg_cancel_backend). One statement compares the whole [Guard] and acts, on a connection of its
// own. Through a pooler it refuses. It announces the end, with Options.Actor.
func (d *Driver) ForceRelease(ctx context.Context, f coord.Foreign) error {
	g, err := ParseGuard(f.Guard)
	if err != nil {
		return fmt.Errorf("%w: %w", coord.ErrInvalid, err)
	}
	if d.claims(g.PID) {
		return fmt.Errorf("%w: that session is ours", coord.ErrInvalid)
	}
	conn, err := d.connect(ctx, d.options.TTL, nil)
	if errors.Is(err, errPooler) || err == nil && conn.Pooler() != pgwire.None {
		err = errForcePooler
	}
	if conn != nil {
		defer conn.Close()
	}
	if err != nil {
		return err
	}
	if err := conn.ReadOnly(ctx, watchName); err != nil {
		return classify(err)
	}
	function, since := "pg_terminate_backend", "0"
	if f.Waiting {
		function = "pg_cancel_backend"
	}
	if conn.Major() >= 14 {
		since = "(extract(epoch from waitstart) * 1000000)::bigint"
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("not sent: %w", err)
	}
	answer, err := single(ctx, conn, fmt.Sprintf(forceQuery, since, function), itoa(int64(g.PID)), itoa(g.Start), itoa(int64(g.Database)),
		itoa(int64(g.Key.Class)), itoa(int64(g.Key.Object)), itoa(int64(g.Key.Sub)), g.Mode, fmt.Sprint(!f.Waiting), itoa(g.Since))
	switch {
	case errors.Is(err, coord.ErrRefused):
		return err // nothing was done: a right is missing
	case err != nil:
		return failure.Sentence("the server did not say what it did", coord.ErrUncertain, err)
	case answer.Text(0) == "t":
		return errForceHidden
	case answer.Text(1) != "t":
		return coord.ErrChanged
	}
	if by := d.options.Actor; by != "" {
		Announcement{Database: itoa(int64(g.Database)), Key: g.Key.String(), Event: Evicted, By: by, PID: g.PID, Waiting: f.Waiting}.send(ctx, conn)
	}
	return nil
}

// claims reports whether a process of the server serves a claim of ours.
func (d *Driver) claims(pid uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.serving {
		if l.conn.PID() == pid && l.alive() {
			return true
		}
	}
	return false
}
