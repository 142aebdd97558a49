package rediscoord

import (
	"context"
	"errors"
	"testing"

	"coordtop/internal/ground/spawn"
)

func TestAPanicInARequestIsItsError(t *testing.T) {
	t.Parallel()
	s := &session{cut: t.Context()}
	_, err := ask(spawn.With(t.Context(), func(*spawn.Panic) {}), s, longestCall, func(context.Context) (int, error) { panic("boom") })
	if !errors.Is(err, spawn.ErrPanic) {
		t.Errorf("it says %v", err)
	}
	s.asking.Wait()
}
