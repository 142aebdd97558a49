package ydbtest

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestAGuardSeesThePanicsOfCallsAndOfTheClock(t *testing.T) {
	t.Parallel()
	seen := make(chan any, 3)
	s, err := Start(Options{InMemory: true, Guard: func(body func()) {
		defer func() {
			if v := recover(); v != nil {
				seen <- v
			}
		}()
		body()
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.guardedUnary(t.Context(), nil, nil, func(context.Context, any) (any, error) { panic("a call") })
	if v := <-seen; v != "a call" || status.Code(err) != codes.Internal {
		t.Errorf("a call: %v, %v", v, err)
	}
	err = s.guardedStream(nil, nil, nil, func(any, grpc.ServerStream) error { panic("a stream") })
	if v := <-seen; v != "a stream" || status.Code(err) != codes.Internal {
		t.Errorf("a stream: %v, %v", v, err)
	}
	s.step(func(c *cluster) { c.timers.set(time.Now(), func() { panic("the clock") }) })
	if v := <-seen; v != "the clock" {
		t.Errorf("the clock: %v", v)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
