package respwire

import (
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
)

// Error reports that a server sent something that no Redis server sends. Every Read of the connection returns it from
// then on.
type Error struct {
	Addr string // host:port of the server
	What string // "a map of 2,147,483,647 elements"
}

// Error names the server, what it sent and what that means.
func (e *Error) Error() string {
	return fmt.Sprintf("%s sent %s: it is not a Redis server, or something between changes its answers; check host and port", e.Addr, e.What)
}

// Conn is a connection to a server whose replies are bounded. See the package's
// documentation.
type Conn interface {
	net.Conn
	// Stream declares that the server only pushes on this connection from now on, so that each message is counted
	// separately.
	Stream()
	// Gather(true) makes each Read wait for Release, for 25 ms at most, so that one Read returns many messages.
	// Gather(false) ends that. It is safe for concurrent use.
	Gather(on bool)
	// Release ends the wait of a Read; if no Read waits, the next one does not wait. It does not block, and is safe for
	// concurrent use.
	Release()
}

// New returns c with its replies bounded. addr is the server's name in errors.
func New(c net.Conn, addr string, l Limits) Conn {
	b := &bounded{Conn: c, addr: addr, scan: scanner{limits: l}, gate: newGate(c)}
	if socket, ok := c.(syscall.Conn); ok {
		return &plain{b, socket}
	}
	return b
}

// plain is a connection with a socket, which the library checks to find out whether the server has
// closed a connection of its pool. A connection with TLS does not show its socket.
type plain struct {
	*bounded
	socket syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (p *plain) SyscallConn() (syscall.RawConn, error) { return p.socket.SyscallConn() }

type bounded struct {
	net.Conn
	*gate
	addr   string
	scan   scanner
	wrong  error       // returned by every Read once rest is read; nil: nothing is wrong
	rest   []byte      // scanned and not passed on yet
	asked  atomic.Bool // the client wrote since the last Read
	stream atomic.Bool
}

// Stream implements Conn.
func (c *bounded) Stream() { c.stream.Store(true) }

// Read implements net.Conn. It returns no byte of a header that breaks a limit.
func (c *bounded) Read(p []byte) (int, error) {
	for {
		if n := copy(p, c.rest); n > 0 {
			c.rest = c.rest[n:]
			return n, nil
		}
		if c.wrong != nil || len(p) == 0 {
			return 0, c.wrong
		}
		n, err := c.gate.read(c.Conn, p)
		if c.scan.stream = c.stream.Load(); c.asked.Swap(false) || c.scan.stream {
			c.scan.asked()
		}
		good, wrong := c.scan.scan(p[:n])
		if wrong != "" {
			c.wrong, err = &Error{Addr: c.addr, What: wrong}, nil
		}
		passed := copy(p, good)
		c.rest = good[passed:]
		clear(p[min(passed, n):n])
		if passed > 0 || err != nil {
			return passed, err
		}
	}
}

// Write implements net.Conn.
func (c *bounded) Write(p []byte) (int, error) {
	c.asked.Store(true)
	return c.Conn.Write(p)
}
