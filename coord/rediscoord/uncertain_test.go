package rediscoord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// halves are the two ways in which an exchange fails without telling which.
var halves = map[string]localserver.Half{"request lost": localserver.Request, "reply lost": localserver.Reply}

// aScript stands in every call of a script that the server knows.
const aScript = "evalsha"

func TestLostExchangeOfATryIsSettled(t *testing.T) {
	t.Parallel()
	for name, half := range halves {
		for _, wait := range []time.Duration{0, coord.Forever, 5 * time.Second} {
			if wait == 0 && half == localserver.Request { // a miss: it is asked once
				continue
			}
			t.Run(fmt.Sprintf("%s/wait %v", name, wait), func(t *testing.T) {
				t.Parallel()
				b := setup(t, localserver.RedisOptions{})
				b.prime(brisk)
				p := localserver.ProxyForTest(t, b.server.Addr())
				s := b.through(p, brisk, time.Minute)
				lost := p.Lose(half, aScript)
				c := election("k", []byte("data"))
				c.Wait = wait
				g := b.must(s, c)
				b.wait(lost)
				b.wantOwner("k", g, "data")
				b.renew(g)
			})
		}
	}
}

func TestTryThatIsLostWhileAnotherOwnsTheKeyIsAMiss(t *testing.T) {
	t.Parallel()
	for name, half := range halves {
		b := setup(t, localserver.RedisOptions{})
		b.prime(brisk)
		owner := b.must(b.direct(time.Minute), election("k", nil))
		p := localserver.ProxyForTest(t, b.server.Addr())
		s := b.through(p, brisk, time.Minute)
		lost := p.Lose(half, aScript)
		if _, ok, err := s.Acquire(b.ctx, election("k", nil)); ok || err != nil {
			t.Errorf("%s: ok %v, %v, want a miss", name, ok, err)
		}
		b.wait(lost)
		b.wantOwner("k", owner, "")
	}
}

func TestWinThatCannotBeLearnedIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func(b bench, s coord.DriverSession){
		"before the next claim": func(b bench, s coord.DriverSession) {
			b.wantOwner("k", b.must(s, election("k", []byte("again"))), "again")
		},
		"by Close": func(b bench, s coord.DriverSession) {
			if err := s.Close(b.ctx); err != nil {
				b.Errorf("closing: %v", err)
			}
			if v := b.value("k"); v != "" {
				b.Errorf("the key is left behind: %s", rediscoord.OwnerOf([]byte(v)).ID)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			winUnlearned(t, after)
		})
	}
}

// winUnlearned has a try win whose answer is lost, and all that is asked then to settle it.
func winUnlearned(t *testing.T, after func(b bench, s coord.DriverSession)) {
	b := setup(t, localserver.RedisOptions{})
	b.prime(brisk)
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.through(p, brisk, time.Minute)
	won := p.Lose(localserver.Reply, aScript)
	// Everything that is asked afterwards is lost too: settling and cleaning up.
	for range 100 {
		p.Lose(localserver.Request, aScript)
	}
	_, ok, err := s.Acquire(b.ctx, election("k", nil))
	if ok || err == nil {
		t.Fatalf("without an answer: ok %v, %v, want an error", ok, err)
	}
	b.clean(err)
	b.wait(won)
	if b.value("k") == "" {
		t.Fatal("the try did not win, so this test shows nothing")
	}
	p.Forget()
	after(b, s)
}

func TestGrantThatRacesTheCancelIsReleased(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.prime(brisk)
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.through(p, brisk, time.Minute)
	p.BlackHole()
	sent := p.Await(aScript)
	ctx, cancel := context.WithCancel(b.ctx)
	answer := make(chan error, 1)
	go func() {
		_, ok, err := s.Acquire(ctx, forever(election("k", nil)))
		if ok {
			err = errors.New("it was granted")
		}
		answer <- err
	}()
	b.wait(sent)
	cancel()
	p.Resume() // the server obeys what was sent before the cancel
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled claim: %v, want context.Canceled", err)
	}
	if v := b.value("k"); v != "" {
		t.Errorf("the key is left behind: %s", rediscoord.OwnerOf([]byte(v)).ID)
	}
}

func TestLostExchangeOfARenewalIsNoVerdict(t *testing.T) {
	t.Parallel()
	for name, half := range halves {
		b := setup(t, localserver.RedisOptions{})
		b.prime(brisk)
		p := localserver.ProxyForTest(t, b.server.Addr())
		g := b.must(b.through(p, brisk, time.Minute), election("k", nil))
		before := g.Info()
		lost := p.Lose(half, aScript)
		_, err := g.(coord.Renewer).Renew(b.ctx)
		b.wait(lost)
		if err == nil || errors.Is(err, coord.ErrLost) || errors.Is(err, coord.ErrRefused) {
			t.Errorf("%s: %v, want an error that may pass", name, err)
		}
		b.clean(err)
		if g.Err() != nil || g.Info() != before {
			t.Errorf("%s: the grant says %v, %+v", name, g.Err(), g.Info())
		}
		if w := b.renew(g); !w.Asked.After(before.Asked) {
			t.Errorf("%s: the next renewal gave no new window", name)
		}
	}
}

func TestLostExchangeOfAReleaseIsRepeated(t *testing.T) {
	t.Parallel()
	for name, half := range halves {
		b := setup(t, localserver.RedisOptions{})
		b.prime(brisk)
		p := localserver.ProxyForTest(t, b.server.Addr())
		g := b.must(b.through(p, brisk, time.Minute), election("k", nil))
		lost := p.Lose(half, aScript)
		if err := g.Release(b.ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.wait(lost)
		if v := b.value("k"); v != "" {
			t.Errorf("%s: the key is left behind", name)
		}
	}
}

func TestReleaseThatCannotBeToldIsMadeUpForByTheNextClaim(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.through(p, brisk, time.Minute)
	g := b.must(s, election("k", nil))
	p.Cut()
	ctx, cancel := context.WithTimeout(b.ctx, 100*time.Millisecond)
	defer cancel()
	err := g.Release(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("releasing without a link: %v, want the context's error joined", err)
	}
	b.clean(err)
	if !errors.Is(g.Err(), coord.ErrReleased) {
		t.Errorf("the grant says %v", g.Err())
	}
	p.Resume()
	b.wantOwner("k", b.must(s, election("k", []byte("next"))), "next")
}

func TestLostExchangeOfAProclamationIsRepeated(t *testing.T) {
	t.Parallel()
	for name, half := range halves {
		b := setup(t, localserver.RedisOptions{})
		b.prime(brisk)
		p := localserver.ProxyForTest(t, b.server.Addr())
		g := b.must(b.through(p, brisk, time.Minute), election("k", []byte("old")))
		lost := p.Lose(half, aScript)
		if err := g.(coord.Publisher).Publish(b.ctx, []byte("new")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.wait(lost)
		b.wantOwner("k", g, "new")
		b.renew(g)
	}
}

func TestProclamationWithoutAnAnswerLeavesTheGrantAlive(t *testing.T) {
	t.Parallel()
	for name, half := range halves {
		b := setup(t, localserver.RedisOptions{})
		b.prime(brisk)
		p := localserver.ProxyForTest(t, b.server.Addr())
		g := b.must(b.through(p, brisk, time.Minute), election("k", []byte("old")))
		for i := range 100 {
			if i == 0 {
				p.Lose(half, aScript)
			} else {
				p.Lose(localserver.Request, aScript)
			}
		}
		ctx, cancel := context.WithTimeout(b.ctx, 100*time.Millisecond)
		err := g.(coord.Publisher).Publish(ctx, []byte("new"))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, coord.ErrLost) {
			t.Errorf("%s: %v, want the context's error joined", name, err)
		}
		b.clean(err)
		p.Forget()
		b.renew(g) // whichever value stands
		if half == localserver.Reply {
			b.wantOwner("k", g, "new")
		}
		if err := g.(coord.Publisher).Publish(b.ctx, []byte("newest")); err != nil {
			t.Errorf("%s: the next proclamation: %v", name, err)
		}
		b.wantOwner("k", g, "newest")
		if err := g.Release(b.ctx); err != nil || b.value("k") != "" {
			t.Errorf("%s: releasing: %v, the key holds %q", name, err, b.value("k"))
		}
	}
}

// A server that was frozen obeys what lies in its buffers later and in any order, also a
// proclamation that its sender gave up before another one was confirmed.
func TestProclamationThatArrivesLateCostsNoLease(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.prime(brisk)
	p := localserver.ProxyForTest(t, b.server.Addr())
	g := b.must(b.through(p, brisk, time.Minute), election("k", []byte("old")))
	old := b.value("k")
	for range 100 {
		p.Lose(localserver.Request, aScript)
	}
	ctx, cancel := context.WithTimeout(b.ctx, 100*time.Millisecond)
	defer cancel()
	if err := g.(coord.Publisher).Publish(ctx, []byte("late")); err == nil {
		t.Fatal("a proclamation that nobody received succeeded")
	}
	p.Forget()
	noError(t, g.(coord.Publisher).Publish(b.ctx, []byte("old")))
	// Now the late one arrives: it finds the value that it was to replace.
	nonce, _, _ := strings.Cut(old, " ")
	late := nonce + " late"
	noError(t, b.raw.SetArgs(b.ctx, "k", late, redis.SetArgs{KeepTTL: true}).Err())
	b.renew(g)
	b.wantOwner("k", g, "late")
	if err := g.Release(b.ctx); err != nil || b.value("k") != "" {
		t.Errorf("releasing: %v, the key holds %q", err, b.value("k"))
	}
}
