package coord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
)

// cleanupTime bounds a release or notification if the caller set no deadline, because releasing what we own must not
// keep a program from ending.
const cleanupTime = 2 * time.Second

// until returns a context that ends with ctx or with life; if life ended first, its cause is that of life.
func until(ctx, life context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(ctx)
	stop := spawn.OnDone(life, func() { cancel(context.Cause(life)) })
	return both, func() { stop(); cancel(nil) }
}

// cleanupContext returns a context for a request that must be sent although ctx may have ended.
// It ends at the deadline of ctx. It ends cleanupTime from now if ctx has no deadline or has ended already, and
// cleanupTime after the cancellation if ctx is cancelled later.
func cleanupContext(ctx context.Context) (context.Context, context.CancelFunc) {
	free := context.WithoutCancel(ctx)
	deadline, ok := ctx.Deadline()
	if !ok || ctx.Err() != nil {
		return context.WithTimeout(free, cleanupTime)
	}
	late, cancel := context.WithDeadline(free, deadline)
	stop := spawn.OnDone(ctx, func() { spawn.After(ctx, cleanupTime, cancel) })
	return late, func() { stop(); cancel() }
}

// withCause adds the reason to the error of a request under until(ctx, life). If life has ended, the driver's error
// about a cancelled context would mislead a caller whose own context has not ended, so withCause keeps that error as
// text only.
func withCause(ctx, life context.Context, err error) error {
	cause := context.Cause(life)
	switch {
	case ctx.Err() != nil:
		return withContext(ctx, err)
	case cause == nil || errors.Is(err, cause):
		return err
	case sameVerdict(err, cause):
		return cause // the driver's error repeats the cause
	}
	return fmt.Errorf("%w: %v", cause, err)
}

// sameVerdict reports whether two errors give the same reason for an end.
func sameVerdict(a, b error) bool {
	return slices.ContainsFunc([]error{ErrLost, ErrExpired, ErrClosed}, func(end error) bool {
		return errors.Is(a, end) && errors.Is(b, end)
	})
}

// withContext joins err with the error and the cause of ctx, if ctx has ended. Drivers leave the cause out, because the
// context that they are given may have ended with our session; in that case withCause adds the reason.
func withContext(ctx context.Context, err error) error {
	err = failure.With(err, ctx.Err())
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = errors.Join(err, cause)
	}
	return err
}
