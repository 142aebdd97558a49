package kit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

func TestFirstErrorEndsTheLinkAndIsWhatNextReturns(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		work func() error
		want error
	}{
		"an error": {func() error { return boom }, boom},
		"a panic":  {func() error { panic("boom") }, spawn.ErrPanic},
	} {
		l := kit.NewLink(spawn.With(t.Context(), func(*spawn.Panic) {}))
		l.Start(c.work)
		<-l.Context().Done()
		l.Close()
		l.Start(func() error { return errors.New("later") })
		l.Close()
		if _, err := l.Next(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := l.Send(sources.Change{}); !errors.Is(err, c.want) {
			t.Errorf("%s: Tell: %v", name, err)
		}
	}
}

func TestNextEndsWithItsOwnContext(t *testing.T) {
	t.Parallel()
	l := kit.NewLink(t.Context())
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAChangeIsNotReadLaterThanAnAnswerThatItReports(t *testing.T) {
	t.Parallel()
	l := kit.NewScopedLink(t.Context())
	defer l.Close()
	first, second := time.Unix(100, 0), time.Unix(200, 0)
	l.Answered("quiet", first)
	l.Answered("busy", second)
	l.Start(func() error { return l.Send(sources.Change{Scope: "busy", Synced: true, At: second}) })
	got := map[string]time.Time{}
	for len(got) < 2 {
		c, err := l.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range c.Alive {
			got[scope] = c.At
		}
	}
	if !got["quiet"].Equal(first) || got["busy"].After(second) {
		t.Errorf("read at %v, want quiet at %v", got, first)
	}
}

// TestWhatWasFoundBeforeTheEndIsTold has one goroutine of a link end it while another hands over
// what it found, twice: whoever found it takes it for told when he compares what the next link shows.
func TestWhatWasFoundBeforeTheEndIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		l := kit.NewLink(t.Context())
		defer l.Close()
		l.Start(func() error {
			return errors.Join(l.Send(sources.Change{Scope: "first"}), l.Send(sources.Change{Scope: "second"}))
		})
		synctest.Wait() // it sends
		l.Start(func() error { return boom })
		synctest.Wait() // the link has ended
		for _, want := range []string{"first", "second"} {
			if c, err := l.Next(t.Context()); err != nil || c.Scope != want || len(c.Alive) > 0 {
				t.Errorf("%+v, %v, want %s", c, err, want)
			}
		}
		if _, err := l.Next(t.Context()); !errors.Is(err, boom) {
			t.Errorf("at the end: %v", err)
		}
	})
}

// TestAGoroutineThatDoesNotEndHoldsUpTheEndForASecondAtMost has one that ends with Close only.
func TestAGoroutineThatDoesNotEndHoldsUpTheEndForASecondAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		l := kit.NewLink(t.Context())
		stuck := make(chan struct{})
		l.Start(func() error { <-stuck; return nil })
		l.Start(func() error { return boom })
		begun := time.Now()
		if _, err := l.Next(t.Context()); !errors.Is(err, boom) || time.Since(begun) > time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		close(stuck)
		l.Close()
		if err := l.Send(sources.Change{}); !errors.Is(err, boom) {
			t.Errorf("after Close: %v", err)
		}
	})
}
