package truth

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresRecorder writes down what happens to the advisory locks of a server, as the server
// itself shows it in one reading of its lock table: before and after each command, and every
// few milliseconds for what happens by itself, as a grant or the end of a deadlock.
type postgresRecorder struct {
	ticker
	test    testing.TB
	history *history

	mu      sync.Mutex
	conn    *pgx.Conn
	last    time.Time // before the last reading
	before  map[postgresClaim]bool
	labels  map[uint32]string     // of sessions, by process
	started map[uint32]*time.Time // when each was ended; zero: it lives
}

// postgresClaim is what a session owns or waits for.
type postgresClaim struct {
	key  int64
	pid  uint32
	mode string
}

const readLocks = "SELECT objid::bigint, pid::bigint, mode, granted FROM pg_locks" +
	" WHERE locktype = 'advisory' AND classid = 0 AND objsubid = 1 AND pid IS NOT NULL"

// known tells the recorder of a session, before it claims anything.
func (r *postgresRecorder) known(s *postgresSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.labels[s.pid], r.started[s.pid] = s.label, &s.ended
}

// ending notes that a session is about to be ended.
func (r *postgresRecorder) ending(s *postgresSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.ended = time.Now()
}

// record compares the claims with those of the last reading.
func (r *postgresRecorder) record() {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := time.Now()
	now, err := r.read()
	if err != nil {
		r.test.Errorf("reading the locks: %v", err)
		return
	}
	d := postgresDiff{postgresRecorder: r, from: r.last, to: time.Now(), now: now}
	r.history.add(d.changes()...)
	r.last, r.before = began, now
}

// read returns the claims: true are granted, false wait.
func (r *postgresRecorder) read() (map[postgresClaim]bool, error) {
	rows, err := r.conn.Query(context.Background(), readLocks)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	now := map[postgresClaim]bool{}
	for rows.Next() {
		var c postgresClaim
		var pid int64
		var granted bool
		if err := rows.Scan(&c.key, &pid, &c.mode, &granted); err != nil {
			return nil, err
		}
		c.pid = uint32(pid)
		now[c] = granted
	}
	return now, rows.Err()
}

// waits reports whether a session waited at the last reading.
func (r *postgresRecorder) waits(pid uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c, granted := range r.before {
		if c.pid == pid && !granted {
			return true
		}
	}
	return false
}

// owns returns the keys that a session owned at the last reading.
func (r *postgresRecorder) owns(pid uint32) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []int64
	for c, granted := range r.before {
		if c.pid == pid && granted {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// postgresDiff is the difference of two readings.
type postgresDiff struct {
	*postgresRecorder
	from, to time.Time
	now      map[postgresClaim]bool
}

func (d *postgresDiff) changes() []change {
	var ended, left, begun, joined []change
	for c, owned := range d.before {
		owns, ok := d.now[c]
		switch {
		case owned && !owns:
			end := d.change(c, ends)
			end.cause, end.sessionEnds = "released", d.started[c.pid]
			if !end.sessionEnds.IsZero() {
				end.cause = "session_ended"
			}
			ended = append(ended, end)
		case !owned && (owns || !ok):
			leave := d.change(c, leaves)
			leave.granted = owns
			left = append(left, leave)
		}
	}
	for c, owns := range d.now {
		owned, ok := d.before[c]
		switch {
		case owns && !owned:
			begun = append(begun, d.change(c, begins))
		case !owns && (!ok || owned):
			joined = append(joined, d.change(c, joins))
		}
	}
	return append(append(append(ended, left...), begun...), joined...)
}

func (d *postgresDiff) change(c postgresClaim, what deed) change {
	return change{row: fmt.Sprint(c.key), who: d.labels[c.pid], id: fmt.Sprint(c.pid), what: what, from: d.from, to: d.to}
}
