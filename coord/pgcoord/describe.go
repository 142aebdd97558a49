package pgcoord

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"time"

	"coordtop/coord"
	"coordtop/internal/backoff"
	"coordtop/internal/failure"
	"coordtop/internal/spawn"
)

// readTime bounds one read.
const readTime = 5 * time.Second

// locksQuery reads the owners of a key and its waiters, in the order of the queue: by the
// beginning of the waiting, which servers before 14 only report as that of the statement. A
// prepared transaction has no process; its name is found through the transaction that it
// holds a lock on.
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
	ctx, leave, err := s.Enter(ctx)
	if err != nil {
		return coord.Description{}, err
	}
	defer leave()
	if kind != coord.KindMutex && kind != coord.KindElection {
		return coord.Description{}, fmt.Errorf("a %v: %w", kind, coord.ErrUnsupported)
	}
	key, err := s.driver.key(ctx, name)
	if err != nil {
		return coord.Description{}, s.closedOr(failure.With(err, ctx.Err()))
	}
	d, err := s.driver.observer.describe(ctx, key)
	if err != nil {
		return coord.Description{}, s.closedOr(failure.With(err, ctx.Err()))
	}
	d.Kind, d.Name = kind, name
	return d, nil
}

// describe reads who owns a key and who waits for it.
func (k *observer) describe(ctx context.Context, key Key) (d coord.Description, err error) {
	l, err := k.get(ctx)
	if err != nil {
		return d, err
	}
	since := "l.waitstart"
	if l.facts.version < 14 {
		since = "null"
	}
	rows, err := k.query(ctx, fmt.Sprintf(locksQuery, since), itoa(int64(key.Class)), itoa(int64(key.Object)), itoa(int64(key.Sub)))
	if err != nil {
		return d, fmt.Errorf("looking at the lock: %w", err)
	}
	d.WaitersKnown = k.driver.options.Poll == 0 // those who poll do not queue
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

// readOwner makes an owner or waiter of a row. there is false for a session that ended between
// the server's reading of its locks and of its sessions.
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

// Watch implements coord.Watcher: announcements make it read at once, and a read every so
// often sees what nobody announces.
func (s *session) Watch(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
	return func(yield func(coord.Description, error) bool) {
		if kind != coord.KindMutex && kind != coord.KindElection {
			yield(coord.Description{}, fmt.Errorf("a %v: %w", kind, coord.ErrUnsupported))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer spawn.OnDone(s.Open(), cancel)()
		w := watch{session: s, kind: kind, name: name, stop: func() {}}
		defer func() { w.stop() }()
		retry := backoff.Policy{}.Start()
		for {
			d, err := w.readBounded(ctx)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && final(err):
				yield(coord.Description{}, err)
				return
			case err != nil:
				if retry.Wait(ctx) != nil {
					return
				}
				continue
			}
			retry.Reset()
			if w.differs(d) && !yield(d, nil) {
				return
			}
			if !w.rest(ctx) {
				return
			}
		}
	}
}

// watch is one run of a watch.
type watch struct {
	session *session
	kind    coord.Kind
	name    string

	key     Key
	woken   chan struct{} // by announcements about the key, also while we read; nil: the key is not known yet
	stop    func()
	last    *coord.Description
	changed time.Time
}

// readBounded reads once, with time enough for an answer but not for ever.
func (w *watch) readBounded(ctx context.Context) (coord.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	observer := w.session.driver.observer
	if w.woken == nil {
		var err error
		if w.key, err = w.session.driver.key(ctx, w.name); err != nil {
			return coord.Description{}, err
		}
		w.woken, w.stop = observer.watch(w.key)
	}
	d, err := observer.describe(ctx, w.key)
	d.Kind, d.Name = w.kind, w.name
	return d, err
}

// differs takes note of a state and reports whether it is another than the last.
func (w *watch) differs(d coord.Description) bool {
	if w.last != nil && reflect.DeepEqual(*w.last, d) {
		return false
	}
	w.last, w.changed = &d, time.Now()
	return true
}

// rest waits for an announcement or the next read; false: ctx ended.
func (w *watch) rest(ctx context.Context) bool {
	every := w.session.driver.options.WatchEvery
	pause, began := every, time.Now()
	if len(w.last.Waiters) > 0 || time.Since(w.changed) < 10*every {
		pause = every / 4
	}
	select {
	case <-w.woken: // announcements that come in a flood are answered by one read
		return backoff.Sleep(ctx, time.Until(began.Add(min(20*time.Millisecond, pause)))) == nil
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}
