package dflocktest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/test/bufconn"
)

// memoryAddr is the address of a server without sockets: nobody's (RFC 5737), and not a name,
// which would send clients to a resolver that cannot be used in a synctest bubble.
const memoryAddr = "192.0.2.1:6388"

// Server is a running emulator. Its methods are safe for concurrent use.
type Server struct {
	options  Options
	listener net.Listener
	memory   *bufconn.Listener // nil: there are sockets
	network  network
	tasks    sync.WaitGroup
	stopped  chan struct{}
	stop     func()

	mu      sync.Mutex
	model   *model
	changed chan struct{} // closed, and replaced, when something happens
	faults  faults
}

// Start starts a server and the goroutines that serve it; Close ends them.
func Start(o Options) (*Server, error) {
	o = o.withDefaults()
	s := &Server{
		options: o, model: newModel(o, time.Now()),
		stopped: make(chan struct{}), changed: make(chan struct{}),
	}
	s.network.conns = map[*wireConn]struct{}{}
	s.faults = faults{received: map[string]int{}, losses: map[string]int{}, answers: map[string]scripted{}}
	s.stop = sync.OnceFunc(func() { close(s.stopped) })
	if o.InMemory {
		const buffer = 4 << 20
		s.memory = bufconn.Listen(buffer)
		s.listener = s.memory
	} else {
		l, err := net.Listen("tcp", o.Listen)
		if err != nil {
			return nil, fmt.Errorf("starting the dflockd emulator: %w", err)
		}
		s.listener = l
	}
	s.tasks.Go(func() { o.Guard(s.accept) })
	s.tasks.Go(func() { o.Guard(s.keepTime) })
	return s, nil
}

// Close cuts every connection, ends every goroutine of the server and waits for them. A
// second Close does nothing.
func (s *Server) Close() error {
	s.stop()
	_ = s.listener.Close() // a second time, it is closed already
	s.network.closeAll()
	s.tasks.Wait()
	return nil
}

// Addr is the host and port that clients connect to. In memory it is a made-up one that only
// Dial understands.
func (s *Server) Addr() string {
	if s.memory != nil {
		return memoryAddr
	}
	return s.listener.Addr().String()
}

// Dial connects to the server, whatever the address; an in-memory server can be reached in no
// other way. TLS is the caller's to begin.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if s.memory != nil {
		return s.memory.DialContext(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", s.Addr())
}

func (s *Server) accept() {
	for {
		inner, err := s.listener.Accept()
		if err != nil {
			return
		}
		w := s.network.add(inner)
		if w == nil {
			_ = inner.Close() // whether it was open does not matter
			continue
		}
		c := s.open(w)
		if c == nil {
			_ = w.Close()
			continue
		}
		s.tasks.Go(func() { s.options.Guard(c.serve) })
	}
}

func (s *Server) encrypt(w *wireConn) net.Conn {
	if s.options.TLS == nil {
		return w
	}
	return tls.Server(w, s.options.TLS)
}

// step calls f with the model at the present time.
func (s *Server) step(f func(*model)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model.advance(time.Now())
	f(s.model)
	close(s.changed)
	s.changed = make(chan struct{})
}

// keepTime wakes the model up when something is due in it.
func (s *Server) keepTime() {
	for {
		s.mu.Lock()
		due, ok := s.model.next()
		changed := s.changed
		s.mu.Unlock()
		var wake <-chan time.Time
		if ok {
			wake = time.After(time.Until(due))
		}
		select {
		case <-wake:
			s.step(func(*model) {})
		case <-changed:
		case <-s.stopped:
			return
		}
	}
}
