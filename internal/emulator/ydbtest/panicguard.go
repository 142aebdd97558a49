package ydbtest

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errPanicked ends a call in whose handler Options.Guard saw a panic.
var errPanicked = status.Error(codes.Internal, "the emulator has a defect")

// guardedUnary and guardedStream call handlers by Options.Guard.
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
