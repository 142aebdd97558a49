package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
)

// checkTime is the client_connection_check_interval that we set: while a statement waits, the server
// checks at this interval whether its client is still there.
const checkTime = time.Second

// leftover is a process of the server that may own a lock, or acquire it, although our connection to the process has
// ended. The server notices the end by its keepalives, unless a proxy answers them.
type leftover struct {
	facts facts
	owned bool // the lock was ours; if false, we were waiting for it
}

// errPooled is the reason why we never end a process that a pooler connects us to.
var errPooled = errors.New("a pooler stands between, which may have given that session to another client")

// error returns an error that wraps err and reports that the process could not be ended because of cause.
func (o leftover) error(cause, err error) error {
	pid := o.facts.pid
	if hasState(cause, stateNoRight) {
		cause = errors.New("our role may not: grant execute on function pg_terminate_backend to it")
	}
	text := fmt.Sprintf("our session at the server, process %d, could not be ended: %v; the server ends it within %v, "+
		"or when what stands between closes its side; select pg_terminate_backend(%d) ends it at once",
		pid, cause, o.facts.window+checkTime, pid)
	if o.owned {
		return failure.Sentence("it may be owned still: "+text, coord.ErrUncertain, err)
	}
	return coord.Uncertain(text, err)
}

// leaveBehind records a process for Close or endLeftSoon to end.
func (s *session) leaveBehind(o leftover) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, o)
}

// endOwn ends a process of ours and returns err. If that does not succeed, the process is left behind, and
// the error wraps coord.ErrUncertain.
func (s *session) endOwn(ctx context.Context, o leftover, err error) error {
	cause := s.driver.endProcess(ctx, o.facts)
	switch {
	case cause != nil:
		s.leaveBehind(o)
		return o.error(cause, err)
	case o.owned:
		return nil
	}
	return err
}

// endLeftSoon starts to end the processes that are left behind, and repeats that until the session is shut. It does not
// block.
func (s *session) endLeftSoon() {
	ctx, leave, over := s.Enter(s.Open())
	if over != nil {
		return
	}
	defer leave()
	s.Start(ctx, func() { _ = s.endLeft(s.Open()) }) // the error is dropped: Close tries again and returns its own
}

// endLeft ends the processes that are left behind. The error, which wraps coord.ErrUncertain, is about the first one
// that could not be ended before the end of ctx.
func (s *session) endLeft(ctx context.Context) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	s.mu.Lock()
	left := s.left
	s.left = nil
	s.mu.Unlock()
	var result error
	for _, o := range left {
		if err := s.endOwn(ctx, o, nil); err != nil {
			result = cmp.Or(result, err)
		}
	}
	return result
}

// endProcess makes the server end a process of ours, over a connection of its own, and returns nil when the process is
// gone. It tries until ctx ends, unless a right is missing. With a pooler, the process may serve another client by now,
// so that endProcess only waits for closeTime until the process ends by itself.
func (d *Driver) endProcess(ctx context.Context, f facts) error {
	if f.start.IsZero() {
		return errors.New("the server did not say when it began")
	}
	pauses := backoff.Policy{Min: 10 * time.Millisecond, Max: 5 * time.Second}.Start()
	for {
		err := d.tryEndProcess(ctx, f)
		if err == nil || final(err) || errors.Is(err, errPooled) {
			return err
		}
		if pauses.Wait(ctx) != nil {
			if f.pooled {
				return errPooled
			}
			return err
		}
	}
}

func (d *Driver) tryEndProcess(ctx context.Context, f facts) error {
	conn, err := d.connect(ctx, d.options.TTL, nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	end, remains := f.end(conn.Pooler())
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	if err := conn.ReadOnly(ctx, watchName); err != nil {
		return classify(err)
	}
	pauses := backoff.Policy{Min: time.Millisecond, Max: 50 * time.Millisecond}.Start()
	for {
		rows, err := query(ctx, conn, fmt.Sprintf(processQuery, end), itoa(int64(f.pid)), itoa(f.start.UnixMicro()))
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && len(rows) == 0:
			return nil
		case pauses.Wait(ctx) != nil:
			return remains
		}
	}
}

// end returns the expression that ends a process of ours, for a connection with that pooler, and the error for a
// process that remains.
func (f facts) end(over pgwire.Pooler) (call string, remains error) {
	if f.pooled || over != pgwire.None {
		return "false", errPooled
	}
	return "pg_catalog.pg_terminate_backend(pid)", errors.New("it does not end")
}

// processQuery finds no session of another role, whose start is hidden.
const processQuery = `select %s from pg_catalog.pg_stat_activity
 where pid = $1::int4 and (extract(epoch from backend_start) * 1000000)::bigint = $2::int8`
