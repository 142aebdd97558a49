package ydbcoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

// TestAClaimThatOutlivesItsSessionMayStillWin has the link fall silent for longer than the
// session's timeout while a claim waits, and the owner leave before the service ends the session.
func TestAClaimThatOutlivesItsSessionMayStillWin(t *testing.T) {
	t.Parallel()
	for name, claim := range map[string]func(t *testing.T, s *ydbcoord.Session) <-chan answer{
		"it waits for ever": func(t *testing.T, s *ydbcoord.Session) <-chan answer {
			return acquiring(t.Context(), s, forever(mutex("m")))
		},
		"it waits for a time": func(t *testing.T, s *ydbcoord.Session) <-chan answer {
			c := mutex("m")
			c.Wait = 10 * ttl
			return acquiring(t.Context(), s, c)
		},
		"its context ends just before the session": func(t *testing.T, s *ydbcoord.Session) <-chan answer {
			ctx, cancel := context.WithTimeout(t.Context(), ttl-100*time.Millisecond)
			t.Cleanup(cancel)
			return acquiring(ctx, s, forever(mutex("m")))
		},
		"it has a place in the queue": func(t *testing.T, s *ydbcoord.Session) <-chan answer {
			p, err := s.Enqueue(t.Context(), mutex("m"))
			noError(t, err)
			got := make(chan answer, 1)
			go func() { // ends with the place
				g, ok, err := p.Wait(t.Context())
				got <- answer{g, ok, err}
			}()
			return got
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
				s := b.apart(t)
				got := claim(t, s)
				synctest.Wait()
				b.BlackHole(1, true)
				a := <-got
				if a.ok || !errors.Is(a.err, coord.ErrUncertain) || !strings.Contains(a.err.Error(), "the service ends our session within 6s") {
					t.Errorf("the claim ended with %+v", a)
				}
				<-s.Done()
				noError(t, owner.Release(t.Context()))
				if n := len(b.Owners(node, "m")); n != 1 {
					t.Errorf("the service has %d owners, and the claim was to win", n)
				}
				if err := s.Close(t.Context()); !errors.Is(err, coord.ErrUncertain) || !errors.Is(err, coord.ErrExpired) {
					t.Errorf("closing the session: %v", err)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Errorf("closing it again: %v", err)
				}
				time.Sleep(2 * ttl)
				if n := len(b.Owners(node, "m")); n != 0 {
					t.Errorf("the service has %d owners after the time that was told", n)
				}
				b.BlackHole(1, false)
			})
		})
	}
}

// apart opens a session, which nobody renews, over the second front end.
func (b *bench) apart(t *testing.T) *ydbcoord.Session {
	t.Helper()
	s, err := b.on(t, b.dial(t, 1), ydbcoord.Options{}).OpenSession(t.Context(), coord.SessionOptions{TTL: ttl})
	noError(t, err)
	t.Cleanup(s.Abandon)
	return s
}

// TestAClaimWhoseSessionTheServiceEndedIsNotUncertain is for both sides of the line: a session
// that is gone at the service has no claims there, one whose right to attach is gone has.
func TestAClaimWhoseSessionTheServiceEndedIsNotUncertain(t *testing.T) {
	t.Parallel()
	for status, uncertain := range map[Ydb.StatusIds_StatusCode]bool{
		Ydb.StatusIds_SESSION_EXPIRED: false,
		Ydb.StatusIds_NOT_FOUND:       false,
		Ydb.StatusIds_UNAUTHORIZED:    true,
	} {
		t.Run(status.String(), func(t *testing.T) {
			t.Parallel()
			owned(t, func(t *testing.T, b *bench, _ coord.Grant) {
				s := b.apart(t)
				got := acquiring(t.Context(), s, forever(mutex("m")))
				synctest.Wait()
				noError(t, b.FailStreams(node, status))
				a := <-got
				if a.ok || !errors.Is(a.err, coord.ErrLost) || errors.Is(a.err, coord.ErrUncertain) != uncertain {
					t.Errorf("the claim ended with %+v, uncertain is to be %v", a, uncertain)
				}
				if err := s.Close(t.Context()); errors.Is(err, coord.ErrUncertain) != uncertain || !uncertain && err != nil {
					t.Errorf("closing the session: %v, uncertain is to be %v", err, uncertain)
				}
			})
		})
	}
}

// TestAClaimThatWasTakenBackLeavesNothingUncertain has the release confirmed after its caller
// has gone, and then no link.
func TestAClaimThatWasTakenBackLeavesNothingUncertain(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, _ coord.Grant) {
		s := b.apart(t)
		ctx, cancel := context.WithCancel(t.Context())
		got := acquiring(ctx, s, forever(mutex("m")))
		synctest.Wait()
		b.Delay(1, 1100*time.Millisecond) // longer than a caller who has gone waits
		cancel()
		if a := <-got; !errors.Is(a.err, coord.ErrUncertain) {
			t.Errorf("the claim ended with %+v before the answer arrived", a)
		}
		time.Sleep(time.Second)
		if n := len(b.Waiters(node, "m")); n != 0 {
			t.Fatalf("%d waiters are left", n)
		}
		b.BlackHole(1, true)
		late, done := context.WithTimeout(t.Context(), ttl/10)
		defer done()
		if err := s.Close(late); err == nil || errors.Is(err, coord.ErrUncertain) {
			t.Errorf("closing the session: %v", err)
		}
		b.BlackHole(1, false)
	})
}
