package rediscoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// force releases whoever has the value at app:k.
func (b bench) force(c rediscoord.ClientOptions, value string) error {
	b.Helper()
	d, err := rediscoord.New(c, rediscoord.Options{})
	noError(b, err)
	return d.ForceRelease(b.ctx, coord.Foreign{Kind: coord.KindMutex, Name: "app:k", Guard: rediscoord.Guard("app:k", []byte(value))})
}

// take writes a lock of somebody else.
func (b bench) take(value string) {
	b.Helper()
	noError(b, b.raw.Set(b.ctx, "app:k", value, 0).Err())
}

func TestAForcedReleaseWithoutTheRightsDoesNothing(t *testing.T) {
	t.Parallel()
	const enough = "+evalsha +eval +type +get +del"
	for _, missing := range []string{"", "+type", "+get", "+del", "+evalsha"} {
		t.Run("without "+missing, func(t *testing.T) {
			t.Parallel()
			less := enough
			if missing != "" {
				less = strings.Replace(enough, missing, "", 1)
			}
			b := setup(t, localserver.RedisOptions{Users: []string{"alice on >hunter2 ~* " + less}})
			b.take("host-1:4711")
			err := b.force(options(t, "redis://alice:hunter2@"+b.server.Addr()), "host-1:4711")
			if missing == "" || missing == "+type" {
				if err != nil || b.value("app:k") != "" {
					t.Errorf("with the rights that are enough: %v", err)
				}
				return
			}
			if !errors.Is(err, coord.ErrRefused) || errors.Is(err, coord.ErrUncertain) || b.value("app:k") == "" {
				t.Errorf("%v, want ErrRefused, and the key to be there", err)
			}
			b.clean(err)
		})
	}
}

func TestAForcedReleaseAtAReplicaIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.take("host-1:4711")
	noError(t, b.raw.Do(b.ctx, "REPLICAOF", "127.0.0.1", "1").Err())
	err := b.force(options(t, b.server.URL()), "host-1:4711")
	if err == nil || errors.Is(err, coord.ErrUncertain) || !strings.Contains(err.Error(), "READONLY") || b.value("app:k") == "" {
		t.Errorf("%v, want to be told that it is a replica, and the key to be there", err)
	}
}

// TestAForcedReleaseWithoutAnAnswerIsUncertain loses the request, or the answer.
func TestAForcedReleaseWithoutAnAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	for name, half := range map[string]localserver.Half{"request": localserver.Request, "reply": localserver.Reply} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, localserver.RedisOptions{})
			b.take("host-1:4711")
			if err := b.force(options(t, b.server.URL()), "host-1:4712"); !errors.Is(err, coord.ErrChanged) { // the server learns the script
				t.Fatal(err)
			}
			p := localserver.ProxyForTest(t, b.server.Addr())
			lost := p.Lose(half, "evalsha")
			err := b.force(options(t, "redis://"+p.Addr()), "host-1:4711")
			b.wait(lost)
			if !errors.Is(err, coord.ErrUncertain) || errors.Is(err, coord.ErrChanged) {
				t.Errorf("%v, want ErrUncertain", err)
			}
			if done := b.value("app:k") == ""; done != (name == "reply") {
				t.Errorf("released: %v", done)
			}
		})
	}
}

// TestAForcedReleaseThatIsGivenUpIsUncertain holds the request up until nobody waits for it.
func TestAForcedReleaseThatIsGivenUpIsUncertain(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.take("host-1:4711")
	p := localserver.ProxyForTest(t, b.server.Addr())
	held, release := p.Hold("evalsha")
	defer release()
	var stop context.CancelFunc
	b.ctx, stop = context.WithCancel(b.ctx)
	defer stop()
	answer := make(chan error, 1)
	go func() { answer <- b.force(options(t, "redis://"+p.Addr()), "host-1:4711") }()
	<-held
	stop()
	if err := <-answer; !errors.Is(err, coord.ErrUncertain) {
		t.Errorf("%v, want ErrUncertain", err)
	}
}

// TestAForcedReleaseThatCannotBeSentIsNotUncertain breaks what comes before the sending.
func TestAForcedReleaseThatCannotBeSentIsNotUncertain(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.take("host-1:4711")
	p := localserver.ProxyForTest(t, b.server.Addr())
	for _, command := range []string{"ping", "type"} {
		lost := p.Lose(localserver.Request, command)
		err := b.force(options(t, "redis://"+p.Addr()), "host-1:4711")
		b.wait(lost)
		if err == nil || errors.Is(err, coord.ErrUncertain) || b.value("app:k") == "" {
			t.Errorf("without an answer to %s: %v", command, err)
		}
	}
}

func TestAForcedReleaseNeedsAGuardAndAnOwner(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	d, err := rediscoord.New(options(t, b.server.URL()), rediscoord.Options{})
	noError(t, err)
	if err := d.ForceRelease(b.ctx, coord.Foreign{Name: "app:k"}); !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("without a guard: %v", err)
	}
	if err := d.ForceRelease(b.ctx, coord.Foreign{Name: "app:k", Guard: "x", Waiting: true}); !errors.Is(err, coord.ErrUnsupported) {
		t.Errorf("of one that waits: %v", err)
	}
}
