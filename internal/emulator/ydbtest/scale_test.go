package ydbtest_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/internal/emulator/ydbtest"
)

func TestThousandSessionsOwnTenThousandSemaphores(t *testing.T) {
	t.Parallel()
	const sessions, each = 1000, 10
	b := start(t, ydbtest.Options{})
	var clients []*raw
	for i := range sessions {
		clients = append(clients, b.session(i%2, 30*time.Minute))
	}
	var group sync.WaitGroup
	errs := make(chan error, sessions)
	for i, c := range clients {
		group.Go(func() { errs <- c.ownMany(i*each, each) })
	}
	group.Wait()
	for range sessions {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	semaphores := b.Semaphores(node)
	if len(semaphores) != sessions*each {
		t.Fatalf("%d semaphores exist", len(semaphores))
	}
	for _, s := range semaphores {
		if len(s.Owners) != 1 {
			t.Fatalf("%s has %d owners", s.Name, len(s.Owners))
		}
	}
	for _, c := range clients {
		c.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStop_{SessionStop: &pb.SessionRequest_SessionStop{}}})
	}
	if err := b.Await(t.Context(), func() bool { return len(b.Sessions(node)) == 0 && b.Streams() == 0 }); err != nil {
		t.Fatal(err)
	}
	if left := b.Semaphores(node); len(left) != 0 {
		t.Errorf("%d ephemeral semaphores are left", len(left))
	}
}

// ownMany acquires ephemeral semaphores, all asked for before the first is answered.
func (r *raw) ownMany(from, n int) error {
	for i := range n {
		err := r.call.Send(&pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{
			AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{
				ReqId: uint64(from + i), Name: fmt.Sprintf("s%05d", from+i), Count: 1, Ephemeral: true,
			},
		}})
		if err != nil {
			return err
		}
	}
	for i := range n {
		msg, err := r.recv()
		if err != nil {
			return err
		}
		if got := msg.GetAcquireSemaphoreResult(); !got.GetAcquired() || got.GetReqId() != uint64(from+i) {
			return fmt.Errorf("claim %d: got %v", from+i, msg)
		}
	}
	return nil
}
