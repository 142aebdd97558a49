package dflockcoord_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/emulator/dflocktest"
)

// TestLongLeaseOutlivesTheIdleCut tests a case in which the clients of dflockd lose their lease: half of a lease
// of 60 s is longer than the server waits for a sign of life.
func TestLongLeaseOutlivesTheIdleCut(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{0, time.Hour} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
			ended := s.Endings()
			d := driver(t, client(s), dflockcoord.Options{RenewEvery: every})
			l := lock(t, session(t, d, coord.SessionOptions{TTL: time.Minute}), "k")
			time.Sleep(10 * time.Minute)
			is(t, "after 10 minutes", l.Check(), nil)
			if got := ended(); len(got) != 0 {
				t.Errorf("the server ended %q", got)
			}
		})
	}
}

// TestAnIdleCutIsLearned is of a server whose --read-timeout is shorter than usual: the first lease is
// lost, with the reason, and the next one is renewed in time.
func TestAnIdleCutIsLearned(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{ReadTimeout: 2 * time.Second}, func(t *testing.T, s *dflocktest.Server) {
		d := driver(t, client(s), dflockcoord.Options{})
		first := lock(t, session(t, d, coord.SessionOptions{TTL: time.Minute}), "k")
		<-first.Context().Done()
		if silence, ok := errors.AsType[dflockwire.Silence](context.Cause(first.Context())); !ok || time.Duration(silence) != 2*time.Second {
			t.Errorf("it was lost by %v", context.Cause(first.Context()))
		}
		next := lock(t, session(t, d, coord.SessionOptions{TTL: time.Minute}), "k")
		time.Sleep(10 * time.Minute)
		is(t, "after 10 minutes", next.Check(), nil)
	})
}

// TestLeaseEndsBeforeAHungServerGivesItAway looks at the server at the instant at which trust
// ends.
func TestLeaseEndsBeforeAHungServerGivesItAway(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{2 * time.Second, 10 * time.Second, time.Minute} {
		bubble(t, dflocktest.Options{SweepEvery: time.Millisecond}, func(t *testing.T, s *dflocktest.Server) {
			l := lock(t, session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{TTL: ttl}), "k")
			time.Sleep(7 * time.Second) // some renewals later
			s.Hang(true)
			<-l.Context().Done()
			is(t, "cause", context.Cause(l.Context()), coord.ErrExpired)
			if e, err := s.Entry("k"); err != nil || len(e.Owners) != 1 {
				t.Errorf("TTL %v: the server gave it away before: %+v, %v", ttl, e, err)
			}
			time.Sleep(23 * time.Second)
			if e, err := s.Entry("k"); err != nil || len(e.Owners) != 0 {
				t.Errorf("TTL %v: the server never gives it away: %+v, %v", ttl, e, err)
			}
			s.Hang(false)
		})
	}
}

func TestLeaseEndsAtOnceWithItsConnection(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		var lost atomic.Int32
		var nonce, key string
		granted := map[string][]string{}
		d := driver(t, client(s), dflockcoord.Options{OnGranted: func(k string, nonces []string) { granted[k] = nonces }, OnLost: func(k, n string, cause error) {
			lost.Add(1)
			key, nonce = k, n
			is(t, "what OnLost is told", cause, dflockwire.ErrHungUp)
		}})
		l := lock(t, session(t, d, coord.SessionOptions{TTL: time.Minute}), "k")
		e, err := s.Entry("k")
		noError(t, err)
		if got := granted["k"]; len(got) != 1 || got[0] != e.Owners[0].Nonce {
			t.Errorf("OnGranted was called with %d nonces", len(got))
		}
		begin := time.Now()
		s.Cut()
		<-l.Context().Done()
		is(t, "cause", context.Cause(l.Context()), coord.ErrLost)
		if took := time.Since(begin); took > 0 {
			t.Errorf("noticed after %v", took)
		}
		synctest.Wait()
		if lost.Load() != 1 || key != "k" || nonce != e.Owners[0].Nonce {
			t.Errorf("OnLost was called %d times, with key %q", lost.Load(), key)
		}
	})
}

// TestLeaseOfACutConnectionIsGivenBack is of a server that keeps what a connection owned.
func TestLeaseOfACutConnectionIsGivenBack(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{KeepOnDisconnect: true}, func(t *testing.T, s *dflocktest.Server) {
		l := lock(t, session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{TTL: time.Minute}), "k")
		s.Cut()
		<-l.Context().Done()
		synctest.Wait()
		if e, err := s.Entry("k"); err != nil || len(e.Owners) != 0 {
			t.Errorf("it is still owned: %+v, %v", e, err)
		}
	})
}

// TestRenewalsThatAreAnsweredLateCount: to cut the connection of a slow answer would lose what
// the answer confirms.
func TestRenewalsThatAreAnsweredLateCount(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		l := lock(t, session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{TTL: 20 * time.Second}), "k")
		s.Slow(6 * time.Second)
		time.Sleep(10 * time.Minute)
		is(t, "with every answer 6 s late", l.Check(), nil)
		s.Slow(0)
	})
}

func TestServersOwnLeaseIsRepeated(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{DefaultLease: 7 * time.Second}, func(t *testing.T, s *dflocktest.Server) {
		d := driver(t, client(s), dflockcoord.Options{})
		g, ok, err := raw(t, d, coord.SessionOptions{}).Acquire(t.Context(), mutex("k"))
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if i := g.Info(); i.Valid != 7*time.Second || i.RenewIn != 3500*time.Millisecond || i.Owner != "conn 2" {
			t.Errorf("info is %+v", i)
		}
		time.Sleep(3 * time.Second)
		w, err := g.(coord.Renewer).Renew(t.Context())
		if err != nil || w.Valid != 7*time.Second || time.Since(w.Asked) != 0 {
			t.Errorf("renewed for %+v, %v", w, err)
		}
		e, err := s.Entry("k")
		if err != nil || e.Owners[0].Left != 7*time.Second || dflockcoord.NonceOf(g) != e.Owners[0].Nonce {
			t.Errorf("the server has %+v, %v", e, err)
		}
	})
}

func TestOptionsOfALease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    dflockcoord.Options
		ttl  time.Duration
		want coord.Window
	}{
		{dflockcoord.Options{Lease: 4 * time.Second}, 0, coord.Window{Valid: 4 * time.Second, RenewIn: 2 * time.Second}},
		{dflockcoord.Options{Lease: 4 * time.Second}, 1500 * time.Millisecond, coord.Window{Valid: 2 * time.Second, RenewIn: time.Second}},
		{dflockcoord.Options{RenewEvery: 2 * time.Second}, 8 * time.Second, coord.Window{Valid: 8 * time.Second, RenewIn: 2 * time.Second}},
		{dflockcoord.Options{RenewEvery: 6 * time.Second}, 8 * time.Second, coord.Window{Valid: 8 * time.Second, RenewIn: 4 * time.Second}},
		{dflockcoord.Options{IdleCut: 10 * time.Second}, time.Minute, coord.Window{Valid: 10 * time.Second, RenewIn: 5 * time.Second}},
	} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
			g, ok, err := raw(t, driver(t, client(s), c.o), coord.SessionOptions{TTL: c.ttl}).Acquire(t.Context(), mutex("k"))
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			if got := g.Info().Window; got.Valid != c.want.Valid || got.RenewIn != c.want.RenewIn {
				t.Errorf("%+v: %+v, want %+v", c.o, got, c.want)
			}
		})
	}
	for _, o := range []dflockcoord.Options{{RenewEvery: -1}, {IdleCut: -1}, {Lease: -1}, {LongestWait: time.Millisecond}} {
		_, err := dflockcoord.New(dflockcoord.ClientOptions{}, o)
		is(t, "bad options", err, coord.ErrInvalid)
	}
}

func TestReleaseEndsTheConnection(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		l := lock(t, session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{}), "k")
		if got := len(s.State().Connections); got != 1 {
			t.Errorf("%d connections while it is owned", got)
		}
		is(t, "releasing", l.Release(t.Context()), nil)
		synctest.Wait()
		if st := s.State(); len(st.Connections) != 0 || len(st.Entries[0].Owners) != 0 || s.Received("r") != 1 {
			t.Errorf("after the release: %+v, %d requests", st, s.Received("r"))
		}
	})
}

// TestReleaseWhoseReplyIsLostIsMadeAgain is of a connection that the way swallowed.
func TestReleaseWhoseReplyIsLostIsMadeAgain(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{KeepOnDisconnect: true}, func(t *testing.T, s *dflocktest.Server) {
		l := lock(t, session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{}), "k")
		s.LoseReplies("r", 1)
		is(t, "releasing", l.Release(t.Context()), nil)
		if s.Received("r") != 2 {
			t.Errorf("%d releases", s.Received("r"))
		}
	})
}

func TestDriverCloseEndsWhatWasAbandoned(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		ended := s.Endings()
		d := driver(t, client(s), dflockcoord.Options{})
		r := raw(t, d, coord.SessionOptions{TTL: 10 * time.Second})
		if _, ok, err := r.Acquire(t.Context(), mutex("k")); !ok || err != nil {
			t.Fatal(ok, err)
		}
		r.Abandon()
		synctest.Wait()
		if len(ended()) != 0 {
			t.Error("the server noticed that it was abandoned")
		}
		is(t, "closing", d.Close(t.Context()), nil)
		synctest.Wait()
		if len(ended()) != 1 {
			t.Error("the server did not notice that the driver was closed")
		}
	})
}

func TestPermitsAreNotClaimedCrosswise(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		done := make(chan error)
		const claims = 6
		for range claims {
			sem := session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{TTL: 5 * time.Second}).Semaphore("p", coord.SemaphoreOptions{Limit: 2})
			go func() {
				l, err := sem.Acquire(t.Context(), 2)
				if err == nil {
					if e, other := s.Entry("p"); other != nil || len(e.Owners) != 2 {
						err = errors.New("not two of two permits")
					}
					time.Sleep(time.Second)
					err = errors.Join(err, l.Check(), l.Release(t.Context()))
				}
				done <- err
			}()
		}
		for range claims {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}
