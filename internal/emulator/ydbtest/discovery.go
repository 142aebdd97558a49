package ydbtest

import (
	"context"
	"net"
	"strconv"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Discovery_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Discovery"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
)

// discovery serves Ydb.Discovery.V1.DiscoveryService at one front end.
type discovery struct {
	Ydb_Discovery_V1.UnimplementedDiscoveryServiceServer
	server   *Server
	frontEnd int
}

// ListEndpoints answers with the address that the client itself used, so that clients stay connected that came through
// a proxy or by another name of this machine.
func (d *discovery) ListEndpoints(ctx context.Context, _ *Ydb_Discovery.ListEndpointsRequest) (*Ydb_Discovery.ListEndpointsResponse, error) {
	host, port := dialled(ctx, d.server.Endpoint(d.frontEnd))
	endpoints := []*Ydb_Discovery.EndpointInfo{d.endpoint(host, port, d.frontEnd)}
	for i, f := range d.server.fronts {
		if host, port, ok := splitEndpoint(f.wire.Address()); ok && d.server.advertiseAll && i != d.frontEnd {
			endpoints = append(endpoints, d.endpoint(host, port, i))
		}
	}
	op := d.server.operate(ctx, 0, func(*cluster) (proto.Message, *refusal) {
		return &Ydb_Discovery.ListEndpointsResult{Endpoints: endpoints}, nil
	})
	return &Ydb_Discovery.ListEndpointsResponse{Operation: op}, nil
}

func (d *discovery) endpoint(host string, port uint32, frontEnd int) *Ydb_Discovery.EndpointInfo {
	return &Ydb_Discovery.EndpointInfo{
		Address: host, Port: port, NodeId: uint32(frontEnd) + 1, Ssl: d.server.secure,
	}
}

// dialled returns the address in :authority, otherwise the one of the connection or fallback.
func dialled(ctx context.Context, fallback string) (string, uint32) {
	var candidates []string
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		candidates = md.Get(":authority")
	}
	if p, ok := peer.FromContext(ctx); ok && p.LocalAddr != nil {
		candidates = append(candidates, p.LocalAddr.String())
	}
	for _, address := range append(candidates, fallback) {
		if host, port, ok := splitEndpoint(address); ok {
			return host, port
		}
	}
	return "", 0
}

func splitEndpoint(address string) (string, uint32, bool) {
	host, text, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return "", 0, false
	}
	port, err := strconv.ParseUint(text, 10, 16)
	return host, uint32(port), err == nil
}

func (d *discovery) WhoAmI(ctx context.Context, _ *Ydb_Discovery.WhoAmIRequest) (*Ydb_Discovery.WhoAmIResponse, error) {
	op := d.server.operate(ctx, 0, func(*cluster) (proto.Message, *refusal) {
		return &Ydb_Discovery.WhoAmIResult{User: identityOf(ctx).login}, nil
	})
	return &Ydb_Discovery.WhoAmIResponse{Operation: op}, nil
}
