package ydbtest

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Auth_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/Ydb_Scheme_V1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // some clients compress
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"coordtop/internal/emulator/network"
)

// Options configure a Server. The zero value is a server with two front ends on free ports of 127.0.0.1, the database
// /local, no encryption and no users.
type Options struct {
	Database  string          // path of the only database; empty: /local
	FrontEnds int             // number of front ends; 0: 2, or len(Listen) if that is more
	Listen    []string        // addresses of the first front ends; the others: 127.0.0.1:0
	InMemory  bool            // no sockets: clients dial with Server.Dial
	TLS       *tls.Config     // nil: plaintext
	Users     map[string]User // by login; empty: anybody may do anything without a login
	// AdvertiseAll lets discovery name every front end, the dialled one first; otherwise discovery names only the
	// dialled one.
	AdvertiseAll bool
	// OwnersInOrder lists the owners of a semaphore by order id. The service promises no order. Without this option the
	// order is arbitrary, so that tests find a client that relies on an order.
	OwnersInOrder bool
	Limits        Limits
	// Guard calls the body of every goroutine, and the handler of every call, of the server. It may recover from a
	// panic; after that the server is useless, but can be closed. Nil: they are called directly.
	Guard func(body func())
}

// Server is a running emulator. Its methods are safe for concurrent use.
type Server struct {
	database     string
	secure       bool
	fronts       []*frontEnd
	serving      sync.WaitGroup // the listeners and the clock
	readers      sync.WaitGroup // the reading halves of Session calls
	stopped      chan struct{}
	advertiseAll bool
	tickets      *tickets // nil: nobody has to log in
	stop         func()
	guard        func(body func())

	turns    network.Turns // guards the rest
	model    *cluster
	drops    map[string]int     // answers to lose, by kind
	failures map[string]failure // by method
}

// frontEnd is one YDB node as clients see it, with its own address and its own proxies for the shared coordination
// nodes.
type frontEnd struct {
	wire  *network.Listener
	grpc  *grpc.Server
	delay atomic.Int64 // of everything sent, in nanoseconds
}

// Start starts a server and the goroutines that serve it; Close ends them.
func Start(o Options) (*Server, error) {
	o.Database = cmp.Or(o.Database, "/local")
	o.FrontEnds = max(cmp.Or(o.FrontEnds, 2), len(o.Listen))
	path := splitPath(o.Database)
	if len(path) == 0 {
		return nil, fmt.Errorf("starting the YDB emulator: database %q: a path is needed", o.Database)
	}
	s := &Server{
		database: o.Database, secure: o.TLS != nil, advertiseAll: o.AdvertiseAll, guard: o.Guard,
		tickets: newTickets(o.Users),
		stopped: make(chan struct{}),
		drops:   map[string]int{}, failures: map[string]failure{},
		model: newCluster(time.Now(), path, o.Limits, rand.Uint64),
	}
	if s.guard == nil {
		s.guard = func(body func()) { body() }
	}
	s.model.ownersInOrder = o.OwnersInOrder
	s.stop = sync.OnceFunc(func() { close(s.stopped) })
	for i := range o.FrontEnds {
		wire, err := listen(o, i)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("starting the YDB emulator: %w", err), s.Close())
		}
		s.fronts = append(s.fronts, &frontEnd{wire: wire})
		s.serve(i, s.fronts[i], o.TLS)
	}
	s.serving.Go(func() {
		s.guard(func() { s.turns.KeepTime(s.stopped, s.model.timers.next, func() { s.step(func(*cluster) {}) }) })
	})
	return s, nil
}

func listen(o Options, i int) (*network.Listener, error) {
	switch {
	case o.InMemory:
		return network.InMemory(fmt.Sprintf("192.0.2.%d:1", i+1)), nil
	case i < len(o.Listen):
		return network.Listen(o.Listen[i])
	}
	return network.Listen("127.0.0.1:0")
}

func (s *Server) serve(i int, f *frontEnd, config *tls.Config) {
	const largestRequest = 64_000_000 // above every limit of the service's own
	options := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.guardedUnary, s.unaryFaults(f), s.tickets.unaryLogin),
		grpc.ChainStreamInterceptor(s.guardedStream, s.streamFaults, s.tickets.streamLogin),
		grpc.MaxRecvMsgSize(largestRequest),
		grpc.WaitForHandlers(true),
		// Drivers ping idle connections every ten seconds or every second, but not exactly; without this option grpc-go
		// would close their connections.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Millisecond, PermitWithoutStream: true}),
	}
	if config != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(config)))
	}
	f.grpc = grpc.NewServer(options...)
	Ydb_Coordination_V1.RegisterCoordinationServiceServer(f.grpc, &coordination{server: s, frontEnd: i})
	Ydb_Discovery_V1.RegisterDiscoveryServiceServer(f.grpc, &discovery{server: s, frontEnd: i})
	Ydb_Auth_V1.RegisterAuthServiceServer(f.grpc, &auth{server: s})
	Ydb_Scheme_V1.RegisterSchemeServiceServer(f.grpc, &scheme{server: s})
	s.serving.Go(func() {
		// Serve ends when Close stops f.grpc; its error has no other cause.
		s.guard(func() { _ = f.grpc.Serve(f.wire) })
	})
}

// Close cuts every connection and waits until every goroutine of the server has ended. A second Close does nothing.
func (s *Server) Close() error {
	s.stop()
	for _, f := range s.fronts {
		// The connections are closed first, because Stop would wait for one in a black hole.
		f.wire.Refuse(true)
		f.wire.CloseAll()
		f.grpc.Stop()
	}
	s.serving.Wait()
	s.readers.Wait()
	return nil
}

// Endpoint returns the address of front end i as host:port. In memory it is a made-up address for Dial alone.
func (s *Server) Endpoint(i int) string { return s.fronts[i].wire.Address() }

// Database returns the path of the database, such as /local.
func (s *Server) Database() string { return s.database }

// URL returns the connection string of front end i for the drivers: grpc://host:port/local, or grpcs:// with TLS.
func (s *Server) URL(i int) string {
	scheme := "grpc"
	if s.secure {
		scheme = "grpcs"
	}
	return scheme + "://" + s.Endpoint(i) + s.database
}

// Dial connects to the front end with this address; it fits grpc.WithContextDialer. It is the only way to reach an
// in-memory server.
func (s *Server) Dial(ctx context.Context, address string) (net.Conn, error) {
	for _, f := range s.fronts {
		if f.wire.Address() == address {
			return f.wire.Dial(ctx)
		}
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// step calls f with the model at the present time, and delivers the resulting messages.
func (s *Server) step(f func(*cluster)) {
	s.turns.Lock()
	defer s.turns.Unlock()
	now := time.Now()
	s.model.advance(now)
	f(s.model)
	for _, d := range s.model.drain() {
		if d.to.deliver != nil && (d.msg == nil || !s.droppedLocked(kindOf(d.msg))) {
			d.to.deliver.put(parcel{msg: d.msg, end: d.end, made: now})
		}
	}
	s.turns.Happened()
}

// errPanicked ends a call whose handler panicked under Options.Guard.
var errPanicked = status.Error(codes.Internal, "the emulator has a defect")

// guardedUnary and guardedStream call handlers through Options.Guard.
func (s *Server) guardedUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (reply any, err error) {
	err = errPanicked
	s.guard(func() { reply, err = handler(ctx, req) })
	return reply, err
}

func (s *Server) guardedStream(srv any, call grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	err = errPanicked
	s.guard(func() { err = handler(srv, call) })
	return err
}
