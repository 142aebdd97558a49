package dflockcoord_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/emulator/dflocktest"
)

func waiting(c coord.Claim) coord.Claim {
	c.Wait = coord.Forever
	return c
}

// owned is a key that nobody's connection owns for an hour.
func owned(t *testing.T, s *dflocktest.Server, key string) {
	t.Helper()
	if _, err := s.Own(key, 1, time.Hour); err != nil {
		t.Fatal(err)
	}
}

func waiters(t *testing.T, s *dflocktest.Server, key string) int {
	t.Helper()
	e, err := s.Entry(key)
	noError(t, err)
	return len(e.Waiters)
}

func TestCancelledClaimSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		newer   dflocktest.Newer
		o       dflockcoord.Options
		unsure  bool
		waiters int
	}{
		{dflocktest.Newer{}, dflockcoord.Options{}, true, 1}, // the server cannot notice yet
		{dflocktest.Newer{}, brisk, false, 0},
		{dflocktest.Since2_1(), dflockcoord.Options{}, false, 0},
	} {
		bubble(t, dflocktest.Options{Newer: c.newer}, func(t *testing.T, s *dflocktest.Server) {
			owned(t, s, "k")
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			_, ok, err := raw(t, driver(t, client(s), c.o), coord.SessionOptions{}).Acquire(ctx, waiting(mutex("k")))
			if ok || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, coord.ErrUncertain) != c.unsure {
				t.Errorf("%+v: %t, %v", c.o, ok, err)
			}
			if took := time.Since(begin); took > 7*time.Second {
				t.Errorf("%+v: it took %v", c.o, took)
			}
			synctest.Wait()
			if got := waiters(t, s, "k"); got != c.waiters {
				t.Errorf("%+v: %d waiters are left, want %d", c.o, got, c.waiters)
			}
		})
	}
}

// TestClaimKeepsItsPlaceInTheQueue is of many idle cuts. A newer server notices a client that
// hangs up, so it never has to join anew.
func TestClaimKeepsItsPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	for wait, newer := range map[time.Duration]dflocktest.Newer{9 * time.Minute: {}, 30 * time.Hour: dflocktest.Since2_1()} {
		bubble(t, dflocktest.Options{Newer: newer}, func(t *testing.T, s *dflocktest.Server) {
			if _, err := s.Own("k", 1, 48*time.Hour); err != nil {
				t.Fatal(err)
			}
			r := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{})
			got := make(chan error, 1)
			go func() {
				_, _, err := r.Acquire(t.Context(), waiting(mutex("k")))
				got <- err
			}()
			time.Sleep(wait)
			if s.Received("e") != 1 || s.Received("w") != 1 {
				t.Errorf("%d e and %d w: it lost its place", s.Received("e"), s.Received("w"))
			}
			noError(t, s.Take("k"))
			is(t, "claiming", <-got, nil)
		})
	}
}

func TestClaimWaitsAsLongAsItWantsTo(t *testing.T) {
	t.Parallel()
	for _, o := range []dflockcoord.Options{{}, brisk} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
			owned(t, s, "k")
			c := mutex("k")
			c.Wait = 3500 * time.Millisecond
			begin := time.Now()
			_, ok, err := raw(t, driver(t, client(s), o), coord.SessionOptions{}).Acquire(t.Context(), c)
			if took := time.Since(begin); ok || err != nil || took != 4*time.Second {
				t.Errorf("%+v: %t, %v after %v", o, ok, err, took)
			}
			if waiters(t, s, "k") != 0 {
				t.Error("a waiter is left")
			}
		})
	}
}

func TestClaimWithoutAnAnswerIsUncertain(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"l", "e", "stats"} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
			r := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{})
			s.LoseReplies(verb, 1)
			c := mutex("k")
			if verb == "e" {
				c = waiting(c)
			}
			_, ok, err := r.Acquire(t.Context(), c)
			if ok || !errors.Is(err, coord.ErrUncertain) || !coord.Passing(err) {
				t.Errorf("%s: %t, %v", verb, ok, err)
			}
		})
	}
}

func TestRefusedClaims(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]struct {
		err     error
		passing bool
	}{
		"error_max_locks": {dflockwire.ErrMaxLocks, true}, "error_max_waiters": {dflockwire.ErrMaxWaiters, true},
		"error_draining": {dflockwire.ErrDraining, true}, "error": {dflockwire.ErrRejected, true},
		"error_limit_mismatch": {dflockwire.ErrLimitMismatch, false}, "error_auth": {dflockwire.ErrAuth, false},
		"220 ready": {dflockwire.ErrProtocol, false},
	} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
			r := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{})
			s.Answer("l", word, 1)
			_, ok, err := r.Acquire(t.Context(), mutex("k"))
			if ok || !errors.Is(err, want.err) || coord.Passing(err) != want.passing || errors.Is(err, coord.ErrUncertain) != (word == "220 ready") {
				t.Errorf("%s: %t, %v", word, ok, err)
			}
		})
	}
}

func TestClaimsThatAreNotSent(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		r := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{})
		for _, c := range []struct {
			claim coord.Claim
			want  error
		}{
			{mutex("a b"), coord.ErrInvalid}, {mutex(""), coord.ErrInvalid},
			{coord.Claim{Kind: coord.KindMutex, Name: "k", Mode: coord.Shared}, coord.ErrUnsupported},
			{coord.Claim{Kind: coord.KindMutex, Name: "k", Permits: 2}, coord.ErrUnsupported},
			{coord.Claim{Kind: coord.KindSemaphore, Name: "k"}, coord.ErrInvalid},
			{coord.Claim{Kind: coord.KindSemaphore, Name: "k", Limit: 2, Permits: 3}, coord.ErrRefused},
			{coord.Claim{Kind: coord.KindElection, Name: "k", Data: []byte("x")}, coord.ErrDataTooLong},
		} {
			_, _, err := r.Acquire(t.Context(), c.claim)
			is(t, c.claim.Name, err, c.want)
		}
		if s.Received("l")+s.Received("sl") != 0 {
			t.Error("a claim was sent")
		}
	})
}

func TestPlaceOutlivesTheIdleCut(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		owned(t, s, "k")
		q := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{TTL: time.Minute}).(coord.Queuer)
		p, err := q.Enqueue(t.Context(), waiting(mutex("k")))
		noError(t, err)
		time.Sleep(10 * time.Minute)
		if s.Received("w") != 0 || s.Received("e") != 1 || waiters(t, s, "k") != 1 {
			t.Errorf("%d e, %d w, %d waiters: it lost its place", s.Received("e"), s.Received("w"), waiters(t, s, "k"))
		}
		noError(t, s.Take("k"))
		time.Sleep(10 * time.Second) // granted, and nobody asked
		g, ok, err := p.Wait(t.Context())
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if i := g.Info(); time.Since(i.Asked) != 0 || i.Valid != 23*time.Second {
			t.Errorf("info is %+v", i)
		}
	})
}

// TestPlaceThatWasServedAndForgottenIsTakenAnew is of a lease that ended before Wait, which a
// server of version 1.10 answers with a nonce that is worth nothing.
func TestPlaceThatWasServedAndForgottenIsTakenAnew(t *testing.T) {
	t.Parallel()
	for _, newer := range []dflocktest.Newer{{}, dflocktest.Since2_1()} {
		bubble(t, dflocktest.Options{Newer: newer}, func(t *testing.T, s *dflocktest.Server) {
			owned(t, s, "k")
			q := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{TTL: 2 * time.Second}).(coord.Queuer)
			p, err := q.Enqueue(t.Context(), waiting(mutex("k")))
			if err == nil {
				err = s.Take("k")
			}
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			g, ok, err := p.Wait(t.Context())
			e, _ := s.Entry("k")
			if !ok || err != nil || len(e.Owners) != 1 || dflockcoord.NonceOf(g) != e.Owners[0].Nonce {
				t.Errorf("got %t, %v, the server has %+v", ok, err, e)
			}
		})
	}
}

func TestPlaceThatIsLeftIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{KeepOnDisconnect: true}, func(t *testing.T, s *dflocktest.Server) {
		owned(t, s, "k")
		q := raw(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{}).(coord.Queuer)
		for _, granted := range []bool{false, true} {
			p, err := q.Enqueue(t.Context(), waiting(mutex("k")))
			if err == nil && granted {
				err = s.Take("k")
			}
			if err != nil {
				t.Fatal(err)
			}
			is(t, "leaving", p.Leave(t.Context()), nil)
			if e, err := s.Entry("k"); err != nil || len(e.Waiters) != 0 || granted && len(e.Owners) != 0 {
				t.Errorf("granted %t: left %+v, %v", granted, e, err)
			}
		}
	})
}

func TestSessionThatClosesLeavesItsPlaces(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		owned(t, s, "k")
		sess, err := driver(t, client(s), brisk).Open(t.Context(), coord.SessionOptions{})
		noError(t, err)
		if _, err := sess.(coord.Queuer).Enqueue(t.Context(), waiting(mutex("k"))); err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, _, err := sess.Acquire(t.Context(), waiting(mutex("k")))
			got <- err
		}()
		synctest.Wait()
		if waiters(t, s, "k") != 2 || len(s.State().Connections) != 2 {
			t.Errorf("%d waiters on %d connections, want one connection for each", waiters(t, s, "k"), len(s.State().Connections))
		}
		is(t, "closing", sess.Close(t.Context()), nil)
		is(t, "the claim", <-got, coord.ErrClosed)
		synctest.Wait()
		if waiters(t, s, "k") != 0 || len(s.State().Connections) != 0 {
			t.Errorf("left: %+v", s.State())
		}
	})
}

// TestAWaitingClaimIsToldItsPlaceAtMost: when it has joined, and those who came meanwhile count too.
func TestAWaitingClaimIsToldItsPlaceAtMost(t *testing.T) {
	t.Parallel()
	for _, limit := range []uint64{1, 2} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
			d := driver(t, client(s), dflockcoord.Options{})
			var told []int
			o := coord.SessionOptions{OnTrouble: func(x coord.Trouble) { told = append(told, x.Place) }}
			for range limit {
				if _, err := s.Own("k", int(limit), time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				c := session(t, d, o)
				go func() { _, _ = c.Semaphore("k", coord.SemaphoreOptions{Limit: limit}).Acquire(t.Context(), 1) }() // the session ends it
				synctest.Wait()
			}
			if !slices.Equal(told, []int{1, 2, 3}) {
				t.Errorf("limit %d: told %v, want the length of the queue at each claim", limit, told)
			}
		})
	}
}

// TestASemaphoreOfLimitOneIsNotTheLockOfItsName: since 1.14 both exist, and the owner of one is not
// that of the other.
func TestASemaphoreOfLimitOneIsNotTheLockOfItsName(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{Newer: dflocktest.Since2_1()}, func(t *testing.T, s *dflocktest.Server) {
		c := session(t, driver(t, client(s), dflockcoord.Options{}), coord.SessionOptions{})
		owned := lock(t, c, "k")
		l, err := c.Semaphore("k", coord.SemaphoreOptions{Limit: 1}).Acquire(t.Context(), 1)
		if err != nil || l.Owner() != "" || owned.Owner() == "" {
			t.Errorf("the lock is owned by %q, the permit by %q, %v", owned.Owner(), l.Owner(), err)
		}
	})
}
