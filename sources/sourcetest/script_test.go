package sourcetest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
)

func TestScriptTellsInTheOrderInWhichItWasWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, boom := NewScript(), errors.New("boom")
		s.Push(sources.Change{Scope: "1"}, sources.Change{Scope: "2"})
		s.Fail(boom)
		for _, want := range []string{"1", "2"} {
			if c, err := s.Next(t.Context()); err != nil || c.Scope != want {
				t.Errorf("Next = %q, %v, want %q", c.Scope, err, want)
			}
		}
		if _, err := s.Next(t.Context()); !errors.Is(err, boom) {
			t.Errorf("Next = %v, want boom", err)
		}
		began := time.Now()
		c, err := s.Next(t.Context())
		if err != nil || len(c.Alive) != 1 || time.Since(began) != beat {
			t.Errorf("Next = %+v, %v after %v, want a proof of life after %v", c, err, time.Since(began), beat)
		}
	})
}

func TestHangingScriptEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewScript()
		s.HangConnect()
		s.Hang()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Connect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Connect = %v", err)
		}
		if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next = %v", err)
		}
	})
}

func TestScriptNotesCallsThatOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewScript()
		go s.Next(t.Context()) //nolint:errcheck // it ends with the bubble's clock
		synctest.Wait()
		if s.Record().Overlapped {
			t.Error("one call alone overlaps")
		}
		s.Close()
		if !s.Record().Overlapped {
			t.Error("Close during Next is not noted")
		}
		time.Sleep(beat)
	})
}
