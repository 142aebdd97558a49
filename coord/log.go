package coord

import (
	"context"
	"errors"
	"log/slog"
)

// noteState logs a change of the state and passes it to OnState.
func (o SessionOptions) noteState(c StateChange) {
	args := []any{"state", c.State.String()}
	if c.Retry > 0 {
		args = append(args, "retry", c.Retry)
	}
	o.log(c.Err, "coordination session", args...)
	if o.OnState != nil {
		o.OnState(c)
	}
}

// noteTrouble logs a trouble and passes it to OnTrouble.
func (o SessionOptions) noteTrouble(t Trouble) {
	args := []any{"kind", t.Kind.String(), "name", t.Name}
	if t.Place > 0 {
		args = append(args, "place", t.Place)
	}
	if t.Err != nil {
		args = append(args, "retry", t.Pause)
	}
	o.log(t.Err, "coordination claim waits", args...)
	if o.OnTrouble != nil {
		o.OnTrouble(t)
	}
}

// log writes one line: a warning if err is not nil, unless we ended the lease or session ourselves.
func (o SessionOptions) log(err error, text string, args ...any) {
	if o.Log == nil {
		return
	}
	level := slog.LevelInfo
	if err != nil {
		args = append(args, "error", err)
		if !errors.Is(err, ErrReleased) && !errors.Is(err, ErrClosed) {
			level = slog.LevelWarn
		}
	}
	o.Log.Log(context.Background(), level, text, args...)
}
