package ydbcoord

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

// Create implements coord.Provisioner. If the semaphore exists already, the error wraps coord.ErrRefused and a
// StatusError of ALREADY_EXISTS. But if the answer to the first request was lost with its stream, a semaphore with that
// limit and data counts as created by us.
func (s *Session) Create(ctx context.Context, name string, limit uint64, data []byte) error {
	return doing("creating the semaphore", s.create(ctx, name, limit, data))
}

func (s *Session) create(ctx context.Context, name string, limit uint64, data []byte) error {
	if err := checkSemaphore(name, data); err != nil {
		return err
	}
	data = slices.Clone(data)
	r := newRequest(verbCreate, name, func(id uint64, _ time.Time) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_CreateSemaphore_{
			CreateSemaphore: &pb.SessionRequest_CreateSemaphore{ReqId: id, Name: name, Limit: limit, Data: data},
		}}
	})
	err := s.ask(ctx, r)
	if statusOf(err) != Ydb.StatusIds_ALREADY_EXISTS || r.sends < 2 {
		return err
	}
	state, lookErr := s.Look(ctx, name)
	switch {
	case lookErr != nil:
		return fmt.Errorf("%w; looking whether it is ours: %w", err, lookErr)
	case !state.Absent && state.Limit == limit && bytes.Equal(state.Data, data):
		return nil
	}
	return err
}

// Update implements coord.Provisioner. The service accepts it from anybody with the right to write, owner or not, even
// for ephemeral semaphores.
func (s *Session) Update(ctx context.Context, name string, data []byte) error {
	err := checkSemaphore(name, data)
	if err == nil {
		data = slices.Clone(data)
		err = s.ask(ctx, newRequest(verbUpdate, name, func(id uint64, _ time.Time) *pb.SessionRequest {
			return &pb.SessionRequest{Request: &pb.SessionRequest_UpdateSemaphore_{
				UpdateSemaphore: &pb.SessionRequest_UpdateSemaphore{ReqId: id, Name: name, Data: data},
			}}
		}))
	}
	if errors.Is(err, errSuperseded) { // a newer update of ours replaces this one
		return nil
	}
	return doing("updating the semaphore", err)
}

// Delete implements coord.Provisioner. Ephemeral semaphores cannot be deleted. If the request is repeated and the
// semaphore is gone, it counts as deleted by us.
func (s *Session) Delete(ctx context.Context, name string, force bool) error {
	err := checkSemaphore(name, nil)
	if err == nil {
		r := newRequest(verbDelete, name, func(id uint64, _ time.Time) *pb.SessionRequest {
			return &pb.SessionRequest{Request: &pb.SessionRequest_DeleteSemaphore_{
				DeleteSemaphore: &pb.SessionRequest_DeleteSemaphore{ReqId: id, Name: name, Force: force},
			}}
		})
		err = s.ask(ctx, r)
		if statusOf(err) == Ydb.StatusIds_NOT_FOUND && r.sends > 1 {
			return nil
		}
	}
	return doing("deleting the semaphore", err)
}

func checkSemaphore(name string, data []byte) error {
	return cmp.Or(Options{}.Caps().CheckData(data), CheckName(name))
}
