package truth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

// postgresActor is many sessions of a Postgres server that take, await and give up advisory
// locks with the functions that programs use.
type postgresActor struct {
	*trial
	url   string
	admin *pgx.Conn // looks at pg_locks, cancels and terminates
	rows  []*postgresRow
	all   []*postgresSession
	made  int
}

type postgresRow struct {
	key   int64
	owner *postgresSession // nil: nobody
	queue []*postgresSession
}

func (r *postgresRow) name() string { return fmt.Sprint(r.key) }

type postgresSession struct {
	conn  *pgx.Conn
	pid   uint32
	label string
	ended time.Time // zero: it lives
	owns  int
	waits *postgresRow // nil: it is not in a queue
	done  chan error   // the answer of the statement that waits
	got   time.Time    // when that had come; read after done
}

func TestLinesOfPostgresAreTrue(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	r := newTrial(t, server.Addr())
	r.pace = 80 * time.Millisecond
	a := &postgresActor{trial: r, url: server.URL()}
	a.admin = a.connect("admin")
	for i := range 12 {
		a.rows = append(a.rows, &postgresRow{key: int64(1001 + i)})
	}
	for range 8 {
		a.all = append(a.all, a.open())
	}
	for i, row := range a.rows[:3] {
		a.try(row, a.all[i])
		r.history.rows[row.name()][0].first = true
	}
	var keys []string
	for _, row := range a.rows {
		keys = append(keys, row.name())
	}
	url := strings.Replace(server.URL(), server.Addr(), r.proxy.Addr(), 1)
	url += "&election=" + strings.Join(keys[:6], ",") + "&mutex=" + strings.Join(keys[6:], ",")
	r.run(a, url, true, rules{})
}

func (a *postgresActor) connect(application string) *pgx.Conn {
	a.t.Helper()
	config, err := pgx.ParseConfig(a.url)
	if err != nil {
		a.t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = application
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func (a *postgresActor) open() *postgresSession {
	a.t.Helper()
	a.made++
	application := fmt.Sprintf("worker-%d", a.made)
	s := &postgresSession{conn: a.connect(application)}
	s.pid = s.conn.PgConn().PID()
	s.label = fmt.Sprintf("%s pid %d", application, s.pid)
	return s
}

// ask runs a statement on a session that does not wait and returns its answer.
func (a *postgresActor) ask(c *pgx.Conn, query string, args ...any) (yes bool, sent, answered time.Time) {
	a.t.Helper()
	sent = time.Now()
	err := c.QueryRow(context.Background(), query, args...).Scan(&yes)
	answered = time.Now()
	if err != nil {
		a.t.Fatalf("%s: %v", query, err)
	}
	return yes, sent, answered
}

func (a *postgresActor) change(row *postgresRow, s *postgresSession, what deed, from, to time.Time) change {
	return change{row: row.name(), who: s.label, id: fmt.Sprint(s.pid), what: what, from: from, to: to}
}

func (a *postgresActor) step() {
	row := a.rows[a.random.IntN(len(a.rows))]
	s := a.all[a.random.IntN(len(a.all))]
	n := a.random.IntN(100)
	switch {
	case n < 3 && s.waits == nil:
		a.end(s)
	case row.owner == nil && s.waits == nil:
		a.try(row, s)
	case row.owner == nil:
	case n < 40 && s.waits == nil && s != row.owner && s.owns == 0: // who owns something does not wait: no deadlocks
		a.wait(row, s)
	case n < 55 && len(row.queue) > 0:
		a.cancel(row.queue[a.random.IntN(len(row.queue))])
	case row.owner.waits == nil:
		a.release(row)
	}
}

func (a *postgresActor) try(row *postgresRow, s *postgresSession) {
	yes, sent, answered := a.ask(s.conn, "SELECT pg_try_advisory_lock($1)", row.key)
	if !yes {
		a.t.Fatalf("lock %d is not free", row.key)
	}
	row.owner = s
	s.owns++
	a.history.add(a.change(row, s, begins, sent, answered))
}

// wait lets a session await the lock, and returns when it stands in the queue.
func (a *postgresActor) wait(row *postgresRow, s *postgresSession) {
	s.waits, s.done = row, make(chan error, 1)
	sent := time.Now()
	go func() { // joined by whoever reads done: served, cancel
		_, err := s.conn.Exec(context.Background(), "SELECT pg_advisory_lock($1)", row.key)
		s.got = time.Now()
		s.done <- err
	}()
	a.until("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = $1 AND NOT granted", s.pid)
	row.queue = append(row.queue, s)
	a.history.add(a.change(row, s, joins, sent, time.Now()))
}

// until asks until the answer is yes.
func (a *postgresActor) until(query string, args ...any) {
	a.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		if yes, _, _ := a.ask(a.admin, query, args...); yes {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("it never was so: %s", query)
		}
	}
}

func (a *postgresActor) cancel(s *postgresSession) {
	row := s.waits
	_, sent, _ := a.ask(a.admin, "SELECT pg_cancel_backend($1)", int64(s.pid))
	if err := <-s.done; err == nil {
		a.t.Fatal("a cancelled session got the lock")
	}
	a.history.add(a.change(row, s, leaves, sent, s.got))
	row.queue = slices.DeleteFunc(row.queue, func(w *postgresSession) bool { return w == s })
	s.waits = nil
}

func (a *postgresActor) release(row *postgresRow) {
	s := row.owner
	yes, sent, answered := a.ask(s.conn, "SELECT pg_advisory_unlock($1)", row.key)
	if !yes {
		a.t.Fatalf("%s did not own lock %d", s.label, row.key)
	}
	a.freed(row, sent, answered, "released")
}

// freed writes down that the owner is gone, and that the first of the queue owns the lock
// then.
func (a *postgresActor) freed(row *postgresRow, sent, answered time.Time, cause string) {
	end := a.change(row, row.owner, ends, sent, answered)
	end.cause, end.sessionEnds = cause, &row.owner.ended
	row.owner.owns--
	row.owner = nil
	if len(row.queue) == 0 {
		a.history.add(end)
		return
	}
	next := row.queue[0]
	if err := <-next.done; err != nil {
		a.t.Fatalf("the first in the queue: %v", err)
	}
	if next.got.Before(end.to) {
		end.to = next.got
	}
	leave, begin := a.change(row, next, leaves, sent, next.got), a.change(row, next, begins, sent, next.got)
	leave.granted = true
	a.history.add(end, leave, begin)
	row.owner, row.queue = next, row.queue[1:]
	next.owns++
	next.waits = nil
}

// end terminates a session that does not wait, and puts another in its place.
func (a *postgresActor) end(s *postgresSession) {
	_, sent, _ := a.ask(a.admin, "SELECT pg_terminate_backend($1)", int64(s.pid))
	a.until("SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $1", s.pid)
	a.until("SELECT count(*) = 0 FROM pg_locks WHERE pid = $1", s.pid)
	answered := time.Now()
	s.ended = sent
	for _, row := range a.rows {
		if row.owner == s {
			a.freed(row, sent, answered, "session_ended")
		}
	}
	a.all[slices.Index(a.all, s)] = a.open()
}

// settle ends all waiting, so that the sessions can be closed.
func (a *postgresActor) settle() {
	for _, row := range a.rows {
		for len(row.queue) > 0 {
			a.cancel(row.queue[0])
		}
	}
}
