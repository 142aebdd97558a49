package ydbcoord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func forever(c coord.Claim) coord.Claim {
	c.Wait = coord.Forever
	return c
}

// answer is the result of Acquire.
type answer struct {
	g   coord.Grant
	ok  bool
	err error
}

func acquiring(ctx context.Context, s coord.DriverSession, c coord.Claim) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		g, ok, err := s.Acquire(ctx, c)
		got <- answer{g, ok, err}
	}()
	return got
}

// owned is an emulator where a session, which is kept, owns the mutex m.
func owned(t *testing.T, test func(t *testing.T, b *bench, owner coord.Grant)) {
	t.Helper()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		keep(t, s)
		test(t, b, must(t, s, mutex("m")))
	})
}

func isAcquire(m *pb.SessionRequest) bool { return m.GetAcquireSemaphore() != nil }
func isRelease(m *pb.SessionRequest) bool { return m.GetReleaseSemaphore() != nil }

func TestClaimCancelledWhileThereIsNoStreamIsReleasedOnTheNext(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		ctx, cancel := context.WithCancel(t.Context())
		got := acquiring(ctx, s, forever(mutex("m")))
		synctest.Wait()
		b.hangAttaches(2) // the owner's, too
		b.CutStreams()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if len(b.Waiters(node, "m")) != 1 {
			t.Fatal("nothing could be told, but the waiter is gone")
		}
		<-got
		time.Sleep(ttl / 2)
		if n := len(b.Waiters(node, "m")); n != 0 {
			t.Errorf("%d waiters are left", n)
		}
		if acquires, releases := r.count(isAcquire), r.count(isRelease); acquires != 1 || releases != 1 {
			t.Errorf("%d acquires and %d releases were sent, want one of each", acquires, releases)
		}
	})
}

func TestGrantThatRacesTheCancelIsReleased(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		b.Delay(0, 500*time.Millisecond)
		s := b.session(t, ydbcoord.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		got := acquiring(ctx, s, forever(mutex("m")))
		time.Sleep(50 * time.Millisecond)
		if len(b.Owners(node, "m")) != 1 {
			t.Fatal("it is not granted")
		}
		if a := <-got; !errors.Is(a.err, context.DeadlineExceeded) {
			t.Errorf("got %+v, want context.DeadlineExceeded", a)
		}
		time.Sleep(time.Second)
		if len(b.Owners(node, "m")) != 0 {
			t.Error("it still is the owner")
		}
	})
}

func TestTryWaitsForAnAnswerHoweverSlow(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		b.Delay(0, ttl/3-time.Millisecond) // with ttl/3 the pong and the service's look for it are at one instant
		must(t, s, mutex("m"))
	})
}

func TestAcquireAndReleaseOfOneNameWaitForEachOtherAndOthersDoNot(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		b.Delay(0, 500*time.Millisecond)
		ctx, cancel := context.WithCancel(t.Context())
		got := acquiring(ctx, s, forever(mutex("m")))
		synctest.Wait()
		cancel() // the release has to wait until the service has taken note of the claim
		synctest.Wait()
		other := acquiring(t.Context(), s, mutex("other"))
		synctest.Wait()
		if n := r.count(isRelease); n != 0 {
			t.Error("the release was sent before the claim was answered")
		}
		if n := r.count(isAcquire); n != 2 {
			t.Errorf("%d claims were sent, want both: another name waits for nobody", n)
		}
		time.Sleep(600 * time.Millisecond)
		if n := r.count(isRelease); n != 1 {
			t.Errorf("%d releases were sent after the claim was answered, want 1", n)
		}
		<-got
		<-other
	})
}

func TestWaitingClaimKeepsItsPlaceAcrossStreamsAndWaitsNoLongerThanAsked(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		keep(t, s)
		c := mutex("m")
		c.Wait = 10 * time.Second
		began := time.Now()
		got := acquiring(t.Context(), s, c)
		synctest.Wait()
		order := b.Waiters(node, "m")[0].OrderID
		time.Sleep(4 * time.Second)
		b.CutStreams()
		synctest.Wait()
		var waits []uint64
		for _, m := range r.requests() {
			if isAcquire(m) {
				waits = append(waits, m.GetAcquireSemaphore().GetTimeoutMillis())
			}
		}
		if len(waits) != 2 || waits[0] != 10_000 || waits[1] != 6_000 {
			t.Errorf("sent with waits of %v ms, want 10000 and the remaining 6000", waits)
		}
		if w := b.Waiters(node, "m"); len(w) != 1 || w[0].OrderID != order {
			t.Errorf("it lost its place: %+v", w)
		}
		if a := <-got; a.ok || a.err != nil || time.Since(began) != c.Wait {
			t.Errorf("got %+v after %v, want a miss after %v", a, time.Since(began), c.Wait)
		}
	})
}

func TestClaimGrantedWhileDetachedIsFoundOut(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
		s, err := b.on(t, b.dial(t, 1), ydbcoord.Options{}).OpenSession(t.Context(), coord.SessionOptions{TTL: ttl})
		noError(t, err)
		t.Cleanup(s.Abandon)
		got := acquiring(t.Context(), s, forever(mutex("m")))
		synctest.Wait()
		b.BlackHole(1, true)
		b.CutConnections(1)
		synctest.Wait()
		noError(t, owner.Release(t.Context()))
		if owners := b.Owners(node, "m"); len(owners) != 1 || b.Sessions(node)[1].Attached {
			t.Errorf("owners %+v, sessions %+v", owners, b.Sessions(node))
		}
		b.BlackHole(1, false)
		if a := <-got; !a.ok || a.err != nil {
			t.Errorf("got %+v", a)
		}
	})
}

// TestAClaimThatMayStillWinIsNotMissed has the owner leave after the link to the service has
// fallen silent, so that the service gives the lock to a claim which has stopped waiting.
func TestAClaimThatMayStillWinIsNotMissed(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"its wait ends", "its context ends"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
				s, err := b.on(t, b.dial(t, 1), ydbcoord.Options{}).OpenSession(t.Context(), coord.SessionOptions{TTL: ttl})
				noError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c := forever(mutex("m"))
				if how == "its wait ends" {
					c.Wait = time.Second
				}
				got := acquiring(ctx, s, c)
				synctest.Wait()
				b.BlackHole(1, true)
				noError(t, owner.Release(t.Context()))
				if how == "its context ends" {
					cancel()
				}
				began := time.Now()
				a := <-got
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it ended after %v", took)
				}
				if a.ok || !errors.Is(a.err, coord.ErrUncertain) || !strings.Contains(a.err.Error(), "whether it was taken is not known") {
					t.Errorf("the claim ended with %+v", a)
				}
				if n := len(b.Owners(node, "m")); n != 1 {
					t.Errorf("the service has %d owners", n)
				}
				late, done := context.WithTimeout(t.Context(), time.Second)
				defer done()
				if err := s.Close(late); !errors.Is(err, coord.ErrUncertain) {
					t.Errorf("the session ended with %v", err)
				}
				b.BlackHole(1, false)
			})
		})
	}
}

func TestReleaseThatCouldNotBeToldIsToldLater(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		g := must(t, s, mutex("m"))
		b.BlackHole(0, true)
		ctx, cancel := context.WithTimeout(t.Context(), ttl/4)
		defer cancel()
		if err := g.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("releasing into a black hole: %v", err)
		}
		b.BlackHole(0, false)
		time.Sleep(ttl / 4)
		if len(b.Owners(node, "m")) != 0 {
			t.Error("it was never told")
		}
	})
}

func TestDeletedQueueEndsItsWaitsWithTheServicesWord(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		one, two := b.session(t, ydbcoord.Options{CreateElections: true}), b.session(t, ydbcoord.Options{})
		must(t, one, election("e"))
		got := acquiring(t.Context(), two, forever(election("e")))
		synctest.Wait()
		noError(t, b.DeleteSemaphore(node, "e"))
		a := <-got
		status, ok := errors.AsType[*ydbcoord.StatusError](a.err)
		if a.ok || !ok || status.Status != Ydb.StatusIds_ABORTED {
			t.Errorf("got %+v", a)
		}
	})
}

func election(name string) coord.Claim { return coord.Claim{Kind: coord.KindElection, Name: name} }
