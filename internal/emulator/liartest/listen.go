package liartest

import (
	"net"
	"sync"
)

// TB is what a liar needs of *testing.T.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// server accepts on a free port of the loopback until the test ends.
type server struct {
	listener net.Listener
	tasks    sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool
	closed bool
}

// listen starts serve for each connection. serve returns when the connection is closed.
func listen(t TB, serve func(net.Conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
		return nil
	}
	s := &server{listener: l, conns: make(map[net.Conn]bool)}
	s.tasks.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.tasks.Go(func() {
				defer s.drop(c)
				if s.keep(c) {
					serve(c)
				}
			})
		}
	})
	t.Cleanup(s.close)
	return s
}

// Addr is the host and port that clients connect to.
func (s *server) Addr() string { return s.listener.Addr().String() }

func (s *server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	return !s.closed
}

func (s *server) drop(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = c.Close() // it may be closed already
	delete(s.conns, c)
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	_ = s.listener.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.tasks.Wait()
}
