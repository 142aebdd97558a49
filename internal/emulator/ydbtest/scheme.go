package ydbtest

import (
	"context"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Scheme_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Scheme"
	"google.golang.org/protobuf/proto"
)

// scheme serves Ydb.Scheme.V1.SchemeService.
type scheme struct {
	Ydb_Scheme_V1.UnimplementedSchemeServiceServer
	server *Server
}

func (s *scheme) MakeDirectory(ctx context.Context, req *Ydb_Scheme.MakeDirectoryRequest) (*Ydb_Scheme.MakeDirectoryResponse, error) {
	op := s.server.change(ctx, Write, func(c *cluster) *refusal { return c.makeDirectory(req.GetPath()) })
	return &Ydb_Scheme.MakeDirectoryResponse{Operation: op}, nil
}

func (s *scheme) RemoveDirectory(ctx context.Context, req *Ydb_Scheme.RemoveDirectoryRequest) (*Ydb_Scheme.RemoveDirectoryResponse, error) {
	op := s.server.change(ctx, Erase, func(c *cluster) *refusal { return c.removeDirectory(req.GetPath()) })
	return &Ydb_Scheme.RemoveDirectoryResponse{Operation: op}, nil
}

func (s *scheme) ListDirectory(ctx context.Context, req *Ydb_Scheme.ListDirectoryRequest) (*Ydb_Scheme.ListDirectoryResponse, error) {
	op := s.server.operate(ctx, List, func(c *cluster) (proto.Message, *refusal) {
		at, err := c.entryAt(req.GetPath())
		if err != nil {
			return nil, err
		}
		return &Ydb_Scheme.ListDirectoryResult{Self: at.describe(), Children: at.list()}, nil
	})
	return &Ydb_Scheme.ListDirectoryResponse{Operation: op}, nil
}

func (s *scheme) DescribePath(ctx context.Context, req *Ydb_Scheme.DescribePathRequest) (*Ydb_Scheme.DescribePathResponse, error) {
	op := s.server.operate(ctx, List, func(c *cluster) (proto.Message, *refusal) {
		at, err := c.entryAt(req.GetPath())
		if err != nil {
			return nil, err
		}
		return &Ydb_Scheme.DescribePathResult{Self: at.describeFully()}, nil
	})
	return &Ydb_Scheme.DescribePathResponse{Operation: op}, nil
}

// ModifyPermissions stores permissions for DescribePath. They are not enforced, see User.Deny.
func (s *scheme) ModifyPermissions(ctx context.Context, req *Ydb_Scheme.ModifyPermissionsRequest) (*Ydb_Scheme.ModifyPermissionsResponse, error) {
	op := s.server.change(ctx, List, func(c *cluster) *refusal {
		at, err := c.entryAt(req.GetPath())
		if err != nil {
			return err
		}
		if req.GetClearPermissions() {
			clear(at.permissions)
		}
		for _, action := range req.GetActions() {
			at.permit(action)
		}
		return nil
	})
	return &Ydb_Scheme.ModifyPermissionsResponse{Operation: op}, nil
}
