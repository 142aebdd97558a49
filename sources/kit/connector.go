package kit

import (
	"context"
	"errors"
	"slices"

	"coordtop/internal/ground/identify"
	"coordtop/sources"
)

// Conn is one connection of a source: a Link, or a type that embeds one.
type Conn interface {
	Next(ctx context.Context) (sources.Change, error)
	Close()
}

// Connector is the common part of the Sources of every kind of server. A Source embeds it for Connect, Next and Close.
type Connector struct {
	Product identify.Product // of the server
	Address string           // host:port at which to identify a server that answers strangely; "" to not do that

	// Dial connects, and starts the goroutines for which Conn.Close waits. ctx bounds only the connecting; the Conn may
	// keep the values in ctx.
	Dial func(ctx context.Context) (Conn, error)
	// Explain returns a Problem for an error if it can. opening is false after the server has answered.
	Explain func(err error, opening bool) error

	conn Conn // nil while not connected
}

// Connect implements sources.Source. It returns an error of the server as a Problem.
func (c *Connector) Connect(ctx context.Context) error {
	if c.conn != nil {
		return errors.New("connecting twice without a Close")
	}
	strange := func(err error) bool { return strange(c.Explain(err, true)) }
	var conn Conn
	other, err := identify.WhileConnecting(ctx, c.Address, c.Product, strange, func(ctx context.Context) (err error) {
		conn, err = c.Dial(ctx)
		return err
	})
	switch {
	case other != identify.Unknown:
		return (&Contact{Where: c.Address}).mistaken(err, other)
	case err != nil:
		return c.Explain(err, true)
	}
	c.conn = conn
	return nil
}

// Next implements sources.Source. It returns the reason if the connection has ended.
func (c *Connector) Next(ctx context.Context) (sources.Change, error) {
	if c.conn == nil {
		return sources.Change{}, errors.New("not connected")
	}
	change, err := c.conn.Next(ctx)
	if err != nil && ctx.Err() == nil {
		err = c.Explain(err, false)
	}
	return change, err
}

// Close implements sources.Source.
func (c *Connector) Close() error {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	return nil
}

// strange reports whether err is a Problem of a server that did not answer like its product, so that it may be another
// product.
func strange(err error) bool {
	p, ok := errors.AsType[*sources.Problem](err)
	return ok && slices.Contains([]sources.Failure{
		sources.NoAnswer, sources.ClosedAtOnce, sources.Foreign, sources.Lies, sources.TLSFailed,
	}, p.Failure)
}
