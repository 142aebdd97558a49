package rediscoord

import (
	"context"
	"errors"
	"testing"

	"coordtop/coord"
)

func TestAPanicInARequestIsItsError(t *testing.T) {
	t.Parallel()
	s := &session{cut: t.Context()}
	_, err := ask(t.Context(), s, longestCall, func(context.Context) (int, error) { panic("boom") })
	if !errors.Is(err, coord.ErrPanic) {
		t.Errorf("it says %v", err)
	}
	s.asking.Wait()
}
