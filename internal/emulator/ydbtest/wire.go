package ydbtest

import (
	"net"
	"sync"
)

// wire is the listener of a front end with the faults that a network has.
type wire struct {
	net.Listener

	mu       sync.Mutex
	conns    map[*wireConn]struct{}
	refusing bool
	hole     chan struct{} // open: nothing passes until it is closed; nil: all is well
}

func newWire(l net.Listener) *wire { return &wire{Listener: l, conns: map[*wireConn]struct{}{}} }

// Accept closes what it gets while the front end refuses connections.
func (w *wire) Accept() (net.Conn, error) {
	for {
		inner, err := w.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &wireConn{Conn: inner, wire: w, closed: make(chan struct{})}
		w.mu.Lock()
		refusing := w.refusing
		if !refusing {
			w.conns[c] = struct{}{}
		}
		w.mu.Unlock()
		if !refusing {
			return c, nil
		}
		_ = inner.Close()
	}
}

func (w *wire) refuse(on bool) {
	w.mu.Lock()
	w.refusing = on
	w.mu.Unlock()
	if on {
		w.cut()
	}
}

func (w *wire) cut() {
	w.mu.Lock()
	conns := w.conns
	w.conns = map[*wireConn]struct{}{}
	w.mu.Unlock()
	for c := range conns {
		_ = c.Close()
	}
}

func (w *wire) blackHole(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case on && w.hole == nil:
		w.hole = make(chan struct{})
	case !on && w.hole != nil:
		close(w.hole)
		w.hole = nil
	}
}

// wireConn is one connection. What is on its way when a black hole opens is kept and
// arrives, in order, when it closes, as TCP would have it.
type wireConn struct {
	net.Conn
	wire   *wire
	closed chan struct{}
	once   sync.Once
}

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if holeErr := c.pass(); holeErr != nil {
		return 0, holeErr
	}
	return n, err
}

func (c *wireConn) Write(p []byte) (int, error) {
	if err := c.pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// pass waits for as long as there is a black hole.
func (c *wireConn) pass() error {
	for {
		c.wire.mu.Lock()
		hole := c.wire.hole
		c.wire.mu.Unlock()
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

// Close also frees what waits in a black hole.
func (c *wireConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	c.wire.mu.Lock()
	delete(c.wire.conns, c)
	c.wire.mu.Unlock()
	return c.Conn.Close()
}
