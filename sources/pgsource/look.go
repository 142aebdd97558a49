package pgsource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
)

// ident is the identity of an advisory lock within a server.
type ident struct {
	space string // its database
	key   pgcoord.Key
}

// lockRow is one row of pg_locks. It is comparable.
type lockRow struct {
	ident   ident  // its space is set only by compare
	oid     uint32 // of the database
	pid     uint32 // 0 for a prepared transaction
	mode    mode
	granted bool
	wait    int64  // since when it waits, Unix µs of the server; 0: it does not wait, or not reported yet
	virtual string // of a prepared transaction: its virtual transaction
}

// activity is one row of pg_stat_activity.
type activity struct {
	pid  uint32
	who  identity
	does doings
}

// identity describes a session, doings what it does. Both are comparable.
type identity struct {
	db                                  uint32
	database, user, application, client string
	address                             string // of the client, without the port, which differs for each connection
	kind                                string // "client backend" mostly
	start                               int64  // of the backend, Unix µs of the server; 0: hidden
	hidden                              bool   // we may read only its name and application
}

type doings struct {
	state, waits, query           string // waits is, for example, "Lock/advisory"; "" if none
	owns                          string // its locks that are not watched
	xmin                          string // the transaction from which on vacuum keeps dead rows for it, while it waits for a lock; "": none
	transaction, queried, changed int64  // Unix µs of the server; 0: none, or hidden
}

// idle returns how the session is idle. An open transaction that has failed counts as idle in transaction.
func (d *doings) idle() sources.Idle {
	switch {
	case strings.HasPrefix(d.state, "idle in transaction"):
		return sources.IdleInTransaction
	case d.state == "idle":
		return sources.IdleSession
	}
	return sources.NotIdle
}

// prepared is a prepared transaction that owns an advisory lock.
type prepared struct {
	gid, user, database string
	at                  int64 // of PREPARE, Unix µs of the server
}

// snapshot is the content of one look.
type snapshot struct {
	sent, got time.Time  // before and after the reading of the locks
	locks     []lockRow  // of watched locks
	rows      int        // of all advisory locks
	unwatched []lockRow  // of other locks that are owned
	sessions  []activity // of all that own, wait or try, and of those that owned or waited at the last look
	prepared  map[string]prepared
	evicted   map[evictedKey]eviction // announced, not read
	asked     []wait                  // waits for the selected lock about which the server was asked before the look
	blocking  map[uint32]blocking     // the server's answers, by process
	clock     clock
	standby   bool
	started   int64 // of the server, Unix µs of its clock
	pid       uint32
	cost      time.Duration
}

// whole reports whether the look shows the session of every row.
func (s *snapshot) whole() bool {
	seen := make(map[uint32]bool, len(s.sessions))
	for i := range s.sessions {
		seen[s.sessions[i].pid] = true
	}
	return !slices.ContainsFunc(s.locks, func(r lockRow) bool {
		_, prepared := s.prepared[r.virtual]
		return r.pid != 0 && !seen[r.pid] || r.pid == 0 && !prepared
	})
}

// clock converts the server's time to ours. The server read its own clock between asked and got.
type clock struct {
	asked, got time.Time
	server     int64 // Unix µs
}

// local returns an instant of the server's clock on ours, at most a round trip late; zero for 0.
func (c clock) local(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return c.got.Add(-c.age(micros))
}

// age returns the time since an instant of the server's clock.
func (c clock) age(micros int64) time.Duration {
	return time.Duration(c.server-micros) * time.Microsecond
}

// statements has the statements of a look. Each is a transaction of its own, because within a transaction the server
// always answers from the same copy of pg_stat_activity.
type statements struct{ locks, sessions, prepared, blocking pgwire.Statement }

const locksSQL = `select database, classid, objid, objsubid, pid, mode, granted, %s,
 case when pid is null then virtualtransaction end
 from pg_catalog.pg_locks where locktype = 'advisory'`

// lookMark is the beginning of the statement that itself contains the words it searches for. It identifies our
// statement even in a pooled session, which does not have our name.
const lookMark = "/* " + clientName + " */"

// There is at least one row with the first columns. A session that has tried to acquire a lock without waiting is a
// candidate. The watcher's own statement also contains the words, so it is excluded.
const sessionsSQL = lookMark + ` select pg_catalog.clock_timestamp(), pg_catalog.pg_is_in_recovery(), pg_catalog.pg_postmaster_start_time(),
 pg_catalog.pg_backend_pid(), a.pid, a.datid, a.datname::text, a.usename::text, a.application_name, pg_catalog.host(a.client_addr), a.client_port,
 a.backend_type, a.backend_start, a.state, a.wait_event_type, a.wait_event, pg_catalog.left(a.query, 512),
 a.xact_start, a.query_start, a.state_change, a.backend_xmin
 from (select 1) one left join pg_catalog.pg_stat_activity a on a.pid = any($1::int4[])
 or (a.query like '%pg_try_advisory%' and a.query not like '` + lookMark + `%')`

// A prepared transaction has no process; its name is found through the transaction id that it has locked.
const preparedSQL = `select l.virtualtransaction, p.gid, p.owner::text, p.database::text, p.prepared
 from pg_catalog.pg_locks l join pg_catalog.pg_prepared_xacts p on p.transaction = l.transactionid
 where l.locktype = 'transactionid' and l.pid is null`

func newStatements(major int) *statements {
	since := "waitstart"
	if major < toldWaits {
		since = "null::timestamptz"
	}
	return &statements{
		locks:    pgwire.Statement{Name: "locks", SQL: fmt.Sprintf(locksSQL, since), Columns: 9},
		sessions: pgwire.Statement{Name: "sessions", SQL: sessionsSQL, Columns: 21},
		prepared: pgwire.Statement{Name: "prepared", SQL: preparedSQL, Columns: 5},
		blocking: pgwire.Statement{Name: "blocking", SQL: blockingSQL, Columns: 2},
	}
}

// answerLimit bounds one statement. If the server is alive, its own limit ends the statement earlier.
const answerLimit = pgwire.StatementLimit + time.Second

// look reads the locks and then their sessions. It also reads whether the processes in before, from the last look, are
// alive. reuse is an old snapshot whose memory may be reused, or nil.
func (l *connection) look(ctx context.Context, before []uint32, reuse *snapshot) (*snapshot, error) {
	s := &snapshot{}
	if reuse != nil {
		s.locks, s.sessions, s.unwatched = reuse.locks[:0], reuse.sessions[:0], reuse.unwatched[:0]
	}
	if err := l.readLocks(ctx, s); err != nil {
		return nil, err
	}
	pids, orphans := append([]uint32{}, before...), false
	for i := range s.locks {
		if s.locks[i].pid != 0 {
			pids = append(pids, s.locks[i].pid)
		} else {
			orphans = true
		}
	}
	slices.Sort(pids)
	if err := l.readSessions(ctx, s, slices.Compact(pids)); err != nil {
		return nil, err
	}
	if orphans {
		if err := l.readPrepared(ctx, s); err != nil {
			return nil, err
		}
	}
	s.nameUnwatched()
	s.cost = time.Since(s.sent)
	return s, nil
}

// nameUnwatched records for each session its owned locks that are not watched.
func (s *snapshot) nameUnwatched() {
	const most = 10
	if len(s.unwatched) == 0 {
		return
	}
	locks := make(map[uint32][]string, len(s.sessions))
	for i := range s.sessions {
		locks[s.sessions[i].pid] = nil
	}
	for i := range s.unwatched {
		pid := s.unwatched[i].pid
		if list, shown := locks[pid]; shown {
			locks[pid] = append(list, s.unwatched[i].ident.key.String())
		}
	}
	for i := range s.sessions {
		a := &s.sessions[i]
		list := slices.Compact(slices.Sorted(slices.Values(locks[a.pid]))) // a lock may be owned in two modes
		a.does.owns = strings.Join(list[:min(len(list), most)], " ")
		if more := len(list) - most; more > 0 {
			a.does.owns += fmt.Sprintf(" and %d more", more)
		}
	}
}

func (l *connection) readLocks(ctx context.Context, s *snapshot) error {
	s.sent = time.Now()
	err := l.each(ctx, "reading the locks", &l.asks.locks, nil, func(f fields) {
		s.rows++
		key := pgcoord.Key{Class: f.number32(1), Object: f.number32(2), Sub: f.number16(3)}
		row := lockRow{
			ident: ident{key: key}, oid: f.number32(0),
			pid: f.number32(4), mode: modeOf(f[5]), granted: f.yes(6), wait: f.micros(7),
		}
		if row.pid == 0 {
			row.virtual = f.text(8)
		}
		switch {
		case l.all || l.keys[key] != nil:
			s.locks = append(s.locks, row)
		case row.granted && row.pid != 0:
			s.unwatched = append(s.unwatched, row)
		}
	})
	s.got = time.Now()
	return err
}

func (l *connection) readSessions(ctx context.Context, s *snapshot, pids []uint32) error {
	const doing = "reading the sessions"
	s.clock.asked = time.Now()
	err := l.each(ctx, doing, &l.asks.sessions, pids, func(f fields) {
		s.clock.server, s.standby, s.started, s.pid = f.micros(0), f.yes(1), f.micros(2), f.number32(3)
		if !f.null(4) {
			s.sessions = append(s.sessions, readActivity(f))
		}
	})
	s.clock.got = time.Now()
	if err == nil && s.clock.server == 0 {
		return errors.New(doing + ": the server did not tell its time")
	}
	return err
}

func readActivity(f fields) activity {
	a := activity{
		pid: f.number32(4),
		who: identity{
			db: f.number32(5), database: f.text(6), user: f.text(7), application: f.text(8), kind: f.text(11), start: f.micros(12),
		},
		does: doings{state: f.text(13), query: f.text(16), transaction: f.micros(17), queried: f.micros(18), changed: f.micros(19)},
	}
	if f.null(12) && f.null(13) {
		a.who.hidden, a.does = true, doings{}
		return a
	}
	a.who.client, a.who.address = clientText(f), f.text(9)
	if !f.null(14) && a.does.state != "idle" { // an idle session waits for its client; that is no news
		if a.does.waits = f.text(14) + "/" + f.text(15); f.text(14) == "Lock" {
			if !f.null(20) {
				a.does.xmin = utoa(f.number32(20))
			}
		}
	}
	return a
}

// clientText returns the address of a session's client. A port of -1 is a Unix socket.
func clientText(f fields) string {
	port := int32(f.number32(10))
	switch {
	case f.null(10): // a process of the server itself
		return ""
	case port < 0 || f.null(9):
		return "local socket"
	}
	return pgwire.HostPort(f.text(9), port)
}

func (l *connection) readPrepared(ctx context.Context, s *snapshot) error {
	s.prepared = map[string]prepared{}
	return l.each(ctx, "reading the prepared transactions", &l.asks.prepared, nil, func(f fields) {
		s.prepared[f.text(0)] = prepared{gid: f.text(1), user: f.text(2), database: f.text(3), at: f.micros(4)}
	})
}
