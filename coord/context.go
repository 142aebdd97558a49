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

// cleanupTime bounds the last request about something when the caller set no deadline:
// giving up what we own must not keep a program from ending.
const cleanupTime = 2 * time.Second

// until is ctx that also ends when life does, with the cause of that.
func until(ctx, life context.Context) (context.Context, context.CancelFunc) {
	both, cancel := context.WithCancelCause(ctx)
	stop := spawn.OnDone(life, func() { cancel(context.Cause(life)) })
	return both, func() { stop(); cancel(nil) }
}

// cleanupContext is a context for a request that must go out although ctx may have ended.
// The deadline of ctx bounds it; where there is none, or ctx has ended, it has a time
// of its own, and if ctx is cancelled meanwhile, that time more.
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

// withCause gives an error that came of a request under until(ctx, life) its reason. If it
// is the end of life, what the driver says of a cancelled context would mislead a
// caller whose own has not ended: it is kept as text only.
func withCause(ctx, life context.Context, err error) error {
	cause := context.Cause(life)
	switch {
	case ctx.Err() != nil:
		return withContext(ctx, err)
	case cause == nil || errors.Is(err, cause):
		return err
	case sameVerdict(err, cause):
		return cause // the driver says the same once more
	}
	return fmt.Errorf("%w: %v", cause, err)
}

// sameVerdict reports whether two errors give the same reason for an end.
func sameVerdict(a, b error) bool {
	return slices.ContainsFunc([]error{ErrLost, ErrExpired, ErrClosed}, func(end error) bool {
		return errors.Is(a, end) && errors.Is(b, end)
	})
}

// withContext joins the reason why ctx ended to an error that came of it. Drivers leave the
// cause out: a context that they are given may have ended with our session, and then it is
// withCause that says so.
func withContext(ctx context.Context, err error) error {
	err = failure.With(err, ctx.Err())
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = errors.Join(err, cause)
	}
	return err
}
