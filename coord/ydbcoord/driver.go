package ydbcoord

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

const driverName = "ydb"

// Driver is the coord.Driver of one coordination node. Its sessions share the client's
// connection.
type Driver struct {
	client  *Client
	node    string
	options Options
	owns    bool        // the driver closes the client
	seen    atomic.Bool // the node has existed, because a session was attached to it
}

var _ coord.ForceReleaser = (*Driver)(nil)

// New returns a driver for the coordination node that a URL names; see ParseURL. It does not connect. Its error wraps
// coord.ErrInvalid and contains no secret.
func New(url string, o Options) (*Driver, error) {
	co, err := ParseURL(url)
	if err != nil {
		return nil, err
	}
	return NewDriver(co, co.Node, o)
}

// NewDriver returns a driver like Client.Driver, with a client of its own.
func NewDriver(co ClientOptions, node string, o Options) (*Driver, error) {
	c, err := NewClient(co)
	if err != nil {
		return nil, err
	}
	d, err := c.Driver(node, o)
	if err != nil {
		return nil, err
	}
	d.owns = true
	return d, nil
}

// Driver returns a driver for a coordination node. A path without a leading slash is relative to the database. The
// caller closes the client after the driver.
func (c *Client) Driver(node string, o Options) (*Driver, error) {
	o.TTL = cmp.Or(o.TTL, defaultTTL)
	if err := CheckTTL(o.TTL); err != nil {
		return nil, err
	}
	path, err := NodePath(c.options.Database, node)
	if err != nil {
		return nil, err
	}
	return &Driver{client: c, node: path, options: o}, nil
}

// NodePath returns the path of a coordination node from the root. A node without a leading slash is relative to the
// database.
func NodePath(database, node string) (string, error) {
	switch {
	case strings.Trim(node, "/") == "":
		return "", fmt.Errorf("%w: no coordination node is named: write node=/path of it", coord.ErrInvalid)
	case !utf8.ValidString(node):
		return "", fmt.Errorf("%w: the coordination node's path is not UTF-8", coord.ErrInvalid)
	case !strings.HasPrefix(node, "/"):
		node = database + "/" + node
	}
	return strings.TrimRight(node, "/"), nil
}

// Name implements coord.Driver.
func (d *Driver) Name() string { return driverName }

// Open implements coord.Driver. If rights are missing, the password is wrong or the node does not exist, the error
// wraps coord.ErrRefused. But if this driver has had a session on the missing node, the node may be created again; then
// the error wraps coord.ErrNotFound, and the caller may repeat Open.
func (d *Driver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.OpenSession(ctx, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenSession does the same as Open, but returns a *Session, which can also follow and read. It starts a goroutine,
// which ends with Close or Abandon.
func (d *Driver) OpenSession(ctx context.Context, o coord.SessionOptions) (*Session, error) {
	if o.TTL != 0 {
		if err := CheckTTL(o.TTL); err != nil {
			return nil, err
		}
	}
	conn, err := d.client.conn(ctx)
	if err != nil {
		return nil, failure.With(err, ctx.Err())
	}
	s := newSession(ctx, d.node, d.options, o)
	if d.options.Incarnations {
		s.incarnation = d.incarnation(ctx)
	}
	c := &connection{s: s, service: Ydb_Coordination_V1.NewCoordinationServiceClient(conn), route: newRoute(d.client.known())}
	st, err := c.attach(ctx)
	if err != nil {
		s.quit()
		if d.seen.Load() && statusOf(err) == Ydb.StatusIds_NOT_FOUND {
			err = fmt.Errorf("the coordination node was dropped: %w: %w", coord.ErrNotFound, newStatusError(Ydb.StatusIds_NOT_FOUND, nil))
		}
		return nil, fmt.Errorf("attaching a session to %s: %w", d.node, err)
	}
	d.seen.Store(true)
	spawn.Go(s.life, &s.gone, func() { c.run(st) })
	return s, nil
}

// Observe opens a session for reading and following, with the driver's TTL and a description for people.
func (d *Driver) Observe(ctx context.Context, description string) (*Session, error) {
	return d.OpenSession(ctx, coord.SessionOptions{Description: description})
}

// describeFor bounds requests whose answer is optional.
const describeFor = 2 * time.Second

// incarnation returns the node's incarnation, or "" if it is not reported.
func (d *Driver) incarnation(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, describeFor)
	defer cancel()
	n, err := d.client.Nodes().Describe(ctx, d.node)
	if err != nil {
		return ""
	}
	return n.Incarnation
}

// Close implements coord.Driver.
func (d *Driver) Close(ctx context.Context) error {
	if !d.owns {
		return nil
	}
	return d.client.Close(ctx)
}
