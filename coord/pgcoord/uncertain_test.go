package pgcoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
)

// TestAClaimThatMayStillWinIsNotMissed has the owner leave after the connection to the server has
// fallen silent, so that the server gives the lock to a claim which has stopped waiting.
func TestAClaimThatMayStillWinIsNotMissed(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"its wait ends", "its context ends"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url, proxy := proxied(t)
			direct, key := shared(t), freshKey()
			owner := must(t, open(t, closing(t, direct, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
			s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := coord.Claim{Kind: coord.KindMutex, Name: key, Wait: coord.Forever}
			if how == "its wait ends" {
				c.Wait = 2 * time.Second
			}
			look := sql(t, direct)
			missed := make(chan error, 1)
			go func() { // ends with the claim
				_, ok, err := s.Acquire(ctx, c)
				if ok {
					err = errors.New("it was granted")
				}
				missed <- err
			}()
			eventually(t, "the claim waits", func() bool { return rowsOf(t, look, key) == 2 })
			proxy.BlackHole()
			noError(t, owner.Release(t.Context()))
			if how == "its context ends" {
				cancel()
			}
			err := <-missed
			if !errors.Is(err, coord.ErrUncertain) || !strings.Contains(err.Error(), "whether it was taken is not known") {
				t.Errorf("the claim ended with %v, and the server has it as owner", err)
			}
			if one[int](t, look, heldQuery, key) != 1 {
				t.Error("the server has given it to nobody")
			}
			ctx, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer done()
			if err := s.Close(ctx); !errors.Is(err, coord.ErrUncertain) {
				t.Errorf("the session ended with %v", err)
			}
			proxy.Resume()
			freed(t, look, key)
		})
	}
}

// TestAClaimWhoseLinkFallsSilentIsEndedOverAnother has a server that can be reached: then
// nothing is left uncertain.
func TestAClaimWhoseLinkFallsSilentIsEndedOverAnother(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	look, key := sql(t, shared(t)), freshKey()
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	held, release := proxy.Hold("pg_advisory_lock(")
	defer release()
	_, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key, Wait: time.Second})
	if ok || err != nil {
		t.Errorf("ok %v, %v, want a miss", ok, err)
	}
	<-held
	release()
	if n := rowsOf(t, look, key); n != 0 {
		t.Errorf("%d rows of it are left", n)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
