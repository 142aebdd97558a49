package spawn_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/spawn"
)

// told is a handler that remembers.
type told struct {
	mu     sync.Mutex
	panics []*spawn.Panic
}

func (h *told) take(p *spawn.Panic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.panics = append(h.panics, p)
}

// only is the one panic that was told, as it has to be.
func (h *told) only(t *testing.T) *spawn.Panic {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.panics) != 1 {
		t.Fatalf("told %d times, want once", len(h.panics))
	}
	return h.panics[0]
}

func TestEveryWayToStartTellsThePanicOnce(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(context.Context, context.CancelFunc, *sync.WaitGroup){
		"a goroutine that is counted": func(ctx context.Context, _ context.CancelFunc, running *sync.WaitGroup) {
			spawn.Go(ctx, running, func() { panic("boom") })
			running.Wait()
		},
		"a goroutine that is not": func(ctx context.Context, _ context.CancelFunc, _ *sync.WaitGroup) {
			spawn.Go(ctx, nil, func() { panic("boom") })
		},
		"a timer": func(ctx context.Context, _ context.CancelFunc, _ *sync.WaitGroup) {
			spawn.After(ctx, time.Second, func() { panic("boom") })
			time.Sleep(2 * time.Second)
		},
		"the end of a context": func(ctx context.Context, end context.CancelFunc, _ *sync.WaitGroup) {
			spawn.OnDone(ctx, func() { panic("boom") })
			end()
		},
		"a call": func(ctx context.Context, _ context.CancelFunc, _ *sync.WaitGroup) {
			_ = spawn.Call(ctx, func() error { panic("boom") })
		},
		"a call in a goroutine": func(ctx context.Context, _ context.CancelFunc, running *sync.WaitGroup) {
			spawn.Go(ctx, running, func() { _ = spawn.Call(ctx, func() error { panic("boom") }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var h told
				ctx, end := context.WithCancel(spawn.With(t.Context(), h.take))
				defer end()
				start(ctx, end, new(sync.WaitGroup))
				synctest.Wait()
				p := h.only(t)
				if p.Value != "boom" || !strings.HasPrefix(p.Line, "spawn_test.go:") || !strings.Contains(string(p.Stack), "spawn_test.go") {
					t.Errorf("told %v at %s: %s", p.Value, p.Line, p.Stack)
				}
			})
		})
	}
}

func TestACallReturnsItsErrorOrItsPanic(t *testing.T) {
	t.Parallel()
	var h told
	ctx := spawn.With(t.Context(), h.take)
	broken := errors.New("broken")
	if err := spawn.Call(ctx, func() error { return broken }); err != broken {
		t.Errorf("an error became %v", err)
	}
	var none *told
	err := spawn.Call(ctx, func() error { none.panics = nil; return nil })
	if !errors.Is(err, spawn.ErrPanic) || !strings.Contains(err.Error(), "nil pointer") || !strings.Contains(err.Error(), ", at spawn_test.go:") {
		t.Errorf("the runtime's panic became %v", err)
	}
	if p := h.only(t); p != err {
		t.Errorf("told %v", p)
	}
}

func TestWhoJoinsAGoroutineIsNotAheadOfTheHandler(t *testing.T) {
	t.Parallel()
	var h told
	var running sync.WaitGroup
	spawn.Go(spawn.With(t.Context(), h.take), &running, func() { panic("boom") })
	running.Wait()
	h.only(t)
}

func TestTheNearestHandlerIsToldAlsoByWhatOutlivesACall(t *testing.T) {
	t.Parallel()
	var outer, inner told
	ctx, end := context.WithCancel(spawn.With(spawn.With(t.Context(), outer.take), inner.take))
	life := context.WithoutCancel(ctx)
	end()
	if err := spawn.Call(life, func() error { panic("boom") }); err == nil {
		t.Error("no error")
	}
	inner.only(t)
	if len(outer.panics) != 0 {
		t.Error("the outer handler was told too")
	}
}

func TestAGoroutineThatExitsIsNoPanic(t *testing.T) {
	t.Parallel()
	var h told
	done := make(chan struct{})
	spawn.Go(spawn.With(t.Context(), h.take), nil, func() {
		defer close(done)
		var running sync.WaitGroup
		spawn.Go(spawn.With(t.Context(), h.take), &running, func() {})
		running.Wait()
	})
	<-done
	if len(h.panics) != 0 {
		t.Errorf("told %v", h.panics[0])
	}
}

const crashing = "COORDTOP_TEST_CRASH"

func TestWithoutAHandlerAPanicEndsTheProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv(crashing) != "" {
		var running sync.WaitGroup
		spawn.Go(t.Context(), &running, func() { panic("boom") })
		running.Wait()
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), crashing+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: boom") || !strings.Contains(string(out), "spawn_test.go") {
		t.Errorf("got %v, %s", err, out)
	}
}

func TestWithinGivesUpOnlyAfterItsGrace(t *testing.T) {
	t.Parallel()
	const limit, grace = time.Second, 100 * time.Millisecond
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		takes, returns time.Duration // of f, and of Within
		fails          error
		want           error
	}{
		"at once":         {},
		"in time":         {takes: limit / 2, returns: limit / 2},
		"with an error":   {takes: limit / 2, returns: limit / 2, fails: failed, want: failed},
		"within grace":    {takes: limit + grace/2, returns: limit + grace/2},
		"after its grace": {takes: time.Hour, returns: limit + grace, want: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				began := time.Now()
				got, err := spawn.Within(ctx, grace, func() (string, error) {
					time.Sleep(c.takes)
					return "done", c.fails
				})
				if !errors.Is(err, c.want) || err == nil && got != "done" {
					t.Errorf("%q, %v, want the error %v", got, err, c.want)
				}
				if took := time.Since(began); took != c.returns {
					t.Errorf("it returned after %v, want %v", took, c.returns)
				}
				time.Sleep(c.takes) // until what was given up has ended too
			})
		})
	}
}

func TestWithinTellsAPanicToItsHandlerAlone(t *testing.T) {
	t.Parallel()
	h := new(told)
	_, err := spawn.Within(spawn.With(t.Context(), h.take), time.Second, func() (int, error) { panic("hunter2") })
	if !errors.Is(err, spawn.ErrPanic) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error is %q", err)
	}
	h.only(t)
}
