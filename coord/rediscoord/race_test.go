package rediscoord

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/localserver"
)

// onReply calls a function when the reply to a script has come and before anybody else
// sees it.
type onReply struct{ do func() }

func (onReply) DialHook(next redis.DialHook) redis.DialHook { return next }

func (onReply) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h onReply) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() == "evalsha" {
			h.do()
		}
		return err
	}
}

func TestWinInTheInstantOfAnEndIsGivenBack(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	address, err := ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := NewClient(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	d, err := New(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for end, want := range map[string]error{"cancel": context.Canceled, "cancel unseen": context.Canceled, "close": coord.ErrClosed} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		opened, err := d.Open(ctx, coord.SessionOptions{TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		s := opened.(*session)
		caller := &lateContext{Context: ctx}
		closed := make(chan error, 1)
		s.client.AddHook(onReply{func() {
			switch {
			case end == "cancel":
				cancel()
			case end == "cancel unseen":
				caller.over.Store(true)
			case s.Over() == nil:
				go func() { closed <- s.Close(context.WithoutCancel(ctx)) }()
				<-s.Open().Done()
			}
		}})
		c := coord.Claim{Kind: coord.KindMutex, Name: "k", Wait: coord.Forever}
		if g, ok, err := s.Acquire(caller, c); ok || !errors.Is(err, want) {
			t.Errorf("%s: %v, ok %v, %v, want %v", end, g, ok, err, want)
		}
		if end == "close" {
			if err := <-closed; err != nil {
				t.Errorf("closing: %v", err)
			}
		}
		if n := raw.Exists(t.Context(), "k").Val(); n != 0 {
			t.Fatalf("%s: the key is left behind", end)
		}
		s.Abandon()
		cancel()
	}
}

// lateContext has ended before those who wait for it are told.
type lateContext struct {
	context.Context
	over atomic.Bool
}

func (c *lateContext) Err() error {
	if c.over.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}
