package dflocktest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"coordtop/internal/emulator/network"
)

// memoryAddr is the address of a server without sockets.
const memoryAddr = "192.0.2.1:6388"

// Server is a running emulator. Its methods are safe for concurrent use.
type Server struct {
	options Options
	wire    *network.Listener
	tasks   sync.WaitGroup
	stopped chan struct{}
	stop    func()

	turns  network.Turns // guards the rest
	model  *model
	faults faults
}

// Start starts a server and the goroutines that serve it; Close ends them.
func Start(o Options) (*Server, error) {
	o = o.withDefaults()
	wire := network.InMemory(memoryAddr)
	if !o.InMemory {
		var err error
		if wire, err = network.Listen(o.Listen); err != nil {
			return nil, fmt.Errorf("starting the dflockd emulator: %w", err)
		}
	}
	s := &Server{
		options: o, wire: wire, model: newModel(o, time.Now()), stopped: make(chan struct{}),
		faults: faults{received: map[string]int{}, losses: map[string]int{}, answers: map[string]scripted{}},
	}
	s.stop = sync.OnceFunc(func() { close(s.stopped) })
	s.tasks.Go(func() { o.Guard(s.accept) })
	s.tasks.Go(func() {
		o.Guard(func() { s.turns.KeepTime(s.stopped, s.due, func() { s.step(func(*model) {}) }) })
	})
	return s, nil
}

// Close cuts every connection, ends every goroutine of the server and waits for them. A
// second Close does nothing.
func (s *Server) Close() error {
	s.stop()
	_ = s.wire.Close() // a second time, it is closed already
	s.wire.Refuse(true)
	s.wire.CloseAll()
	s.tasks.Wait()
	return nil
}

// Addr is the host and port that clients connect to. In memory it is a made-up one that only
// Dial understands.
func (s *Server) Addr() string { return s.wire.Address() }

// Dial connects to the server, whatever the address; an in-memory server can be reached in no
// other way. TLS is the caller's to begin.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return s.wire.Dial(ctx)
}

func (s *Server) accept() {
	for {
		accepted, err := s.wire.Accept()
		if err != nil {
			return
		}
		w := accepted.(*network.Conn)
		c := s.open(w)
		if c == nil {
			_ = w.Close()
			continue
		}
		s.tasks.Go(func() { s.options.Guard(c.serve) })
	}
}

func (s *Server) encrypt(w *network.Conn) net.Conn {
	if s.options.TLS == nil {
		return w
	}
	return tls.Server(w, s.options.TLS)
}

// step calls f with the model at the present time.
func (s *Server) step(f func(*model)) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.model.advance(time.Now())
	f(s.model)
	s.turns.Happened()
}

// due is when the model, which a restart replaces, wants to be woken up.
func (s *Server) due() (time.Time, bool) { return s.model.next() }
