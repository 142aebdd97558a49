package pgcoord_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
)

// beforeFence is a connection that lets something happen when the lock is ours and the
// question for the fence has not left yet.
type beforeFence struct {
	net.Conn
	happens *atomic.Pointer[func()] // once
}

func (c beforeFence) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("pg_current_xact_id")) || bytes.Contains(b, []byte("txid_current")) {
		if f := c.happens.Swap(nil); f != nil {
			(*f)()
		}
	}
	return c.Conn.Write(b)
}

func TestBackendThatEndsBetweenTheLockAndTheFenceGivesNoLease(t *testing.T) {
	t.Parallel()
	url, key := shared(t), freshKey()
	var happens atomic.Pointer[func()]
	d := closing(t, url, pgcoord.Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return beforeFence{conn, &happens}, err
	}})
	s, look := open(t, d, coord.SessionOptions{}), sql(t, url)
	owned := 0
	terminate := func() {
		owned = one[int](t, look, heldQuery, key)
		one[int](t, look, `select count(pg_terminate_backend(pid)) from pg_locks where locktype = 'advisory' and granted and objsubid = 1
			and classid::bigint << 32 | objid::bigint = $1::bigint`, key)
		freed(t, look, key)
	}
	happens.Store(&terminate)
	g, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key, Wait: coord.Forever})
	if owned != 1 {
		t.Fatalf("%d owned it before the question for the fence, want us", owned)
	}
	if g != nil || ok || err == nil || errors.Is(err, coord.ErrRefused) {
		t.Errorf("got %v, %v, %v, want an error that may pass", g, ok, err)
	}
	if errors.Is(err, coord.ErrLost) {
		t.Errorf("told as the loss of what was never granted: %v", err)
	}
	if n := rowsOf(t, look, key); n != 0 {
		t.Errorf("%d own it or wait for it", n)
	}
	if again := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: key}); again.Err() != nil || again.Info().Fence == 0 {
		t.Errorf("once more: %v, %+v", again.Err(), again.Info())
	}
}
