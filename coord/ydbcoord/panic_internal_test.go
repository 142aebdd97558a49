package ydbcoord

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/spawn"
)

func TestASessionWhoseGoroutinePanicsIsOverAndGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, err := ydbtest.Start(ydbtest.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if err := server.CreateNode("/local/n"); err != nil {
			t.Fatal(err)
		}
		conn, err := grpc.NewClient("passthrough:///"+server.Endpoint(0),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(server.Dial))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var panics atomic.Int64
		ctx := spawn.With(t.Context(), func(*spawn.Panic) { panics.Add(1) })
		s := newSession(ctx, "/local/n", Options{TTL: 30 * time.Second}, coord.SessionOptions{})
		c := &connection{s: s, service: Ydb_Coordination_V1.NewCoordinationServiceClient(conn)}
		st, err := c.attach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		spawn.Go(s.life, &s.gone, func() { c.run(st) })
		g, ok, err := s.Acquire(ctx, coord.Claim{Kind: coord.KindMutex, Name: "m", Ephemeral: true})
		if !ok {
			t.Fatal(err)
		}
		r := newDescribe(verbDescribe, "m")
		r.then = func() {
			r.then = nil
			panic("boom")
		}
		s.mu.Lock()
		s.addLocked(r)
		s.mu.Unlock()
		<-g.Done()
		if err := g.Err(); !errors.Is(err, coord.ErrLost) || !errors.Is(err, spawn.ErrPanic) {
			t.Errorf("the grant ended with %v", err)
		}
		s.gone.Wait()
		if left := server.Sessions("/local/n"); len(left) != 0 {
			t.Errorf("the service still has %v", left)
		}
		if err := s.Close(ctx); err != nil || panics.Load() != 1 {
			t.Errorf("closing: %v; told of %d panics", err, panics.Load())
		}
	})
}
