package rediscoord_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

func TestWindowEndsBeforeTheServersExpiry(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	p := localserver.ProxyForTest(t, b.server.Addr())
	p.Delay(20 * time.Millisecond) // so that sending and obeying are apart
	g := b.must(b.through(p, brisk, 5*time.Second), election("k", nil))
	for range 5 {
		i := g.Info()
		left := b.raw.PTTL(b.ctx, "k").Val()
		// It was counted before now, and the server frees the key one millisecond later.
		if expires := time.Now().Add(left + time.Millisecond); i.Asked.Add(i.Valid).After(expires) {
			t.Errorf("the window ends %v after the key", i.Asked.Add(i.Valid).Sub(expires))
		}
		if w := b.renew(g); !w.Asked.After(i.Asked) || w != g.Info().Window {
			t.Errorf("renewed to %+v, Info says %+v, before it was %+v", w, g.Info().Window, i.Window)
		}
	}
}

func TestWaitingClaimWakesWhenTheKeyIsDue(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	const px = 300 * time.Millisecond
	b.raw.Set(b.ctx, "k", "host-1:7", px)
	set := time.Now()
	// With the retry delay alone the claim would outlast the test.
	s := b.open(options(t, b.server.URL()), rediscoord.Options{RetryDelay: time.Hour}, time.Minute)
	g := b.must(s, forever(election("k", nil)))
	if waited := g.Info().Asked.Sub(set); waited < px/2 {
		t.Errorf("granted %v after the key was set for %v", waited, px)
	}
}

func TestWaitingClaimTriesAgainBeforeTheKeyIsDue(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	owner, rival := b.direct(time.Hour), b.direct(time.Hour)
	g := b.must(owner, election("k", nil))
	granted := make(chan error, 1)
	go func() {
		_, ok, err := rival.Acquire(b.ctx, forever(election("k", nil)))
		if !ok {
			err = errors.Join(err, errors.New("not granted"))
		}
		granted <- err
	}()
	noError(t, g.Release(b.ctx))
	if err := <-granted; err != nil {
		t.Error(err)
	}
}

func TestAbandonCutsWhatWaitsForAFrozenServer(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.prime(brisk)
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.deaf(p, time.Hour)
	g := b.must(s, election("owned", nil))
	p.BlackHole()
	sent := p.Await(aScript)
	answer := make(chan error, 1)
	go func() {
		_, _, err := s.Acquire(b.ctx, forever(election("k", nil)))
		answer <- err
	}()
	b.wait(sent)
	s.Abandon()
	if err := b.answered(answer); !errors.Is(err, coord.ErrClosed) {
		t.Errorf("the waiting claim: %v, want ErrClosed", err)
	}
	if !errors.Is(g.Err(), coord.ErrClosed) || !errors.Is(s.Err(), coord.ErrClosed) {
		t.Errorf("the grant says %v, the session %v, want ErrClosed", g.Err(), s.Err())
	}
	p.Resume()
	if n := b.raw.Exists(b.ctx, "owned").Val(); n != 1 {
		t.Error("abandoning released the key")
	}
}

func TestCancelEndsAQuestionWithoutAnAnswerAtOnce(t *testing.T) {
	t.Parallel()
	for verb, ask := range map[string]func(context.Context, coord.DriverSession, coord.Grant) error{
		"renew": func(ctx context.Context, _ coord.DriverSession, g coord.Grant) error {
			_, err := g.(coord.Renewer).Renew(ctx)
			return err
		},
		"publish": func(ctx context.Context, _ coord.DriverSession, g coord.Grant) error {
			return g.(coord.Publisher).Publish(ctx, []byte("x"))
		},
		"describe": func(ctx context.Context, s coord.DriverSession, _ coord.Grant) error {
			_, err := s.(coord.Describer).Describe(ctx, coord.KindMutex, "name-of-key")
			return err
		},
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			b := setup(t, localserver.RedisOptions{})
			p := localserver.ProxyForTest(t, b.server.Addr())
			s := b.deaf(p, time.Hour)
			g := b.must(s, election("name-of-key", nil))
			p.BlackHole()
			defer p.Resume()
			sent := p.Await("name-of-key")
			ctx, cancel := context.WithCancel(b.ctx)
			defer cancel()
			answer := make(chan error, 1)
			go func() { answer <- ask(ctx, s, g) }()
			b.wait(sent)
			cancel()
			if err := b.answered(answer); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v, want context.Canceled", err)
			}
		})
	}
}

func TestCloseTalksNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.through(p, brisk, time.Hour)
	g := b.must(s, election("k", nil))
	p.BlackHole()
	ctx, cancel := context.WithTimeout(b.ctx, 100*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closing without answers: %v, want the context's error joined", err)
	} else {
		b.clean(err)
	}
	select {
	case <-s.Done():
	default:
		t.Error("the session is not done after Close")
	}
	if !errors.Is(g.Err(), coord.ErrClosed) {
		t.Errorf("the grant says %v, want ErrClosed", g.Err())
	}
}

func TestAbandonEndsACloseThatIsStillTalking(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	p := localserver.ProxyForTest(t, b.server.Addr())
	s := b.through(p, brisk, time.Hour)
	b.must(s, election("k", nil))
	p.BlackHole()
	sent := p.Await(aScript)
	closed := make(chan error, 1)
	go func() { closed <- s.Close(b.ctx) }()
	b.wait(sent)
	s.Abandon()
	if err := <-closed; err == nil {
		t.Error("a Close that could not tell the service says nothing")
	}
}

func TestCloseEndsWaitingClaims(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.must(b.direct(time.Hour), election("k", nil))
	s := b.direct(time.Hour)
	claimed := make(chan error, 1)
	go func() {
		_, _, err := s.Acquire(b.ctx, forever(election("k", nil)))
		claimed <- err
	}()
	if err := s.Close(b.ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
	if err := <-claimed; !errors.Is(err, coord.ErrClosed) || errors.Is(err, context.Canceled) {
		t.Errorf("the waiting claim: %v, want ErrClosed alone", err)
	}
	if _, err := s.(coord.Describer).Describe(b.ctx, coord.KindElection, "k"); !errors.Is(err, coord.ErrClosed) {
		t.Errorf("describing after Close: %v, want ErrClosed", err)
	}
}

func TestHugeAndEmptyValuesOfStrangersAreDescribed(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	s := b.direct(time.Minute)
	for name, value := range map[string]string{
		"huge data": uuid.NewString() + " " + string(make([]byte, 8<<20)),
		"huge":      string(make([]byte, 8<<20)),
		"empty":     "",
	} {
		b.raw.Set(b.ctx, name, value, time.Minute)
		d, err := s.(coord.Describer).Describe(b.ctx, coord.KindMutex, name)
		if err != nil || len(d.Owners) != 1 || len(d.Owners[0].ID) != 9 || len(d.Owners[0].Data) > s.Info().Caps.MaxData {
			t.Errorf("%s: %d owners, %v", name, len(d.Owners), err)
		}
	}
}
