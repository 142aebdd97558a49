package pgcoord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/pgwire"
)

// grant is a lock that we own, on its connection.
type grant struct {
	*lifetime.Grant
	session    *session
	connection *connection
	request    request
	inbox      *inbox      // nil without channels
	gone       atomic.Bool // the lock was released, or left to expire

	mu   sync.Mutex
	ping *job // the last renewal

	asked int64 // counts the renewals; used by the connection's goroutine
}

var (
	_ coord.Renewer   = (*grant)(nil)
	_ coord.Publisher = (*grant)(nil)
)

// confirm returns the grant of a lock that this connection has just acquired. The answer to the query for the fence
// proves that we own the lock, so trust runs from the sending of that query. Then the connection listens to the
// leader's channels, before anybody can know that we lead. Another job announces the grant to others; the caller does
// not wait for it.
func (s *session) confirm(ctx context.Context, conn *pgwire.Conn, l *connection, r request) (*grant, error) {
	asked := time.Now()
	reply, err := single(ctx, conn, fenceQuery(l.facts.version))
	if err != nil {
		return nil, fmt.Errorf("asking for a fence: %w", err)
	}
	fence, err := strconv.ParseUint(reply.Text(0), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("asking for a fence: %w", err)
	}
	if reply.Text(1) != itoa(int64(l.facts.pid)) {
		return nil, errMoved
	}
	g := &grant{session: s, connection: l, request: r}
	info := coord.GrantInfo{Owner: OwnerID(l.facts.pid, l.facts.start), Fence: fence, Window: window(asked, l.facts.window)}
	g.Grant = lifetime.NewGrant(info, g.close)
	if err := g.open(ctx, conn); err != nil {
		return nil, err
	}
	l.expireAt(asked.Add(l.facts.window))
	l.whenEnded(func(err error) {
		if l.orphaned() && !g.gone.Swap(true) { // before g.End, so that a later Close also ends the process
			s.leaveBehind(leftover{facts: l.facts, owned: true})
		}
		g.End(err)
	})
	l.submit(answerTime, func(ctx context.Context, conn *pgwire.Conn) error {
		if g.Err() == nil {
			g.announce(ctx, conn, Acquired)
		}
		return nil
	})
	return g, nil
}

// fenceQuery asks for a number that only grows in the life of a cluster, and for the pid of the process that answers.
func fenceQuery(version int) string {
	if version < 13 {
		return "select pg_catalog.txid_current()::text, pg_catalog.pg_backend_pid()"
	}
	return "select pg_catalog.pg_current_xact_id()::text, pg_catalog.pg_backend_pid()"
}

// window returns the window after an answer. A grant is renewed five times within its window, which is more often than
// the server's keepalives.
func window(asked time.Time, valid time.Duration) coord.Window {
	return coord.Window{Asked: asked, Valid: valid, RenewIn: valid / 5}
}

// open listens to the channels of a leader.
func (g *grant) open(ctx context.Context, conn *pgwire.Conn) error {
	o := g.session.driver.options
	if g.request.Kind != coord.KindElection || len(o.Channels) == 0 {
		return nil
	}
	g.inbox = newInbox(ctx, o)
	g.session.Start(ctx, g.inbox.run)
	g.connection.listen(g.inbox.put)
	for _, c := range o.Channels {
		if err := conn.Listen(ctx, c.Channel); err != nil {
			g.inbox.close()
			return fmt.Errorf("listening: %w", classify(err))
		}
	}
	return nil
}

// announce notifies others of an event.
func (g *grant) announce(ctx context.Context, conn *pgwire.Conn, e Event) {
	Announcement{Database: g.connection.facts.database, Key: g.request.key.String(), Event: e}.send(ctx, conn)
}

// close removes the grant from its session and ends its handlers.
func (g *grant) close() {
	g.session.Remove(g)
	if g.inbox != nil {
		g.inbox.close()
	}
}

// Renew implements coord.Renewer: it sends one query on the lock's own connection. If ctx ends before the answer, the
// next call waits for the same answer, because a second query could not overtake the first.
func (g *grant) Renew(ctx context.Context) (coord.Window, error) {
	if err := g.Over("renewing"); err != nil {
		return coord.Window{}, err
	}
	g.mu.Lock()
	if g.ping == nil || isClosed(g.ping.done) {
		g.ping = g.connection.submit(g.connection.facts.window, g.confirmAgain)
	}
	j := g.ping
	g.mu.Unlock()
	switch err := j.wait(ctx); {
	case g.Err() != nil: // even if the answer came as the connection expired
		return coord.Window{}, g.Over("renewing")
	case err != nil:
		return coord.Window{}, fmt.Errorf("renewing: %w", err)
	}
	return g.Info().Window, nil
}

// confirmAgain sends the query of Renew.
func (g *grant) confirmAgain(ctx context.Context, conn *pgwire.Conn) error {
	if err := g.Over("renewing"); err != nil {
		return err
	}
	asked := time.Now()
	g.asked++
	number := itoa(g.asked)
	r, err := single(ctx, conn, "select pg_catalog.pg_backend_pid(), $1::text", number)
	switch {
	case err != nil:
		return err
	case r.Text(1) != number: // this is not the answer to our query, so trust must not run from it
		err = pgwire.ErrOutOfStep
	case r.Text(0) != itoa(int64(g.connection.facts.pid)):
		err = errMoved
	}
	if err != nil {
		g.End(coord.Lost(err))
		return g.Err()
	}
	g.Renewed(window(asked, g.connection.facts.window))
	g.connection.expireAt(asked.Add(g.connection.facts.window))
	return nil
}

// Publish implements coord.Publisher. The lock's own connection writes the data, so the data cannot
// be written after a loss.
func (g *grant) Publish(ctx context.Context, data []byte) error {
	if err := cmp.Or(g.session.caps.CheckData(data), checkText(data), g.Over("publishing")); err != nil {
		return err
	}
	name := ApplicationName(g.session.identity, data)
	err := g.connection.do(ctx, func(ctx context.Context, conn *pgwire.Conn) error {
		if err := g.Over("publishing"); err != nil {
			return err
		}
		if err := configure(ctx, conn, [][2]string{{"application_name", name}}); err != nil {
			return err
		}
		g.announce(ctx, conn, Proclaimed)
		return nil
	})
	if lost := g.Over("publishing"); err != nil && lost != nil && ctx.Err() == nil {
		return lost // not after the end of ctx, when the data may be written, because ErrLost means that nothing was written
	}
	return err
}

// Release implements coord.Grant.
func (g *grant) Release(ctx context.Context) error {
	g.End(coord.ErrReleased)
	return g.unlock(ctx)
}

// errNotOurs reports that, according to the server, our session did not own the lock that it released.
var errNotOurs = fmt.Errorf("%w: the server says that this session did not own the lock it was to release", coord.ErrLost)

// unlock releases the lock, closes the connection and waits until it is closed. Queued jobs come first, but do nothing
// because the grant has ended. If the server does not answer within closeTime, unlock cuts the connection and ends its
// process over another one. A second call, or one after leave, does nothing. A call after a loss ends the processes
// that are left behind.
func (g *grant) unlock(ctx context.Context) error {
	if g.gone.Swap(true) {
		g.session.endLeftSoon()
		return nil
	}
	ours, asked := false, g.connection.alive()
	j := g.connection.submit(answerTime, func(ctx context.Context, conn *pgwire.Conn) error {
		answer, err := g.request.call(ctx, conn, "pg_advisory_unlock")
		if hasState(err, stateCancelled) { // by a late cancellation of the claim
			answer, err = g.request.call(ctx, conn, "pg_advisory_unlock")
		}
		if err != nil {
			return err
		}
		ours = answer == "t"
		g.announce(ctx, conn, Released)
		return nil
	})
	quick, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	err := j.wait(quick)
	g.connection.close(quick)
	<-j.done
	if g.connection.orphaned() {
		return g.session.endOwn(ctx, leftover{facts: g.connection.facts, owned: true}, err)
	}
	switch {
	case !asked, errors.Is(err, coord.ErrLost) && !errors.Is(err, errUnanswered):
		return nil // the lock was not ours any more
	case err != nil:
		return fmt.Errorf("releasing the lock: %w", err)
	case !ours:
		return errNotOurs
	}
	return nil
}

// Abandon implements coord.Grant.
func (g *grant) Abandon() {
	g.End(coord.ErrReleased)
	g.leave()
	g.session.endLeftSoon()
}

// leave passes the connection of the lock, if that is alive, to the driver, which keeps the connection until it
// expires; the session does not wait for that.
func (g *grant) leave() {
	if !g.connection.alive() || g.gone.Swap(true) {
		return
	}
	s := g.session
	s.driver.keepAbandoned(g.connection)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, g.connection)
}
