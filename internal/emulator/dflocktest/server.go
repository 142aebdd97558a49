package dflocktest

import (
	"cmp"
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

// Close cuts every connection and waits until every goroutine of the server has ended. A second Close does nothing.
func (s *Server) Close() error {
	s.stop()
	_ = s.wire.Close() // already closed in a second call
	s.wire.Refuse(true)
	s.wire.CloseAll()
	s.tasks.Wait()
	return nil
}

// Addr returns the host and port that clients connect to. In memory it is a made-up address for Dial alone.
func (s *Server) Addr() string { return s.wire.Address() }

// Dial connects to the server and ignores the address. It is the only way to reach an in-memory server. It does not
// begin TLS.
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

// due returns when the present model, which a restart replaces, must be advanced.
func (s *Server) due() (time.Time, bool) { return s.model.next() }

// Options configure a Server. The zero value is a v1.10 server with that version's defaults on a free port of
// 127.0.0.1.
type Options struct {
	Listen   string      // address; empty: 127.0.0.1:0
	InMemory bool        // no sockets: clients dial with Server.Dial
	TLS      *tls.Config // nil: plaintext
	Secret   string      // what auth must send; empty: no authentication

	DefaultLease    time.Duration // --default-lease-ttl; 0: 33 s
	SweepEvery      time.Duration // --lease-sweep-interval; 0: 1 s
	GCEvery         time.Duration // --gc-interval; 0: 5 s
	GCIdle          time.Duration // --gc-max-idle; 0: 60 s
	ReadTimeout     time.Duration // --read-timeout; 0: 23 s
	ShutdownTimeout time.Duration // --shutdown-timeout; 0: 30 s

	MaxLocks       int // --max-locks, of locks and semaphores together; 0: 1024
	MaxConnections int // --max-connections; 0: any number
	MaxWaiters     int // --max-waiters, of each key; 0: any number

	// KeepOnDisconnect is --auto-release-on-disconnect=false: the grants of a connection and its places in queues
	// outlive it.
	KeepOnDisconnect bool

	Newer Newer

	// Guard calls the body of every goroutine of the server. It may recover from a panic; after that the server is
	// useless, but can be closed. Nil: the bodies are called directly.
	Guard func(body func())
}

// Newer selects changes of later releases. Each comment begins with the version that brought the change.
type Newer struct {
	ChecksWait     bool // 1.10.1: a wait for a lease that was swept is error_not_enqueued
	SignalChannels bool // 1.11 to 1.16: stats lists signal_channels
	Ping           bool // 1.14: the command ping
	Namespaces     bool // 1.14: locks and semaphores of one name are apart
	NoticesHangUps bool // 1.15: a client that hangs up while it waits leaves the queue
	LongSecrets    bool // 1.15: the line with the secret may have 64 KiB
	Draining       bool // 1.16: a server that shuts down answers error_draining
	Bounds         bool // 2.0: seconds that overflow, and limits over 1,048,576, are errors
	Fences         bool // 2.1: the first half of a nonce is a number that grows with each grant
}

// Since1_16 returns the changes that version 1.16 has.
func Since1_16() Newer {
	return Newer{ChecksWait: true, SignalChannels: true, Ping: true, Namespaces: true, NoticesHangUps: true, LongSecrets: true, Draining: true}
}

// Since2_1 returns the changes that version 2.1 has.
func Since2_1() Newer {
	n := Since1_16()
	n.SignalChannels, n.Bounds, n.Fences = false, true, true
	return n
}

func (o Options) withDefaults() Options {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	o.DefaultLease = cmp.Or(o.DefaultLease, 33*time.Second)
	o.SweepEvery, o.GCEvery, o.GCIdle = cmp.Or(o.SweepEvery, time.Second), cmp.Or(o.GCEvery, 5*time.Second), cmp.Or(o.GCIdle, time.Minute)
	o.ReadTimeout, o.ShutdownTimeout = cmp.Or(o.ReadTimeout, 23*time.Second), cmp.Or(o.ShutdownTimeout, 30*time.Second)
	o.MaxLocks = cmp.Or(o.MaxLocks, 1024)
	if o.Guard == nil {
		o.Guard = func(body func()) { body() }
	}
	return o
}
