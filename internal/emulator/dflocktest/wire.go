package dflocktest

import (
	"net"
	"sync"
)

// network is what connections have in common: that they can be cut, refused or held up.
type network struct {
	mu       sync.Mutex
	conns    map[*wireConn]struct{}
	refusing bool
	closed   bool
	hang     chan struct{} // open: nothing passes until it is closed; nil: all is well
}

// add returns nil where connections are refused.
func (n *network) add(inner net.Conn) *wireConn {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refusing || n.closed {
		return nil
	}
	w := &wireConn{Conn: inner, network: n, closed: make(chan struct{})}
	n.conns[w] = struct{}{}
	return w
}

func (n *network) all() []*wireConn {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []*wireConn
	for w := range n.conns {
		all = append(all, w)
	}
	return all
}

func (n *network) closeAll() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.restart()
}

// restart closes every connection as a server does that ends.
func (n *network) restart() {
	for _, w := range n.all() {
		_ = w.Close() // it ends either way
	}
}

// wireConn is one connection. Bytes that are on their way when the network begins to hang are
// kept, and arrive in order when that ends.
type wireConn struct {
	net.Conn
	network *network
	closed  chan struct{} // by the server; a connection that was cut is not
	once    sync.Once
}

func (w *wireConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if hung := w.pass(); hung != nil {
		return 0, hung
	}
	return n, err
}

func (w *wireConn) Write(p []byte) (int, error) {
	if err := w.pass(); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}

// pass waits for as long as the network hangs.
func (w *wireConn) pass() error {
	for {
		w.network.mu.Lock()
		hang := w.network.hang
		w.network.mu.Unlock()
		if hang == nil {
			return nil
		}
		select {
		case <-hang:
		case <-w.closed:
			return net.ErrClosed
		}
	}
}

// Close also frees what the network holds up.
func (w *wireConn) Close() error {
	w.once.Do(func() { close(w.closed) })
	w.network.mu.Lock()
	delete(w.network.conns, w)
	w.network.mu.Unlock()
	return w.Conn.Close()
}
