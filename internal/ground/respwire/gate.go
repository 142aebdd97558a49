package respwire

import (
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// gate makes Reads wait for Release, see Conn.Gather.
type gate struct {
	socket   syscall.RawConn // nil: unknown
	shut     atomic.Bool
	full     bool // the last Read filled its buffer: the next one does not wait
	released chan struct{}
}

const (
	releaseLimit = 25 * time.Millisecond // bounds the wait of a Read for Release
	muchAtOnce   = 64 << 10              // bytes that wake the program even if the gate is shut
)

func newGate(c net.Conn) *gate {
	g := &gate{released: make(chan struct{}, 1)}
	if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = secure.NetConn()
	}
	if s, ok := c.(syscall.Conn); ok {
		g.socket, _ = s.SyscallConn()
	}
	return g
}

// Gather implements Conn.
func (g *gate) Gather(on bool) { g.shut.Store(on) }

// Release implements Conn.
func (g *gate) Release() {
	select {
	case g.released <- struct{}{}:
	default:
	}
}

// read reads from c. While the gate is shut it waits for Release first, unless the previous Read has filled its buffer.
// During that wait the kernel does not report bytes that arrive, because each report would wake the program although no
// Read waits for them.
func (g *gate) read(c net.Conn, p []byte) (n int, err error) {
	if g.shut.Load() && !g.full {
		g.tellFrom(muchAtOnce)
		select {
		case <-g.released:
		case <-time.After(releaseLimit):
		}
		g.tellFrom(1)
	}
	n, err = c.Read(p)
	g.full = n == len(p)
	return n, err
}

// tellFrom makes the kernel report that the socket is readable only after so many bytes have arrived.
func (g *gate) tellFrom(bytes int) {
	if g.socket != nil {
		_ = g.socket.Control(func(fd uintptr) { // if it cannot be set, the program wakes more often
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, bytes)
		})
	}
}
