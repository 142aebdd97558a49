package truth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/localserver"
)

// postgresActor is many sessions of a Postgres server that take, await and give up advisory
// locks with the functions that programs use: for a session or a transaction, alone or
// shared, and alone what they own shared. They wait for each other, and deadlocks are ended
// by the server. The truth is read from the server: see postgresRecorder.
type postgresActor struct {
	*trial
	*postgresRecorder
	url   string
	admin *pgx.Conn // cancels and terminates
	rows  []*postgresRow
	all   []*postgresSession
	made  int
}

type postgresRow struct {
	key    int64
	shared bool // it is owned in both modes
}

type postgresSession struct {
	conn  *pgx.Conn
	pid   uint32
	label string
	ended time.Time  // zero: it lives
	inTx  bool       // it is in a transaction
	done  chan error // the answer of the statement that waits; nil: none does
}

func TestLinesOfPostgresAreTrue(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Config: []string{"deadlock_timeout = '100ms'"}})
	r := newTrial(t, server.Addr())
	r.pace = 80 * time.Millisecond
	a := &postgresActor{trial: r, url: server.URL()}
	a.admin = a.connect("admin")
	a.postgresRecorder = &postgresRecorder{test: t, history: r.history, conn: a.connect("recorder"), last: time.Now(),
		labels: map[uint32]string{}, started: map[uint32]*time.Time{}}
	rules := rules{special: map[string]special{}}
	var keys []string
	for i := range 12 {
		row := &postgresRow{key: int64(1001 + i), shared: i >= 6}
		a.rows = append(a.rows, row)
		keys = append(keys, fmt.Sprint(row.key))
		rules.special[fmt.Sprint(row.key)] = special{several: row.shared}
	}
	for range 10 {
		a.all = append(a.all, a.open())
	}
	for i, row := range a.rows[:3] {
		a.take(row, a.all[i])
	}
	a.record()
	for row := range r.history.rows {
		for i := range r.history.rows[row] {
			r.history.rows[row][i].first = true
		}
	}
	a.start(10*time.Millisecond, a.record)
	t.Cleanup(a.quit)
	url := strings.Replace(server.URL(), server.Addr(), r.proxy.Addr(), 1)
	url += "&election=" + strings.Join(keys[:6], ",") + "&mutex=" + strings.Join(keys[6:], ",")
	r.run(a, url, true, rules)
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
	a.known(s)
	return s
}

func (a *postgresActor) step() {
	a.record()
	row := a.rows[a.random.IntN(len(a.rows))]
	s := a.all[a.random.IntN(len(a.all))]
	a.reap(s, false)
	switch n := a.random.IntN(100); {
	case n < 3:
		a.end(s)
	case s.done != nil && n < 30:
		a.cancel(s)
	case s.done != nil:
	case len(a.owns(s.pid)) > 0 && n < 50:
		a.release(s)
	case len(a.owns(s.pid)) > 0 && n < 75: // the same once more, in another mode where there is one
		key := a.owns(s.pid)[0]
		a.take(a.rows[key-a.rows[0].key], s)
	case s.inTx && n < 60:
		a.finish(s)
	default:
		a.take(row, s)
	}
	a.record()
}

// take tries to take a lock, or waits for it.
func (a *postgresActor) take(row *postgresRow, s *postgresSession) {
	if !s.inTx && a.random.IntN(5) == 0 {
		a.do(s, "BEGIN")
		s.inTx = true
	}
	function := "pg_advisory"
	if waits := a.random.IntN(2) == 0; !waits {
		function = "pg_try_advisory"
	}
	if s.inTx {
		function += "_xact"
	}
	function += "_lock"
	if row.shared && a.random.IntN(2) == 0 {
		function += "_shared"
	}
	a.send(s, fmt.Sprintf("SELECT %s(%d)", function, row.key))
}

// send runs a statement, and returns when it is answered or waits.
func (a *postgresActor) send(s *postgresSession, statement string) {
	s.done = make(chan error, 1)
	go func() { // joined by reap
		_, err := s.conn.Exec(context.Background(), statement)
		s.done <- err
	}()
	for deadline := time.Now().Add(patience); s.done != nil; {
		a.record()
		a.reap(s, false)
		if s.done != nil && a.waits(s.pid) {
			return
		}
		if time.Now().After(deadline) {
			a.t.Fatalf("%s neither waits nor is answered", statement)
		}
	}
}

// reap takes the answer of the statement that waits, if it has come. A deadlock, or somebody's
// wish, may have ended it, and with it the transaction.
func (a *postgresActor) reap(s *postgresSession, wait bool) {
	a.t.Helper()
	if s.done == nil {
		return
	}
	var err error
	if wait {
		err = <-s.done
	} else {
		select {
		case err = <-s.done:
		default:
			return
		}
	}
	s.done = nil
	var said *pgconn.PgError
	switch {
	case err == nil || !s.ended.IsZero():
	case !errors.As(err, &said) || said.Code != "40P01" && said.Code != "57014":
		a.t.Fatalf("session %d: %v", s.pid, err)
	case s.inTx:
		a.finish(s)
	}
}

// do runs a statement that does not wait.
func (a *postgresActor) do(s *postgresSession, statement string) {
	a.t.Helper()
	if _, err := s.conn.Exec(context.Background(), statement); err != nil {
		a.t.Fatalf("%s: %v", statement, err)
	}
}

func (a *postgresActor) finish(s *postgresSession) {
	a.do(s, "COMMIT") // of a transaction that failed, a rollback
	s.inTx = false
}

// release gives up all that a session owns, but for what its transaction does.
func (a *postgresActor) release(s *postgresSession) {
	if s.inTx {
		a.finish(s)
		a.record()
	}
	a.do(s, "SELECT pg_advisory_unlock_all()")
}

func (a *postgresActor) cancel(s *postgresSession) {
	a.ask("SELECT pg_cancel_backend($1)", int64(s.pid))
	a.reap(s, true)
}

// ask asks the admin's connection.
func (a *postgresActor) ask(query string, args ...any) (yes bool) {
	a.t.Helper()
	if err := a.admin.QueryRow(context.Background(), query, args...).Scan(&yes); err != nil {
		a.t.Fatalf("%s: %v", query, err)
	}
	return yes
}

// end terminates a session, and puts another in its place.
func (a *postgresActor) end(s *postgresSession) {
	a.ending(s)
	a.ask("SELECT pg_terminate_backend($1)", int64(s.pid))
	a.reap(s, true)
	for deadline := time.Now().Add(patience); !a.ask("SELECT count(*) = 0 FROM pg_locks WHERE pid = $1", s.pid); {
		if time.Now().After(deadline) {
			a.t.Fatalf("session %d keeps its locks", s.pid)
		}
	}
	a.all[slices.Index(a.all, s)] = a.open()
}

// settle ends all waiting and all transactions, so that the sessions can be closed.
func (a *postgresActor) settle() {
	for _, s := range a.all {
		a.reap(s, false)
		if s.done != nil {
			a.cancel(s)
		}
		if s.inTx {
			a.finish(s)
		}
	}
	a.record()
	a.quit()
}
