package ydbcoord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func TestGrantIsVerifiedAfterEachAttach(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		noError(t, s.Create(t.Context(), "e", 1, nil))
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
			noError(t, s.Create(t.Context(), "e", 1, nil))
			g, kept := must(t, s, election("e")), must(t, s, mutex("kept"))
			noError(t, b.DeleteSemaphore(node, "e"))
			if again {
				noError(t, b.CreateSemaphore(node, "e", 1, nil))
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
		noError(t, s.Create(t.Context(), "two", 2, nil))
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
		if s.Status().Number != 1 || !s.Status().Attached {
			t.Errorf("the link is %+v", s.Status())
		}
	})
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
