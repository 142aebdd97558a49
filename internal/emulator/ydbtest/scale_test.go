package ydbtest_test

import (
	"fmt"
	"sync"
	"testing"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/internal/emulator/ydbtest"
)

func TestThousandSessionsOwnTenThousandSemaphores(t *testing.T) {
	t.Parallel()
	const sessions, each = 1000, 10
	// In a bubble, so that a busy machine cannot make a client miss a ping.
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		var clients sync.WaitGroup
		owned := make(chan error, sessions)
		for i := range sessions {
			r := b.open(i % 2)
			// Each reads, and answers pings, until its session is expired below.
			clients.Go(func() {
				owned <- r.ownMany(i*each, each)
				for _, err := r.recv(); err == nil; _, err = r.recv() {
				}
			})
		}
		for range sessions {
			if err := <-owned; err != nil {
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
		for _, s := range b.Sessions(node) {
			if err := b.ExpireSession(node, s.ID); err != nil {
				t.Fatal(err)
			}
		}
		clients.Wait()
		if err := b.Await(b.ctx, func() bool { return b.Streams() == 0 }); err != nil {
			t.Fatal(err)
		}
		if left := b.Semaphores(node); len(left) != 0 {
			t.Errorf("%d ephemeral semaphores are left", len(left))
		}
	})
}

// ownMany starts a session and acquires ephemeral semaphores, all asked for before the
// first is answered.
func (r *raw) ownMany(from, n int) error {
	reqs := []*pb.SessionRequest{{Request: &pb.SessionRequest_SessionStart_{
		SessionStart: &pb.SessionRequest_SessionStart{Path: node, TimeoutMillis: 1_800_000},
	}}}
	for i := range n {
		reqs = append(reqs, &pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{
			AcquireSemaphore: &pb.SessionRequest_AcquireSemaphore{
				ReqId: uint64(from + i), Name: fmt.Sprintf("s%05d", from+i), Count: 1, Ephemeral: true,
			},
		}})
	}
	for _, req := range reqs {
		if err := r.call.Send(req); err != nil {
			return err
		}
	}
	for i := range n + 1 {
		msg, err := r.recv()
		if err != nil {
			return err
		}
		got := msg.GetAcquireSemaphoreResult()
		if i > 0 && (!got.GetAcquired() || got.GetReqId() != uint64(from+i-1)) {
			return fmt.Errorf("claim %d: got %v", from+i-1, msg)
		}
	}
	return nil
}
