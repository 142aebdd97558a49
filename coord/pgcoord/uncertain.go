package pgcoord

import (
	"context"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/backoff"
	"coordtop/internal/pgwire"
)

// checkTime is how long a server may take to check its client while a statement of that
// one waits: client_connection_check_interval in settings.
const checkTime = time.Second

// uncertainClaim is a server's process that asked for a lock on a connection that we cut without an
// answer. The process may have the lock, or get it, until it notices.
type uncertainClaim struct {
	facts facts
	until time.Time
}

// uncertain returns the error of a claim that ended, with err if that is not nil, and may be granted all the same.
func uncertain(within time.Duration, err error) error {
	return coord.Uncertain(fmt.Sprintf("the server ends our session within %v", within), err)
}

// endProcess returns err, or, where the connection was cut without an answer and the process
// behind it cannot be ended either, an error that says so. ctx bounds the asking.
func (p *place) endProcess(ctx context.Context, err error) error {
	s, f := p.session, p.connection.facts
	d := uncertainClaim{f, time.Now().Add(f.window + checkTime)}
	if s.driver.endProcess(ctx, f) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uncertain = append(s.uncertain, d)
	return uncertain(f.window+checkTime, err)
}

// endUncertain tries once more, for a moment, to end the processes that may still be there, and returns an
// error if one of them may be there still.
func (s *session) endUncertain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	s.mu.Lock()
	doubts := s.uncertain
	s.uncertain = nil
	s.mu.Unlock()
	var left time.Duration
	for _, d := range doubts {
		if time.Now().Before(d.until) && !s.driver.endProcess(ctx, d.facts) {
			left = max(left, d.facts.window+checkTime)
		}
	}
	if left > 0 {
		return uncertain(left, nil)
	}
	return nil
}

// endProcess has the server end a process of ours, and reports whether it is gone. Behind a
// pooler the process may be another client's by now, so it is only looked for.
func (d *Driver) endProcess(ctx context.Context, f facts) bool {
	if f.start.IsZero() {
		return false
	}
	pauses := backoff.Policy{Min: time.Millisecond, Max: 50 * time.Millisecond}.Start()
	for {
		var rows []row
		err := d.observer.read(ctx, func(ctx context.Context, conn *pgwire.Conn) (err error) {
			end := "false"
			if conn.Pooler() == pgwire.None {
				end = "pg_catalog.pg_terminate_backend(pid)"
			}
			rows, err = query(ctx, conn, fmt.Sprintf(processQuery, end), itoa(int64(f.pid)), itoa(f.start.UnixMicro()))
			return err
		})
		if err != nil {
			return false
		}
		if len(rows) == 0 {
			return true
		}
		if pauses.Wait(ctx) != nil {
			return false
		}
	}
}

const processQuery = `select %s from pg_catalog.pg_stat_activity
 where pid = $1::int4 and coalesce((extract(epoch from backend_start) * 1000000)::bigint, $2::int8) = $2::int8`
