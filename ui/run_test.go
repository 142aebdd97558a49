package ui

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/ui/uitest"
)

// running starts the program on an emulated terminal; stop ends its context.
func running(t *testing.T, feed Feed, w, h int) (s *uitest.Screen, stop context.CancelCauseFunc, done <-chan error) {
	t.Helper()
	s = uitest.NewScreen(t, w, h)
	ctx, cancel := context.WithCancelCause(spawn.With(t.Context(), func(*spawn.Panic) {}))
	ended := make(chan error, 1)
	go func() { // received by the test
		ended <- Run(ctx, Options{Feed: feed, Title: "prod-eu", Input: s.Input(), Output: s, Width: w, Height: h,
			Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
	}()
	t.Cleanup(func() { cancel(nil) })
	return s, cancel, ended
}

func TestProgramShowsStatesAsTheyComeAndQuitsClean(t *testing.T) {
	t.Parallel()
	a, b, c := three()
	feed := newTestFeed(uitest.State(noon(), a, b))
	s, _, done := running(t, feed, 100, 30)
	s.Await(t, "2 primitives")
	if !s.AltScreen() {
		t.Error("it does not use the alternate screen")
	}
	st := uitest.State(noon(), a, b, c)
	st.Rev = 2
	feed.Set(st)
	s.Await(t, "3 primitives")
	s.Type(t, "jj")
	s.Await(t, " c  led")
	s.Type(t, "/host-2\r")
	s.Await(t, "filter host-2")
	s.Type(t, "?")
	s.Await(t, "SIGNS")
	s.Type(t, "qq")
	if err := <-done; err != nil {
		t.Errorf("Run = %v", err)
	}
	if s.AltScreen() {
		t.Error("the terminal is not given back")
	}
}

func TestProgramEndsWithItsContextAndSaysWhy(t *testing.T) {
	t.Parallel()
	s, stop, done := running(t, newTestFeed(uitest.State(noon())), 80, 24)
	s.Await(t, "READ-ONLY")
	cause := errors.New("terminated")
	stop(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("Run = %v", err)
	}
	if s.AltScreen() {
		t.Error("the terminal is not given back")
	}
}

// fused is a feed with a bug that shows later.
type fused struct {
	*testFeed
	lit atomic.Bool
}

func (f *fused) Wake() <-chan struct{} {
	if f.lit.Load() {
		panic("boom")
	}
	return f.testFeed.Wake()
}

func TestAPanicInThePumpRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	feed := &fused{testFeed: newTestFeed(uitest.State(noon()))}
	s, _, done := running(t, feed, 80, 24)
	s.Await(t, "READ-ONLY")
	feed.lit.Store(true)
	feed.Set(uitest.State(noon(), a))
	if err := <-done; !errors.Is(err, spawn.ErrPanic) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("Run = %v", err)
	}
	if s.AltScreen() {
		t.Error("the terminal is not given back")
	}
}

// brittle is a feed with a bug that only the program's loop meets.
type brittle struct {
	*testFeed
	lit atomic.Bool
}

func (f *brittle) Events(max int) ([]sources.Event, uint64) {
	if f.lit.Load() {
		panic("boom")
	}
	return f.testFeed.Events(max)
}

func TestAPanicInUpdateRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	feed := &brittle{testFeed: newTestFeed(uitest.State(noon()))}
	s, _, done := running(t, feed, 80, 24)
	s.Await(t, "READ-ONLY")
	feed.lit.Store(true)
	st := uitest.State(noon(), a)
	st.Rev = 2
	feed.Set(st)
	if err := <-done; !errors.Is(err, spawn.ErrPanic) || errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("Run = %v", err)
	}
	if s.AltScreen() {
		t.Error("the terminal is not given back")
	}
}

func TestRunNeedsAFeed(t *testing.T) {
	t.Parallel()
	if err := Run(t.Context(), Options{}); err == nil {
		t.Error("it runs without")
	}
}

func TestEscapesOfStrangersNeverReachTheTerminal(t *testing.T) {
	t.Parallel()
	feed := newTestFeed(uitest.State(noon(), uitest.Led("evil\x1b[?1049l\x1b]0;owned\a", "\x1b[2J", noon())))
	feed.Tell(sources.Event{At: noon(), Kind: sources.EventProclaimed, Detail: "\x1bc"})
	s, _, done := running(t, feed, 140, 40)
	s.Await(t, `evil\x1b`)
	s.Await(t, `says \x1bc`)
	if !s.AltScreen() {
		t.Error("a name left the alternate screen")
	}
	s.Type(t, "q")
	if err := <-done; err != nil {
		t.Error(err)
	}
}
