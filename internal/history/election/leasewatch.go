package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
)

// watcher sees who owns the lock and whether its run is written.
type watcher struct {
	*Elector
	seen     Present   // since an instant nothing of it has changed
	since    time.Time // zero: nothing was seen
	measured time.Time // when the clocks were compared
	counted  int64     // number of the run that this process wrote last

	answers   time.Time          // since when the server answers; zero: it does not
	after     time.Duration      // time of answers before the next campaign
	stop      context.CancelFunc // ends the campaign; nil: none was begun
	campaigns sync.WaitGroup
}

// watch looks at the lease each second, until ctx ends.
func (w *watcher) watch(ctx context.Context) {
	var conn *pgwire.Conn
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	for pause := (backoff.Policy{Min: lookEvery, Max: 4 * lookEvery}).Start(); ctx.Err() == nil; {
		var err error
		if conn == nil {
			conn, err = w.o.connect(ctx)
		}
		if err == nil && w.answers.IsZero() {
			err = w.o.mayRecord(ctx, conn)
		}
		if err == nil {
			if err = w.step(ctx, conn); err != nil {
				conn.Close() // it may be in a transaction
				conn = nil
			}
		}
		if ctx.Err() != nil {
			return
		}
		if w.silence.set(w.o.Logger, err); err != nil {
			w.since = time.Time{}                       // nothing is known of the time without an answer
			w.answers, w.after = time.Time{}, deference // only the recorder knows what happened meanwhile, so that it comes first
			if w.stop != nil && w.run.Load() == 0 {
				w.stop()
				w.stop = nil
			}
			_ = pause.Wait(ctx) // the loop checks ctx
			continue
		}
		now := time.Now()
		if pause.Reset(); w.answers.IsZero() {
			w.answers = now
		}
		if w.stop == nil && now.Sub(w.answers) >= w.after {
			standing, stop := context.WithCancel(ctx)
			w.stop = stop
			spawn.Go(standing, &w.campaigns, func() { w.campaign(standing) })
		}
		_ = backoff.Sleep(ctx, lookEvery)
	}
}

// step looks once, and acts.
func (w *watcher) step(ctx context.Context, conn *pgwire.Conn) error {
	p, err := look(ctx, conn, w.o.Schema)
	if err != nil {
		return err
	}
	w.present.Store(p)
	now := time.Now()
	if w.since.IsZero() || p.Run != w.seen.Run || !p.Wrote.Equal(w.seen.Wrote) || p.Leader != w.seen.Leader {
		w.seen, w.since = *p, now
	}
	if mine := w.run.Load(); mine != 0 {
		return w.keep(ctx, conn, mine, p)
	}
	if err := w.count(ctx, conn); err != nil {
		return err
	}
	after := beginning // the new owner of the lock has not written yet
	if p.Leader.Process == p.Lock {
		after = w.o.Lease
	}
	silent := now.Sub(w.since)
	if p.recording(w.o.Lease) {
		w.byLease.Store(false)
		return nil
	}
	if w.Lock() != 0 || p.Leader.Process == 0 || silent < after {
		return nil
	}
	if err := w.writable(ctx, conn); err != nil {
		return err
	}
	ended, err := w.end(ctx, conn, p.Leader.Process)
	if err != nil {
		return err
	}
	w.o.Logger.Warn("the recorder is silent", "run", p.Run, "host", p.Host, "pid", p.PID, "for", p.Age, "session ended", ended)
	w.since = time.Time{}
	if !ended {
		w.byLease.Store(true)
		spawn.Wake(w.wake)
	}
	return nil
}

// mayRecord returns an error if our role cannot write to a store that exists: it would stand by, and never record.
func (o Options) mayRecord(ctx context.Context, conn *pgwire.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	rows, err := conn.Rows(ctx, "select has_table_privilege($1, 'insert')", pgwire.Identifier(o.Schema)+".run")
	if reply, is := errors.AsType[*pgwire.Reply](err); is && slices.Contains(noStore, reply.Code) {
		return nil
	}
	if err == nil && rows[0].Text(0) != "t" {
		return errors.New("this user may not record: log in with the role of the writer, see coordtop help team")
	}
	return err
}

// probed is the bytes that a recorder that stands by writes and takes back.
const probed = 256 << 10

// writable returns an error if the store takes no rows, for example because it is read-only or its disk is full. Another
// recorder could write no more than the silent one then, and what waits in the spool of that one would be lost.
func (e *Elector) writable(ctx context.Context, conn *pgwire.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	_, err := conn.Rows(ctx, "begin")
	if err == nil {
		_, err = conn.Rows(ctx, fmt.Sprintf("insert into %s.gop(run, seq, start, until, thin, body) values(0, 0, 0, 0, 0, convert_to(repeat('x', %d), 'UTF8'))", pgwire.Identifier(e.o.Schema), probed))
		_, undone := conn.Rows(ctx, "rollback")
		err = cmp.Or(err, undone)
	}
	return err
}

// end ends the session that owns the lock, if it still does. ended is false if our role may not end it.
func (e *Elector) end(ctx context.Context, conn *pgwire.Conn, process uint32) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	_, err = conn.Rows(ctx, "select pg_terminate_backend(l.pid) from pg_locks l where l.granted and l.pid = $2::int and "+locked, lockName(e.o.Schema), strconv.FormatUint(uint64(process), 10))
	if reply, is := errors.AsType[*pgwire.Reply](err); is && reply.Code == "42501" {
		return false, nil
	}
	return err == nil, err
}

// keep writes to the row of our run which session owns the lock, and how far our clock is ahead.
func (w *watcher) keep(ctx context.Context, conn *pgwire.Conn, run int64, p *Present) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	w.counted = run
	if lock := w.Lock(); lock != p.Lock && lock != 0 && p.Run == run {
		if _, err := conn.Rows(ctx, w.update("lock = $2::bigint"), text(run), text(int64(lock))); err != nil {
			return err
		}
	}
	if p.Measured && p.Run == run && time.Since(w.measured) < time.Minute {
		return nil
	}
	ahead, err := compare(ctx, conn)
	if err != nil {
		return err
	}
	w.measured = time.Now()
	_, err = conn.Rows(ctx, w.update("ahead_least = $2::bigint, ahead_most = $3::bigint"), text(run), text(ahead[0].Microseconds()), text(ahead[1].Microseconds()+1))
	return err
}

// count adds what the store has refused to the row of the run that this process wrote last.
func (w *watcher) count(ctx context.Context, conn *pgwire.Conn) error {
	n := w.refused.Swap(0)
	if n == 0 || w.counted == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	_, err := conn.Rows(ctx, w.update("refused = refused + $2::bigint"), text(w.counted), text(n))
	if err != nil {
		w.refused.Add(n)
	}
	return err
}

// update returns a statement that changes the row of run $1.
func (e *Elector) update(set string) string {
	return fmt.Sprintf("update %s.run set %s where id = $1::bigint", pgwire.Identifier(e.o.Schema), set)
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

// compare returns how far our clock is ahead of the server's: between the two. Of three answers it takes what all
// allow.
func compare(ctx context.Context, conn *pgwire.Conn) (ahead [2]time.Duration, err error) {
	for i := range 3 {
		before := time.Now()
		row, err := conn.One(ctx, "select (extract(epoch from clock_timestamp()) * 1000000)::bigint")
		if err != nil {
			return ahead, err
		}
		after := time.Now()
		server := time.UnixMicro(number(row, 0))
		least, most := before.Round(0).Sub(server.Add(time.Microsecond)), after.Round(0).Sub(server)
		if i > 0 {
			least, most = max(least, ahead[0]), min(most, ahead[1])
		}
		ahead = [2]time.Duration{least, max(least, most)} // a clock that was set in between
	}
	return ahead, nil
}
