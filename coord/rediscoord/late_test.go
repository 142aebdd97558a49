package rediscoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// late is a session whose first try is held back on its way to the server.
func late(t *testing.T, rights string) (b bench, p *localserver.Proxy, s coord.DriverSession, held <-chan struct{}, release func()) {
	t.Helper()
	var users []string
	if rights != "" {
		users = []string{"alice on >hunter2 ~* " + rights}
	}
	b = setup(t, localserver.RedisOptions{Users: users})
	b.prime(brisk)
	p = localserver.ProxyForTest(t, b.server.Addr())
	address := options(t, "redis://"+p.Addr())
	if rights != "" {
		address = options(t, "redis://alice:hunter2@"+p.Addr())
	}
	s = b.open(address, brisk, time.Minute)
	held, release = p.Hold(rediscoord.AcquireSHA())
	t.Cleanup(release)
	return b, p, s, held, release
}

// claimBriefly claims, and gives up once the try is held back.
func (b bench) claimBriefly(s coord.DriverSession, held <-chan struct{}) error {
	b.Helper()
	ctx, giveUp := context.WithCancel(b.ctx)
	defer giveUp()
	ended := make(chan error, 1)
	go func() { // joined below
		_, ok, err := s.Acquire(ctx, forever(election("k", nil)))
		if ok {
			b.Error("it was granted by a server that was not asked")
		}
		ended <- err
	}()
	b.wait(held)
	giveUp()
	return b.answered(ended)
}

// stays fails unless the key is free once everything that was on its way has arrived.
func (b bench) stays(p *localserver.Proxy, free bool, why string) {
	b.Helper()
	for p.Links() > 0 && b.ctx.Err() == nil {
		b.raw.Ping(b.ctx)
	}
	if n := p.Links(); n > 0 {
		b.Errorf("%s: %d links are left", why, n)
	}
	v := b.value("k")
	for v == "" && !free && b.ctx.Err() == nil { // the server may read the try after our Ping
		v = b.value("k")
	}
	if (v == "") != free {
		b.Errorf("%s: the key holds %q", why, v)
	}
}

func TestAMissedTryThatIsStillOnItsWayCannotWinLater(t *testing.T) {
	t.Parallel()
	b, p, s, held, release := late(t, "")
	if err := b.claimBriefly(s, held); errors.Is(err, coord.ErrUncertain) { // a busy machine may answer too late to be sure at once
		t.Errorf("acquiring: %v, want to be sure that it is not ours", err)
	}
	if err := s.Close(b.ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
	release()
	b.stays(p, true, "after a miss")
}

func TestATryThatMayStillWinIsNoMiss(t *testing.T) {
	t.Parallel()
	b, p, s, held, release := late(t, rights)
	err := b.claimBriefly(s, held)
	const says = "whether it was taken is not known; it would run out within 1m0s"
	if !errors.Is(err, coord.ErrUncertain) || !strings.Contains(err.Error(), says) {
		t.Errorf("acquiring: %v, want %q", err, says)
	}
	b.clean(err)
	ctx, cancel := context.WithTimeout(b.ctx, 300*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, coord.ErrUncertain) || !strings.Contains(err.Error(), says) {
		t.Errorf("closing: %v, want %q", err, says)
	}
	release()
	b.stays(p, false, "the try that nobody could take back")
}

func TestALateTryDoesNotTakeAgainWhatWasReleased(t *testing.T) {
	t.Parallel()
	b, p, s, held, release := late(t, "")
	g := b.must(s, forever(election("k", nil))) // by a later try
	b.wait(held)
	if err := g.Release(b.ctx); err != nil {
		t.Errorf("releasing: %v", err)
	}
	release()
	if err := s.Close(b.ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
	b.stays(p, true, "after a release")
}

func TestTwoLateTriesAreBothTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.prime(brisk)
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.through(p, brisk, time.Minute)
	first, releaseFirst := p.Hold(rediscoord.AcquireSHA())
	second, releaseSecond := p.Hold(rediscoord.AcquireSHA())
	t.Cleanup(releaseFirst)
	t.Cleanup(releaseSecond)
	_ = b.claimBriefly(s, first) // on a busy machine it may not be sure at once
	_ = b.claimBriefly(s, second)
	if err := s.Close(b.ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
	releaseFirst()
	releaseSecond()
	b.stays(p, true, "after two misses")
}

func TestAnotherClaimOfTheSessionOutlivesThatATryIsTakenBack(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.prime(brisk)
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.open(options(t, "redis://"+p.Addr()), rediscoord.Options{}, time.Minute)
	other := b.must(s, election("other", nil))
	held, release := p.Hold(rediscoord.AcquireSHA())
	t.Cleanup(release)
	if err := b.claimBriefly(s, held); errors.Is(err, coord.ErrUncertain) {
		t.Errorf("acquiring: %v", err)
	}
	b.renew(other)
}
