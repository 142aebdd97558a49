package network

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/test/bufconn"
)

// Listener is a listener with the faults that a network has.
type Listener struct {
	net.Listener
	address string
	memory  *bufconn.Listener // nil: it uses sockets

	mu       sync.Mutex
	conns    map[*Conn]struct{}
	refusing bool
	hole     chan struct{} // nothing passes until it is closed; nil: everything passes
}

// Listen listens on a socket.
func Listen(address string) (*Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Listener{Listener: l, address: l.Addr().String(), conns: map[*Conn]struct{}{}}, nil
}

// InMemory listens without a socket. The address must belong to no machine, such as 192.0.2.1:1 (RFC 5737). It must not
// be a name, because a resolver cannot be used in a synctest bubble.
func InMemory(address string) *Listener {
	const buffer = 4 << 20
	l := bufconn.Listen(buffer)
	return &Listener{Listener: l, address: address, memory: l, conns: map[*Conn]struct{}{}}
}

// Address returns the host and port that clients connect to. In memory only Dial understands it.
func (l *Listener) Address() string { return l.address }

// Dial connects to the listener. It is the only way to reach one in memory.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	if l.memory != nil {
		return l.memory.DialContext(ctx)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", l.address)
}

// Accept waits for a connection, which is a *Conn. While Refuse is on, it closes new connections and waits on.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{Conn: inner, listener: l, closed: make(chan struct{})}
		l.mu.Lock()
		refusing := l.refusing
		if !refusing {
			l.conns[c] = struct{}{}
		}
		l.mu.Unlock()
		if !refusing {
			return c, nil
		}
		_ = inner.Close() // it does not matter if the client has closed it
	}
}

// Refuse refuses new connections until it is called with false.
func (l *Listener) Refuse(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusing = on
}

// Hold lets no byte pass in either direction, without closing anything, until it is called with false; then the bytes
// that were held back arrive in order, as in TCP.
func (l *Listener) Hold(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case on && l.hole == nil:
		l.hole = make(chan struct{})
	case !on && l.hole != nil:
		close(l.hole)
		l.hole = nil
	}
}

// Cut closes every connection at the network. New ones are accepted. The server notices this like clients that hang up.
func (l *Listener) Cut() {
	for _, c := range l.all() {
		_ = c.Conn.Close() // the connection ends even if this fails
	}
}

// CloseAll closes every connection, including those that Hold holds back, like a server that ends.
func (l *Listener) CloseAll() {
	for _, c := range l.all() {
		_ = c.Close() // the connection ends even if this fails
	}
}

func (l *Listener) all() []*Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*Conn
	for c := range l.conns {
		all = append(all, c)
	}
	return all
}

// Conn is one connection of a Listener.
type Conn struct {
	net.Conn
	listener *Listener
	closed   chan struct{}
	once     sync.Once
}

// Closed returns a channel that is closed when the server closes the connection, but not when Cut does.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if held := c.pass(); held != nil {
		return 0, held
	}
	return n, err
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	if err := c.pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// pass blocks while Hold is on.
func (c *Conn) pass() error {
	for {
		c.listener.mu.Lock()
		hole := c.listener.hole
		c.listener.mu.Unlock()
		if hole == nil {
			return nil
		}
		select {
		case <-hole:
		case <-c.closed:
			return net.ErrClosed
		}
	}
}

// Close implements net.Conn. Reads and writes that Hold blocks return.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
