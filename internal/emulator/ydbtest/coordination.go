package ydbtest

import (
	"context"
	"sync"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Operations"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// coordination serves Ydb.Coordination.V1.CoordinationService at one front end.
type coordination struct {
	Ydb_Coordination_V1.UnimplementedCoordinationServiceServer
	server   *Server
	frontEnd int
}

// Session connects a gRPC stream to a stream of the model. Two goroutines serve it: this one writes; the other reads,
// ends with the call, and is joined by Server.Close.
func (s *coordination) Session(call Ydb_Coordination_V1.CoordinationService_SessionServer) error {
	ctx := call.Context()
	var st *stream
	s.server.step(func(c *cluster) {
		if st = c.open(s.frontEnd, identityOf(ctx).rights); st != nil {
			st.deliver = newOutbox()
		}
	})
	if st == nil {
		return status.Error(codes.ResourceExhausted, "too many Session streams")
	}
	s.server.readers.Go(func() { s.server.guard(func() { s.read(st, call) }) })
	defer s.server.step(func(c *cluster) { c.hangUp(st) }) // even if the service has ended it
	return s.write(ctx, st, call)
}

func (s *coordination) read(st *stream, call Ydb_Coordination_V1.CoordinationService_SessionServer) {
	for {
		req, err := call.Recv()
		if err != nil {
			s.server.step(func(c *cluster) { c.hangUp(st) })
			return
		}
		s.server.step(func(c *cluster) { c.receive(st, req) })
	}
}

func (s *coordination) write(ctx context.Context, st *stream, call Ydb_Coordination_V1.CoordinationService_SessionServer) error {
	front := s.server.fronts[s.frontEnd]
	for {
		parcels, err := st.deliver.take(ctx)
		if err != nil {
			return status.FromContextError(err).Err()
		}
		for _, p := range parcels {
			if err := front.hold(ctx, p.made); err != nil {
				return err
			}
			if p.end != nil {
				return p.end.Err()
			}
			if err := call.Send(p.msg); err != nil {
				return err
			}
		}
	}
}

func (s *coordination) CreateNode(ctx context.Context, req *pb.CreateNodeRequest) (*pb.CreateNodeResponse, error) {
	op := s.server.change(ctx, Write, func(c *cluster) *refusal { return c.createNode(req.GetPath(), req.GetConfig()) })
	return &pb.CreateNodeResponse{Operation: op}, nil
}

func (s *coordination) AlterNode(ctx context.Context, req *pb.AlterNodeRequest) (*pb.AlterNodeResponse, error) {
	op := s.server.change(ctx, Write, func(c *cluster) *refusal { return c.alterNode(req.GetPath(), req.GetConfig()) })
	return &pb.AlterNodeResponse{Operation: op}, nil
}

func (s *coordination) DropNode(ctx context.Context, req *pb.DropNodeRequest) (*pb.DropNodeResponse, error) {
	op := s.server.change(ctx, Erase, func(c *cluster) *refusal { return c.dropNode(req.GetPath()) })
	return &pb.DropNodeResponse{Operation: op}, nil
}

func (s *coordination) DescribeNode(ctx context.Context, req *pb.DescribeNodeRequest) (*pb.DescribeNodeResponse, error) {
	op := s.server.operate(ctx, List, func(c *cluster) (proto.Message, *refusal) {
		at, err := c.node(req.GetPath())
		if err != nil {
			return nil, err
		}
		return &pb.DescribeNodeResult{Self: at.describeFully(), Config: at.tablet.config}, nil
	})
	return &pb.DescribeNodeResponse{Operation: op}, nil
}

// operate runs a call on the model, for which the client needs the rights in needs. It wraps results and errors as the
// service does, in an operation that is ready.
func (s *Server) operate(ctx context.Context, needs Rights, call func(*cluster) (proto.Message, *refusal)) *Ydb_Operations.Operation {
	op := &Ydb_Operations.Operation{Ready: true}
	s.step(func(c *cluster) {
		var result proto.Message
		err := noRight
		if identityOf(ctx).rights&needs == needs {
			result, err = call(c)
		}
		op.Status, op.Issues = err.reply()
		if result != nil {
			op.Result, _ = anypb.New(result) // a message of the wire can always be packed
		}
	})
	return op
}

// change calls operate for a call without a result.
func (s *Server) change(ctx context.Context, needs Rights, call func(*cluster) *refusal) *Ydb_Operations.Operation {
	return s.operate(ctx, needs, func(c *cluster) (proto.Message, *refusal) { return nil, call(c) })
}

// outbox is the queue of messages to one stream. It has no limit, so that a client that does not read delays nobody
// else.
type outbox struct {
	mu    sync.Mutex
	queue []parcel
	ready chan struct{} // has room for one; filled when the queue is not empty
}

// parcel is a message or the end of the stream, with the time at which it was ready to be sent.
type parcel struct {
	msg  *pb.SessionResponse
	end  *status.Status
	made time.Time
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

func (o *outbox) put(p parcel) {
	o.mu.Lock()
	o.queue = append(o.queue, p)
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// take blocks until there are parcels, or until ctx ends, and returns them.
func (o *outbox) take(ctx context.Context) ([]parcel, error) {
	for {
		o.mu.Lock()
		queue := o.queue
		o.queue = nil
		o.mu.Unlock()
		if len(queue) > 0 {
			return queue, nil
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
