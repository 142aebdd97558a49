package liartest

import (
	"context"
	"net"
	"sync"
)

// TB lists the methods of *testing.T that this package needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// server accepts on a free port of the loopback until the test ends.
type server struct{ net.Listener }

// listen calls serve in a goroutine for each connection. serve must return when the connection is closed.
func listen(t TB, serve func(net.Conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
		return nil
	}
	life, end := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			tasks.Go(func() {
				defer c.Close() // it may be closed already
				defer context.AfterFunc(life, func() { _ = c.Close() })()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		end()
		_ = l.Close()
		tasks.Wait()
	})
	return &server{l}
}

// Addr is the host and port that clients connect to.
func (s *server) Addr() string { return s.Listener.Addr().String() }
