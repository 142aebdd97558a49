package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
)

const (
	// answerTime bounds every statement that should not take long.
	answerTime = 10 * time.Second
	// closeTime bounds the last statements on a connection.
	closeTime = time.Second
)

// job is one piece of work with a connection. It ends when done is closed.
type job struct {
	f     func(context.Context, *pgwire.Conn) error
	bound time.Duration // time-out; 0: none
	done  chan struct{}
	err   error // valid after done
}

// connection is one connection to the server and the goroutine that alone uses it. The goroutine executes jobs one
// after the other. Between them it waits for messages of the server, so that it notices the end of the session at once.
// A connection that has an expiry closes itself then, because a lock that nobody renews must not outlive our trust in
// it.
type connection struct {
	conn  *pgwire.Conn
	facts facts         // from the last prepare; written in jobs, read after them
	done  chan struct{} // closed when the connection is closed and the goroutine has ended
	ctx   context.Context
	quit  context.CancelCauseFunc // ends ctx, and with it the running job

	mu     sync.Mutex
	onEnd  func(error) // called before done is closed, possibly twice
	jobs   []*job
	notify func(*pgconn.Notification) // called by the goroutine; nil if there is no receiver
	wake   context.CancelFunc         // wakes the goroutine if it waits
	expiry *time.Timer                // cuts the connection; may be nil
	ending bool                       // no more jobs are accepted
	polite bool                       // end the session properly, with a Terminate message
	over   bool                       // the goroutine has finished its last job
	orphan bool                       // the connection has ended, but the server may not know, so that its session may live on
	err    error                      // the reason for its end
}

// newConnection connects and starts the goroutine, which ends after close, cut, the end of the connection or the
// expiry. The caller must wait for done.
func (d *Driver) newConnection(ctx context.Context, ttl time.Duration) (*connection, error) {
	l := &connection{done: make(chan struct{}), wake: func() {}}
	var err error
	if l.conn, err = d.connect(ctx, ttl, l.receive); err != nil {
		return nil, err
	}
	l.ctx, l.quit = context.WithCancelCause(context.WithoutCancel(ctx))
	spawn.Go(l.ctx, nil, l.run)
	return l, nil
}

// newPrepared makes a connection, configures it and checks the server. If it returns an error, nothing is left.
//
// pgbouncer has been seen to lend a server session whose answer to the pooler's own DISCARD ALL was still to come, and
// then arrived here (see disconnect). newPrepared replaces such a connection.
func (d *Driver) newPrepared(ctx context.Context, ttl time.Duration, name string) (*connection, error) {
	for tries := 3; ; tries-- {
		l, err := d.newConnection(ctx, ttl)
		if err == nil {
			if err = l.prepare(ctx, ttl, name); err == nil {
				err = d.check(l.facts)
			}
			if err == nil {
				return l, nil
			}
			l.cut(errClosed)
			<-l.done
		}
		if tries == 1 || !errors.Is(err, pgwire.ErrOutOfStep) {
			return nil, notOurLoss(err)
		}
	}
}

// receive passes a notification to the receiver that listen has set.
func (l *connection) receive(n *pgconn.Notification) {
	l.mu.Lock()
	notify := l.notify
	l.mu.Unlock()
	if notify != nil {
		notify(n)
	}
}

// listen sets the receiver of notifications; it must not block.
func (l *connection) listen(notify func(*pgconn.Notification)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notify = notify
}

// whenEnded sets the function that is called when the connection ends, on the connection's goroutine. It calls it
// at once if the connection has ended already.
func (l *connection) whenEnded(f func(error)) {
	l.mu.Lock()
	over, err := l.over, l.err
	if !over {
		l.onEnd = f
	}
	l.mu.Unlock()
	if over {
		f(err)
	}
}

// run executes jobs until the connection ends. After a panic it cuts the connection, because its state is unknown then.
func (l *connection) run() {
	defer close(l.done)
	if err := spawn.Call(l.ctx, l.work); err != nil {
		l.cut(coord.Lost(err))
	}
	l.finish()
}

// work executes jobs until the connection ends, and returns the reason.
func (l *connection) work() error {
	for {
		j, wait := l.next()
		switch {
		case j != nil:
			l.perform(j)
		case wait != nil:
			if err := l.conn.Wait(wait); err != nil && (wait.Err() == nil || l.conn.Closed()) {
				l.end(coord.Lost(fmt.Errorf("the connection ended: %w", classify(err))))
			}
		default:
			return nil
		}
	}
}

// next returns the next job, or a context to wait under if there is no job, or neither if the connection is ending.
func (l *connection) next() (*job, context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake() // the last wait is over
	if len(l.jobs) > 0 && l.err == nil {
		j := l.jobs[0]
		l.jobs = l.jobs[1:]
		return j, nil
	}
	if l.ending {
		return nil, nil
	}
	var wait context.Context
	wait, l.wake = context.WithCancel(l.ctx)
	return nil, wait
}

// errUnrenewed: the driver closed the connection because nobody renewed the grant.
var errUnrenewed = fmt.Errorf("%w: it was not renewed in time, so its connection was closed", coord.ErrExpired)

// perform executes one job. If the job closes the pgwire connection, this connection ends.
func (l *connection) perform(j *job) {
	defer close(j.done)
	ctx := l.ctx
	if j.bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(l.ctx, j.bound, errUnanswered)
		defer cancel()
	}
	j.err = spawn.Call(ctx, func() error { return j.f(ctx, l.conn) })
	if !l.conn.Closed() && !errors.Is(j.err, spawn.ErrPanic) { // after a panic its state is unknown
		return
	}
	err := cmp.Or(j.err, errors.New("the connection was closed"))
	if ctx.Err() != nil {
		err = context.Cause(ctx) // the library's error is only a consequence
	}
	j.err = l.end(coord.Lost(err))
}

// end makes the goroutine finish, unless it is doing so, and returns the reason.
func (l *connection) end(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = cmp.Or(l.err, err)
	l.ending = true
	l.wake()
	return l.err
}

// finish closes the connection and fails the remaining jobs.
func (l *connection) finish() {
	l.mu.Lock()
	l.orphan = leavesBehind(l.err, l.polite)
	l.err = cmp.Or(l.err, errClosed)
	jobs, polite, err, onEnd := l.jobs, l.polite, l.err, l.onEnd
	l.jobs, l.over = nil, true
	if l.expiry != nil {
		l.expiry.Stop()
	}
	l.mu.Unlock()
	if onEnd != nil {
		onEnd(err)
	}
	for _, j := range jobs {
		j.err = err
		close(j.done)
	}
	if !polite {
		l.conn.Cut()
	}
	l.disconnect(polite && l.conn.Pooler() == pgwire.Session)
	l.quit(err)
}

// leavesBehind reports whether the server may not know that a connection is over, so that its session may live on. The
// connection ended with err; polite reports whether a Terminate message was sent.
func leavesBehind(err error, polite bool) bool {
	_, told := errors.AsType[*pgconn.PgError](err)
	return !told && (err != nil || !polite)
}

// disconnect closes the connection. pgbouncer (1.18) resets a session for its next client, and mistakes a notification
// that arrives during the reset for its end. A pooled session therefore stops listening before it is closed.
func (l *connection) disconnect(unlisten bool) {
	if unlisten && !l.conn.Closed() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), closeTime)
		defer cancel()
		_ = l.conn.Unlisten(ctx) // if the connection breaks, it is closed as well
	}
	l.conn.Close()
}

// submit queues a job. It never blocks. If the connection has ended, the job fails at once.
func (l *connection) submit(bound time.Duration, f func(context.Context, *pgwire.Conn) error) *job {
	j := &job{f: f, bound: bound, done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		j.err = cmp.Or(l.err, errClosed)
		close(j.done)
		return j
	}
	l.jobs = append(l.jobs, j)
	l.wake()
	return j
}

// do runs f on the connection and waits for it. If ctx ends before, do returns, but f may still run.
func (l *connection) do(ctx context.Context, f func(context.Context, *pgwire.Conn) error) error {
	return l.submit(answerTime, f).wait(ctx)
}

// isClosed reports whether c is closed. Nothing is ever sent on c.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (j *job) wait(ctx context.Context) error {
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return failure.With(errUnanswered, ctx.Err())
	}
}

// prepare makes the connection ready for a TTL under a name, and reads its facts again.
func (l *connection) prepare(ctx context.Context, ttl time.Duration, name string) error {
	return l.do(ctx, func(ctx context.Context, conn *pgwire.Conn) error {
		f, err := configureAndRead(ctx, conn, ttl, name)
		if err == nil {
			l.facts = f
		}
		return err
	})
}

// expireAt sets the time at which the connection closes itself.
func (l *connection) expireAt(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch left := time.Until(t); {
	case l.over:
	case l.expiry == nil:
		l.expiry = spawn.After(l.ctx, left, l.expire)
	default:
		l.expiry.Reset(left)
	}
}

// expire ends the grant before the connection, so that jobs that fail with the connection see a lost grant.
func (l *connection) expire() {
	l.mu.Lock()
	onEnd := l.onEnd
	l.mu.Unlock()
	if onEnd != nil {
		onEnd(errUnrenewed)
	}
	l.cut(errUnrenewed)
}

// alive reports whether the connection has not ended, as far as we know.
func (l *connection) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ending
}

// orphaned reports whether the connection has ended and the server may not know that.
func (l *connection) orphaned() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.orphan
}

// close ends the connection after the queued jobs, with a Terminate message; when ctx ends it does so at once. It
// returns when the connection has ended.
func (l *connection) close(ctx context.Context) {
	l.hangUp()
	select {
	case <-l.done:
	case <-ctx.Done():
		l.cut(errClosed)
		<-l.done
	}
}

// hangUp does the same as close without a limit, but does not wait.
func (l *connection) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending, l.polite = true, true
	l.wake()
}

// cut ends the connection at once: it closes the socket, so that a running job fails. It does not wait.
func (l *connection) cut(err error) {
	l.mu.Lock()
	l.polite = false
	l.mu.Unlock()
	l.quit(l.end(err))
	l.conn.Cut()
}
