package pgwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"coordtop/internal/ground/spawn"
)

// Pooler is the kind of a pooler between us and the server.
type Pooler uint8

// The poolers.
const (
	None    Pooler = iota
	Session        // the pooler gives us our own server session
	Lent           // the pooler lends a server session for each transaction or statement
)

// ErrOutOfStep reports that an answer does not belong to our question. pgbouncer (1.18) was seen to lend a server
// session whose answer to the pooler's own DISCARD ALL was still to come.
var ErrOutOfStep = errors.New("the answer belongs to another question: a pooler has mixed up its clients")

// ErrNoSession reports that a pooler accepted our login but has no server session for us.
var ErrNoSession = errors.New("the pooler has no server session left for us: coordtop needs 4 of them, " +
	"two to watch and two for a claim: raise its default_pool_size, or end what uses them")

// mostPID is the highest number of a process on Linux (PID_MAX_LIMIT of the kernel). The numbers that
// poolers report instead are mostly above it.
const mostPID = 1 << 22

// server is the process of the server that answered.
type server struct {
	pid  uint32
	seen netip.AddrPort // our address as it sees it; zero: not through TCP
}

const whoSQL = "select pg_catalog.pg_backend_pid(), $1::text, pg_catalog.host(pg_catalog.inet_client_addr()), pg_catalog.inet_client_port()"

// who asks which process serves us. The question is one message and one implicit transaction in every mode of a pooler.
func (c *Conn) who(ctx context.Context) (server, error) {
	c.asked++
	number := strconv.FormatInt(c.asked, 10)
	rows, err := c.plain(ctx, whoSQL, number)
	if err != nil {
		return server{}, Because(ctx, "asking who serves us", err)
	}
	if len(rows) != 1 || len(rows[0]) != 4 || rows[0].Text(1) != number {
		return server{}, fmt.Errorf("asking who serves us: %w", ErrOutOfStep)
	}
	pid, err := strconv.ParseUint(rows[0].Text(0), 10, 32)
	if err != nil {
		return server{}, fmt.Errorf("asking who serves us: %w", err)
	}
	s := server{pid: uint32(pid)}
	if ip, err := netip.ParseAddr(rows[0].Text(2)); err == nil {
		port, _ := strconv.ParseUint(rows[0].Text(3), 10, 16) // no client has port 0
		s.seen = netip.AddrPortFrom(ip.Unmap(), uint16(port))
	}
	return s, nil
}

// between returns a sentence about a NAT or a proxy that changes our address; "" if the address is unchanged.
func between(local *net.TCPAddr, seen netip.AddrPort) string {
	ours := "a Unix socket"
	if local != nil {
		at := local.AddrPort()
		at = netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
		if at == seen {
			return ""
		}
		ours = at.String()
	}
	if !seen.IsValid() {
		return ""
	}
	return fmt.Sprintf("NAT or a proxy stands between: the server sees us at %v, our end is %s. "+
		"If it drops its connection to the server and keeps ours, a lock of ours can have another owner until the next renewal", seen, ours)
}

// rounds is the order in which the first and the second connection ask. It begins with the
// second question of the first. They do not ask strictly in turn, so that two sessions that a pooler lends in turn
// cannot look like two of our own.
const rounds = "12212112"

// waitTime is the time for which the second connection waits for a server session before the first
// asks whether its own is lent.
const waitTime = time.Second

// probe finds out the mode of a pooler.
func (c *Conn) probe(ctx context.Context, o Options) (Pooler, error) {
	var second *Conn
	var theirs uint32
	for _, step := range rounds {
		if step == '1' {
			if s, err := c.who(ctx); err != nil || s.pid != c.pid {
				return Lent, err
			}
			continue
		}
		if second == nil {
			var err error
			if second, err = connect(ctx, beside(o, c.Address())); err != nil {
				return Lent, err
			}
			defer second.Close()
		}
		s, waits, err := c.whoServes(ctx, second)
		switch {
		case err != nil:
			return Lent, err
		case waits:
			return Session, nil
		case s.pid == c.pid, theirs != 0 && s.pid != theirs:
			return Lent, nil
		}
		theirs = s.pid
	}
	second.socket.state.lent.Store(false)
	return Session, nil
}

// beside returns the options for a second connection to the very same address.
func beside(o Options, address string) Options {
	dial := o.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	o.Dial = func(ctx context.Context, network, at string) (net.Conn, error) {
		if at != address {
			return nil, errNoDial
		}
		return dial(ctx, network, at)
	}
	o.Notify = nil
	return o
}

// whoServes asks which process serves the second connection. waits reports that no process does although the first
// connection is served. Then that session is the first connection's own, because a pooler that lends would have lent it
// to the second.
func (c *Conn) whoServes(ctx context.Context, second *Conn) (s server, waits bool, err error) {
	done := make(chan struct{})
	spawn.Go(ctx, nil, func() { // joined below
		defer close(done)
		err = spawn.Call(ctx, func() (err error) {
			s, err = second.who(ctx)
			return err
		})
	})
	defer func() { <-done }()
	select {
	case <-done:
		return s, false, err
	case <-time.After(waitTime):
	}
	for range 2 {
		mine, failed := c.who(ctx)
		select {
		case <-done: // the second connection was served
			return s, false, err
		default:
		}
		if failed != nil || mine.pid != c.pid {
			<-done
			return server{pid: c.pid}, false, cmp.Or(err, failed) // ours was lent to the second
		}
	}
	second.socket.state.lent.Store(false)
	second.Cut()
	<-done
	return server{}, true, nil
}
