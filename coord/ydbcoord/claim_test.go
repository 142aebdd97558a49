package ydbcoord_test

import (
	"context"
	"errors"
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

// answer is what Acquire returned.
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

func TestCancelledClaimIsReleased(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
		s := b.session(t, ydbcoord.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		got := acquiring(ctx, s, forever(mutex("m")))
		synctest.Wait()
		if len(b.Waiters(node, "m")) != 1 {
			t.Fatal("it does not wait")
		}
		cancel()
		if a := <-got; !errors.Is(a.err, context.Canceled) {
			t.Errorf("got %+v, want context.Canceled", a)
		}
		if n := len(b.Waiters(node, "m")); n != 0 {
			t.Errorf("%d waiters are left", n)
		}
	})
}

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
		<-got
		if len(b.Waiters(node, "m")) != 1 {
			t.Fatal("nothing could be told, but the waiter is gone")
		}
		time.Sleep(ttl * 3 / 4)
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
		b.Delay(0, ttl/3)
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
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Abandon)
		got := acquiring(t.Context(), s, forever(mutex("m")))
		synctest.Wait()
		b.BlackHole(1, true)
		b.CutConnections(1)
		synctest.Wait()
		if err := owner.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if owners := b.Owners(node, "m"); len(owners) != 1 || b.Sessions(node)[1].Attached {
			t.Errorf("owners %+v, sessions %+v", owners, b.Sessions(node))
		}
		b.BlackHole(1, false)
		if a := <-got; !a.ok || a.err != nil {
			t.Errorf("got %+v", a)
		}
	})
}

func TestWaitThatRunsOutWithoutAStreamEndsAllTheSame(t *testing.T) {
	t.Parallel()
	owned(t, func(t *testing.T, b *bench, owner coord.Grant) {
		s := b.session(t, ydbcoord.Options{})
		c := mutex("m")
		c.Wait = time.Second
		began := time.Now()
		got := acquiring(t.Context(), s, c)
		synctest.Wait()
		b.BlackHole(0, true)
		a := <-got
		if late := time.Since(began) - c.Wait; a.ok || a.err != nil || late < 0 || late > time.Second {
			t.Errorf("got %+v, %v late", a, late)
		}
		b.BlackHole(0, false)
	})
}

func TestLostReplyToAReleaseIsRepeated(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		g := must(t, s, mutex("m"))
		b.DropReplies("release_semaphore_result", 1)
		go func() { time.Sleep(100 * time.Millisecond); b.CutStreams() }()
		if err := g.Release(t.Context()); err != nil {
			t.Errorf("releasing: %v", err)
		}
		if n := r.count(isRelease); n != 2 {
			t.Errorf("%d releases were sent, want 2", n)
		}
	})
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

func TestGrantIsVerifiedAfterEachAttach(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		if err := s.Create(t.Context(), "e", 1, nil); err != nil {
			t.Fatal(err)
		}
		g, kept := must(t, s, election("e")), must(t, s, mutex("kept"))
		b.hangAttaches(1)
		b.CutStreams()
		synctest.Wait()
		if err := b.DeleteSemaphore(node, "e"); err != nil { // while nobody can be told
			t.Fatal(err)
		}
		time.Sleep(ttl * 3 / 4)
		if !errors.Is(g.Err(), coord.ErrLost) || kept.Err() != nil || s.Err() != nil {
			t.Errorf("deleted meanwhile: %v, the other: %v, the session: %v", g.Err(), kept.Err(), s.Err())
		}
	})
}

func TestGrantOfADeletedSemaphoreIsLostAlone(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		bubble(t, func(t *testing.T, b *bench) {
			s := b.session(t, ydbcoord.Options{})
			if err := s.Create(t.Context(), "e", 1, nil); err != nil {
				t.Fatal(err)
			}
			g, kept := must(t, s, election("e")), must(t, s, mutex("kept"))
			if err := b.DeleteSemaphore(node, "e"); err != nil {
				t.Fatal(err)
			}
			if again {
				if err := b.CreateSemaphore(node, "e", 1, nil); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if !errors.Is(g.Err(), coord.ErrLost) || kept.Err() != nil || s.Err() != nil {
				t.Errorf("deleted: %v, the other: %v, the session: %v", g.Err(), kept.Err(), s.Err())
			}
			if err := g.Release(t.Context()); err != nil {
				t.Errorf("releasing what is lost: %v", err)
			}
		})
	}
}

func TestFenceIsTheOrderIDOfTheService(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		var last uint64
		for _, name := range []string{"a", "b", "a", "c"} {
			g := must(t, s, mutex(name))
			fence := g.Info().Fence
			if want := b.Owners(node, name)[0].OrderID; fence != want || fence <= last {
				t.Errorf("fence %d after %d, the service says %d", fence, last, want)
			}
			if err := g.(coord.Publisher).Publish(t.Context(), []byte("x")); err != nil || g.Info().Fence != fence {
				t.Errorf("publishing: %v, fence %d, was %d", err, g.Info().Fence, fence)
			}
			if err := g.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			last = fence
		}
	})
}

func TestAbandonedNameIsGivenBackBeforeItIsClaimedAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		first := must(t, s, mutex("m"))
		first.Abandon()
		if len(b.Owners(node, "m")) != 1 {
			t.Error("abandoning told the service")
		}
		second := must(t, s, mutex("m"))
		if second.Info().Fence <= first.Info().Fence {
			t.Errorf("fence %d after %d", second.Info().Fence, first.Info().Fence)
		}
	})
}

func TestOneNameIsClaimedOnceWhateverTheKind(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		must(t, s, mutex("m"))
		for _, kind := range []coord.Kind{coord.KindMutex, coord.KindElection, coord.KindSemaphore} {
			if _, _, err := s.Acquire(t.Context(), coord.Claim{Kind: kind, Name: "m"}); !errors.Is(err, coord.ErrClaimed) {
				t.Errorf("%v: %v, want ErrClaimed", kind, err)
			}
		}
		if _, _, err := b.session(t, ydbcoord.Options{}).Acquire(t.Context(), election("m")); !errors.Is(err, coord.ErrRefused) {
			t.Errorf("an election on a mutex: %v, want ErrRefused", err)
		}
	})
}

func TestElectionOnASemaphoreOfSeveralPermitsIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		if err := s.Create(t.Context(), "two", 2, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Acquire(t.Context(), election("two")); !errors.Is(err, coord.ErrRefused) {
			t.Errorf("got %v, want ErrRefused", err)
		}
		synctest.Wait()
		if n := len(b.Owners(node, "two")); n != 0 {
			t.Errorf("%d owners are left", n)
		}
	})
}

func TestNamesThatGRPCCannotCarryBreakNothing(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		for _, name := range []string{"", "\xff", string(make([]byte, 1025))} {
			if _, _, err := s.Acquire(t.Context(), mutex(name)); !errors.Is(err, coord.ErrInvalid) {
				t.Errorf("%q: %v, want ErrInvalid", name, err)
			}
			if _, err := s.Look(t.Context(), name); !errors.Is(err, coord.ErrInvalid) {
				t.Errorf("%q: %v, want ErrInvalid", name, err)
			}
		}
		if s.Link().Number != 1 || !s.Link().Attached {
			t.Errorf("the link is %+v", s.Link())
		}
	})
}

func TestLockOfACutSessionIsHeldForItsTimeoutAndOfAClosedOneNotAMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*testing.T, *ydbcoord.Session)
		held time.Duration
	}{
		{"abandoned", func(_ *testing.T, s *ydbcoord.Session) { s.Abandon() }, ttl},
		{"closed", func(t *testing.T, s *ydbcoord.Session) {
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *bench) {
				s, next := b.session(t, ydbcoord.Options{}), b.session(t, ydbcoord.Options{})
				keep(t, next)
				must(t, s, mutex("m"))
				got := acquiring(t.Context(), next, forever(mutex("m")))
				synctest.Wait()
				began := time.Now()
				c.end(t, s)
				<-got
				if held := time.Since(began); held != c.held {
					t.Errorf("held for %v, want %v", held, c.held)
				}
				if !errors.Is(s.Err(), coord.ErrClosed) {
					t.Errorf("ended with %v", s.Err())
				}
			})
		})
	}
}

func TestSessionClosedWithoutAStreamAttachesToSayFarewell(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		must(t, s, mutex("m"))
		b.hangAttaches(1)
		b.CutStreams()
		synctest.Wait()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(b.Sessions(node)); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

func TestFarewellThatCannotBeSaidIsAnErrorAndEndsInTime(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		b.BlackHole(0, true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		b.BlackHole(0, false)
	})
}

func TestMissingElectionIsCreatedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		if _, _, err := b.session(t, ydbcoord.Options{}).Acquire(t.Context(), election("e")); !errors.Is(err, coord.ErrNotFound) {
			t.Errorf("without: %v, want ErrNotFound", err)
		}
		must(t, b.session(t, ydbcoord.Options{CreateElections: true}), election("e"))
		if sem, err := b.Semaphore(node, "e"); err != nil || sem.Limit != 1 || sem.Ephemeral {
			t.Errorf("created %+v, %v", sem, err)
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
		if err := b.DeleteSemaphore(node, "e"); err != nil {
			t.Fatal(err)
		}
		a := <-got
		status, ok := errors.AsType[*ydbcoord.StatusError](a.err)
		if a.ok || !ok || status.Status != Ydb.StatusIds_ABORTED {
			t.Errorf("got %+v", a)
		}
	})
}

func election(name string) coord.Claim { return coord.Claim{Kind: coord.KindElection, Name: name} }
