package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"coordtop/internal/config"
	"coordtop/internal/headless"
)

func TestAPanicAnywhereEndsTheRestFirst(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	var logged string
	w := &watched{cancel: cancel, log: func(text string) { logged = text }}
	w.run(func() error { panic("boom") })
	err := w.call(func() error {
		<-ctx.Done() // as the screen does
		return nil
	})
	if err != nil {
		t.Errorf("the screen's own error is %v", err)
	}
	err = w.wait()
	if err == nil || !strings.Contains(err.Error(), "boom") || !strings.Contains(logged, "run_test.go") {
		t.Errorf("got %v, logged %q", err, logged)
	}
	if exitCode(err) != exitError {
		t.Errorf("exit code %d", exitCode(err))
	}
	if err := w.call(func() error { panic(errors.New("here")) }); err == nil || !strings.Contains(err.Error(), "here") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedGoroutineEndsTheRestAndACancelledOneDoesNot(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &watched{cancel: cancel}
	w.run(func() error { return context.Canceled })
	if err := w.wait(); err != nil || ctx.Err() != nil {
		t.Fatalf("got %v, %v", err, ctx.Err())
	}
	w.run(func() error { return broken })
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
