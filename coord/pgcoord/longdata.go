package pgcoord

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/pgwire"
)

// rememberLong remembers data that does not fit into the session's name, and makes the session
// listen to those who ask for it.
func (g *grant) rememberLong(ctx context.Context, conn *pgwire.Conn, data []byte) error {
	_, _, cut := ParseApplicationName(ApplicationName(g.session.identity, data))
	g.mu.Lock()
	g.long = nil
	if cut {
		g.long = append([]byte{}, data...)
	}
	g.mu.Unlock()
	if !cut {
		return nil
	}
	return listenTo(ctx, conn, Channel)
}

// announce notifies others what happened. It is a courtesy: if it fails they see it later.
func (g *grant) announce(ctx context.Context, conn *pgwire.Conn, e Event, data []byte) {
	a := Announcement{Database: g.connection.facts.database, Key: g.request.key.String(), Event: e, Data: data}
	if payloads, err := a.Payloads(); err == nil {
		_ = notify(ctx, conn, Channel, payloads...) // a broken connection is seen by its goroutine
	}
}

// receive is called on the goroutine of the lock's connection for every notification. It must
// not block, nor use the connection.
func (g *grant) receive(n *pgconn.Notification) {
	if g.inbox != nil {
		g.inbox.put(n)
	}
	a, ok := g.requests.Read(n)
	if !ok || a.Event != Ask || a.Key != g.request.key.String() || a.Database != g.connection.facts.database {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Err() != nil || g.long == nil || g.replying {
		return
	}
	g.replying = true
	g.connection.submit(answerTime, g.reply)
}

// reply answers those who asked.
func (g *grant) reply(ctx context.Context, conn *pgwire.Conn) error {
	g.mu.Lock()
	data, over := g.long, g.Err() != nil
	g.replying = false
	g.mu.Unlock()
	if !over && data != nil {
		g.announce(ctx, conn, Told, data)
	}
	return nil
}
