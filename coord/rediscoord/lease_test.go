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
	if err != nil {
		b.Fatal(err)
	}
	s, err := coord.Open(b.ctx, d, coord.SessionOptions{TTL: leaseTTL})
	if err != nil {
		b.Fatal(err)
	}
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
		if err := server.Freeze(); err != nil {
			t.Fatal(err)
		}
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
			if err != nil {
				t.Fatal(err)
			}
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

func TestTrustNeverOutlastsTheServersExpiry(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	mutex := b.session(options(t, b.server.URL())).Mutex("k", coord.MutexOptions{})
	lease, err := mutex.Lock(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for renewals, last := 0, lease.TrustedUntil(); renewals < 3; {
		until := lease.TrustedUntil()
		if until.Sub(last) > leaseTTL/10 {
			renewals, last = renewals+1, until
		}
		left := b.raw.PTTL(b.ctx, "k").Val()
		// It was counted before now, and the server frees the key one millisecond later.
		if expires := time.Now().Add(left + time.Millisecond); until.After(expires) {
			t.Fatalf("trusted %v longer than the server counts", until.Sub(expires))
		}
		if lease.Check() != nil { // the machine stood still for too long
			if lease, err = mutex.Lock(b.ctx); err != nil {
				t.Fatalf("the lease is not renewed: %v", err)
			}
			last = lease.TrustedUntil()
		}
	}
}

func TestLeaseSurvivesARestartThatKeepsTheData(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{Keep: true})
	lease, err := b.session(options(t, b.server.URL())).Mutex("k", coord.MutexOptions{}).Lock(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.server.Kill()
	if err := b.server.Restart(b.ctx); err != nil {
		t.Fatal(err)
	}
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

func TestLeaseIsLostWhenAPersonDeletesTheKey(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	lease, err := b.session(options(t, b.server.URL())).Mutex("k", coord.MutexOptions{}).Lock(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	b.raw.Del(b.ctx, "k")
	b.ended(lease)
	if cause := context.Cause(lease.Context()); !errors.Is(cause, coord.ErrLost) {
		t.Errorf("the lease ended because of %v, want ErrLost", cause)
	}
}

func TestElectionOverRedisIsObservedWithItsData(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	leader := b.session(options(t, b.server.URL())).Election("k", coord.ElectionOptions{})
	other := b.session(options(t, b.server.URL())).Election("k", coord.ElectionOptions{})
	term, err := leader.Campaign(b.ctx, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	step := 0
	for l, err := range other.Observe(b.ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case step == 0 && l.Led && string(l.Data) == "one":
			if l.IsMe || l.Owner != term.Lease().Owner() {
				t.Errorf("observed %q, me %v, want %q and not me", l.Owner, l.IsMe, term.Lease().Owner())
			}
			step = 1
			if err := term.Proclaim(b.ctx, []byte("two")); err != nil {
				t.Fatal(err)
			}
		case step == 1 && string(l.Data) == "two":
			step = 2
			if err := term.Resign(b.ctx); err != nil {
				t.Fatal(err)
			}
		case step == 2 && !l.Led:
			return
		}
	}
	t.Errorf("the observation ended at step %d", step)
}

func TestClosingASessionOverADeadLinkIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	p := localserver.ProxyForTest(t, b.server.Addr())
	o := options(t, "redis://"+p.Addr())
	o.ReadTimeout = time.Hour // what returns did not wait for the network
	s := b.session(o)
	if _, err := s.Mutex("k", coord.MutexOptions{}).Lock(b.ctx); err != nil {
		t.Fatal(err)
	}
	p.BlackHole()
	ctx, cancel := context.WithTimeout(b.ctx, 200*time.Millisecond)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.Close(ctx) }() // received below
	if b.answered(closed) == nil {
		t.Error("closing without an answer says nothing")
	}
}
