package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/backoff"
)

func TestNextGrowsWithinItsBoundsAndStartsAnewAfterReset(t *testing.T) {
	t.Parallel()
	b := backoff.Policy{Min: 10 * time.Millisecond, Max: 80 * time.Millisecond}.Start()
	for round := range 2 {
		for _, step := range []time.Duration{10, 20, 40, 80, 80, 80} {
			step *= time.Millisecond
			if got := b.Next(); got < step/2 || got > step {
				t.Fatalf("round %d: pause %v, want between %v and %v", round, got, step/2, step)
			}
		}
		b.Reset()
	}
}

func TestNextSpreadsThePauses(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 20 {
		seen[backoff.Policy{Min: time.Second}.Start().Next()] = true
	}
	if len(seen) < 2 {
		t.Fatal("twenty sequences began with the same pause: there is no jitter")
	}
}

func TestMaxBelowMinIsMin(t *testing.T) {
	t.Parallel()
	b := backoff.Policy{Min: time.Minute, Max: time.Second}.Start()
	if got := b.Next(); got < 30*time.Second {
		t.Fatalf("pause %v, want at least half of Min", got)
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := backoff.Policy{Min: time.Hour, Max: time.Hour}.Start().Wait(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Fatalf("Wait = %v after %v, want the context's error after 1s", err, time.Since(start))
		}
	})
}

func TestSleepLastsAsLongAsAskedUnlessItsContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := backoff.Sleep(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("Sleep = %v after %v", err, time.Since(start))
		}
		if err := backoff.Sleep(t.Context(), -1); err != nil || time.Since(start) != time.Minute {
			t.Errorf("Sleep of a negative time = %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := backoff.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute+time.Second {
			t.Errorf("Sleep = %v after %v, want the context's error", err, time.Since(start))
		}
	})
}

func TestTheTurnIsHalfASecondBehindThatOfTheClock(t *testing.T) {
	t.Parallel()
	for at, want := range map[time.Duration]time.Duration{
		0:                      500 * time.Millisecond,
		300 * time.Millisecond: 200 * time.Millisecond,
		500 * time.Millisecond: time.Second,
		900 * time.Millisecond: 600 * time.Millisecond,
		495 * time.Millisecond: 1005 * time.Millisecond, // a timer that was early
	} {
		if got := backoff.UntilTurn(time.Date(2026, 7, 1, 12, 0, 0, int(at), time.UTC)); got != want {
			t.Errorf("%v after the second: %v, want %v", at, got, want)
		}
	}
}
