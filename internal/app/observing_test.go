package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"coordtop/internal/config"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// busy is a source that does not come back from Connect when its context ends, as a library that
// loads certificates on a machine with too much to do.
type busy struct {
	plain
	connecting, done chan struct{}
}

func (b *busy) Connect(context.Context) error {
	close(b.connecting)
	<-b.done
	return errors.New("given up")
}

func TestASourceThatDoesNotEndIsNoErrorOfTheCommand(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := &busy{connecting: make(chan struct{}), done: make(chan struct{})}
		defer close(b.done)
		p := newProgram(Environment{Stderr: newStream(), Lookup: lookup(map[string]string{"HOME": home})})
		p.absent = []sources.Spec{{Name: "busy", Source: b}}
		err := p.observe(t.Context(), config.Config{}, func(context.Context, *sources.Hub, *watched) error {
			<-b.connecting
			return nil
		})
		p.log.Close()
		if err != nil {
			t.Errorf("the command ended with %v", err)
		}
	})
	text, err := os.ReadFile(filepath.Join(home, ".local/state/coordtop/coordtop.log"))
	if err != nil || !strings.Contains(string(text), "some still run") {
		t.Errorf("the log has %q, %v", text, err)
	}
}

func TestAPanicAnywhereEndsTheRestFirst(t *testing.T) {
	t.Parallel()
	for where, body := range map[string]func(context.Context, *watched) error{
		"beside": func(ctx context.Context, w *watched) error {
			w.run(ctx, func() error { panic("boom\x1b[2J") })
			<-ctx.Done() // as the screen does
			return w.wait()
		},
		"in the command itself": func(context.Context, *watched) error { panic("boom\x1b[2J") },
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			p := newProgram(Environment{Stderr: newStream(), Lookup: lookup(map[string]string{"HOME": home})})
			ctx, whole := p.guarded(t.Context())
			under, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			err := whole(spawn.Call(under, func() error { return body(under, &watched{cancel: cancel}) }))
			p.log.Close()
			if ctx.Err() == nil {
				t.Error("nothing else ends")
			}
			if err == nil || !errors.Is(err, spawn.ErrPanic) || strings.Count(err.Error(), "boom") != 1 || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("got %q", err)
			}
			if exitCode(err) != exitError {
				t.Errorf("exit code %d", exitCode(err))
			}
			text, err := os.ReadFile(filepath.Join(home, ".local/state/coordtop/coordtop.log"))
			if err != nil || strings.Count(string(text), "stack=") != 1 || !strings.Contains(string(text), "observing_test.go") {
				t.Errorf("the log has %q, %v", text, err)
			}
		})
	}
}

func TestAFailedGoroutineEndsTheRestAndACancelledOneDoesNot(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &watched{cancel: cancel}
	w.run(ctx, func() error { return context.Canceled })
	if err := w.wait(); err != nil || ctx.Err() != nil {
		t.Fatalf("got %v, %v", err, ctx.Err())
	}
	w.run(ctx, func() error { return broken })
	if err := w.wait(); !errors.Is(err, broken) || !errors.Is(context.Cause(ctx), broken) {
		t.Errorf("got %v, %v", err, context.Cause(ctx))
	}
}

func TestExitCodesAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	wrap := func(err error) error { return fmt.Errorf("doing: %w", err) }
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0}, {errors.New("x"), 1}, {usagef("x"), 2}, {wrap(usageError{errors.New("x")}), 2}, {wrap(&config.Problems{}), 2},
		{wrap(headless.ErrAmbiguous), 2}, {wrap(headless.ErrNoAnswer), 3}, {wrap(headless.ErrNotFound), 4}, {wrap(headless.ErrIncomplete), 5},
		{errors.Join(headless.ErrNotFound, headless.ErrNoAnswer), 3}, {wrap(syscall.EPIPE), 0}, {wrap(context.Canceled), 1},
	} {
		if got := exitCode(c.err); got != c.code {
			t.Errorf("%v: %d, want %d", c.err, got, c.code)
		}
	}
}
