package pgcoord

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
)

// readTime bounds one read.
const readTime = 5 * time.Second

// locksQuery reads the owners of a key and its waiters, in the order of the queue, that is, by the beginning of their
// waits; servers before 14 report only the beginning of the statement. A prepared transaction has no process; its name
// is found through the transaction id that it has locked.
const locksQuery = `select l.pid, l.mode, l.granted, a.application_name,
 (extract(epoch from a.backend_start) * 1000000)::bigint, a.pid is not null,
 case when l.pid is null then (select p.gid from pg_catalog.pg_locks x
  join pg_catalog.pg_prepared_xacts p on p.transaction = x.transactionid
  where x.virtualtransaction = l.virtualtransaction and x.locktype = 'transactionid' and x.pid is null limit 1) end
 from pg_catalog.pg_locks l left join pg_catalog.pg_stat_activity a on a.pid = l.pid
 where l.locktype = 'advisory' and l.database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
 and l.classid = $1::oid and l.objid = $2::oid and l.objsubid = $3::int2
 order by l.granted desc, coalesce(%s, a.query_start) nulls last, l.pid`

// Describe implements coord.Describer.
func (s *session) Describe(ctx context.Context, kind coord.Kind, name string) (coord.Description, error) {
	queued := s.driver.options.Poll == 0 // claims that poll are not in a queue
	d := coord.Description{Kind: kind, Name: name, WaitersKnown: queued}
	if err := s.caps.Check(coord.Claim{Kind: kind}); err != nil {
		return d, err
	}
	key, err := s.driver.options.key(name)
	if err != nil {
		return d, err
	}
	var rows []row
	err = s.read(ctx, func(ctx context.Context, conn *pgwire.Conn) error {
		k, err := key.of(ctx, conn)
		if err != nil {
			return err
		}
		since := "l.waitstart"
		if conn.Major() < 14 {
			since = "null"
		}
		rows, err = query(ctx, conn, fmt.Sprintf(locksQuery, since), itoa(int64(k.Class)), itoa(int64(k.Object)), itoa(int64(k.Sub)))
		return err
	})
	if err != nil {
		return d, s.closedOr(failure.With(fmt.Errorf("looking at the lock: %w", err), ctx.Err()))
	}
	for _, r := range rows {
		o, there, err := readOwner(r)
		switch {
		case err != nil:
			return d, err
		case !there:
			continue
		case r.Text(2) != "t":
			d.Waiters = append(d.Waiters, o)
			continue
		}
		if o.Mode == coord.Exclusive {
			d.Limit = 1
		}
		d.Taken++
		d.Owners = append(d.Owners, o)
	}
	return d, nil
}

// readOwner returns the owner or waiter in a row. there is false if the session ended after the server had read its
// locks and before it read its sessions.
func readOwner(r row) (o coord.Owner, there bool, err error) {
	o = coord.Owner{Permits: 1}
	if r.Text(1) == "ShareLock" {
		o.Mode = coord.Shared
	}
	if r[0] == nil {
		o.ID = "prepared " + r.Text(6)
		return o, true, nil
	}
	pid, err := strconv.ParseUint(r.Text(0), 10, 32)
	if err != nil {
		return o, false, fmt.Errorf("reading a pid: %w", err)
	}
	var start time.Time
	if r[4] != nil {
		micros, err := strconv.ParseInt(r.Text(4), 10, 64)
		if err != nil {
			return o, false, fmt.Errorf("reading the start of a session: %w", err)
		}
		start = time.UnixMicro(micros)
	}
	o.ID = OwnerID(uint32(pid), start)
	if _, data := ParseApplicationName(r.Text(3)); data != "" {
		o.Data = []byte(data)
	}
	return o, r.Text(5) == "t", nil
}
