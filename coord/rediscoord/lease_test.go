package rediscoord_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// leaseTTL is short enough to wait for and long enough for a machine that is busy.
const leaseTTL = 2 * time.Second

// session opens a session of the core at an address.
func (b bench) session(address rediscoord.ClientOptions) *coord.Session {
	b.Helper()
	d, err := rediscoord.New(address, brisk)
	noError(b, err)
	s, err := coord.Open(b.ctx, d, coord.SessionOptions{TTL: leaseTTL})
	noError(b, err)
	b.Cleanup(s.Abandon)
	return s
}

// ended waits for the end of a lease and returns when it was.
func (b bench) ended(l *coord.Lease) time.Time {
	b.Helper()
	select {
	case <-l.Context().Done():
		return time.Now()
	case <-b.ctx.Done():
		b.Fatal("the lease did not end")
		return time.Time{}
	}
}

// outages are interruptions between an owner and its server, with the function that ends each.
var outages = map[string]func(t *testing.T, server *localserver.Redis, p *localserver.Proxy) (end func()){
	"server frozen": func(t *testing.T, server *localserver.Redis, _ *localserver.Proxy) func() {
		noError(t, server.Freeze())
		return func() {
			if err := server.Thaw(); err != nil {
				t.Error(err)
			}
		}
	},
	"server killed": func(t *testing.T, server *localserver.Redis, _ *localserver.Proxy) func() {
		server.Kill()
		return func() {
			if err := server.Restart(context.Background()); err != nil {
				t.Error(err)
			}
		}
	},
	"link cut": func(_ *testing.T, _ *localserver.Redis, p *localserver.Proxy) func() {
		p.Cut()
		return p.Resume
	},
	"link black-holed": func(_ *testing.T, _ *localserver.Redis, p *localserver.Proxy) func() {
		p.BlackHole()
		return p.Resume
	},
}

func TestLeaseEndsBeforeTheServerCanGiveItAway(t *testing.T) {
	t.Parallel()
	for name, begin := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, localserver.RedisOptions{Keep: true})
			p := localserver.ProxyForTest(t, b.server.Addr())
			lease, err := b.session(options(t, "redis://"+p.Addr())).Mutex("k", coord.MutexOptions{}).Lock(b.ctx)
			noError(t, err)
			rivals := make(chan time.Time, 1)
			rival := b.session(options(t, b.server.URL()))
			go func() { rivals <- b.insist(rival) }()
			end := sync.OnceFunc(begin(t, b.server, p))
			defer end()
			over := b.ended(lease)
			if cause := context.Cause(lease.Context()); !errors.Is(cause, coord.ErrExpired) {
				t.Errorf("the lease ended because of %v, want ErrExpired", cause)
			} else {
				b.clean(cause)
			}
			if err := lease.Check(); !errors.Is(err, coord.ErrExpired) {
				t.Errorf("Check says %v", err)
			}
			if name == "server frozen" || name == "server killed" {
				end() // the rival has no other way to the server
			}
			if won := <-rivals; !over.Before(won) {
				t.Errorf("the rival had it %v before the lease ended", over.Sub(won))
			}
		})
	}
}

// insist locks, through whatever errors the outage brings, and returns when it has it.
func (b bench) insist(s *coord.Session) time.Time {
	for b.ctx.Err() == nil {
		if _, err := s.Mutex("k", coord.MutexOptions{}).Lock(b.ctx); err == nil {
			break
		}
	}
	return time.Now()
}

func TestLeaseSurvivesARestartThatKeepsTheData(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{Keep: true})
	lease, err := b.session(options(t, b.server.URL())).Mutex("k", coord.MutexOptions{}).Lock(b.ctx)
	noError(t, err)
	b.server.Kill()
	noError(t, b.server.Restart(b.ctx))
	before := lease.TrustedUntil()
	for lease.Check() == nil && lease.TrustedUntil().Sub(before) < leaseTTL/10 {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-b.ctx.Done():
			t.Fatal("the lease is neither renewed nor over")
		}
	}
	if err := lease.Check(); err != nil {
		t.Errorf("the lease ended: %v", err)
	}
}
