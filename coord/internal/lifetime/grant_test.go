package lifetime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
)

func TestAGrantLeavesItsSessionOnceAndKeepsTheLatestWindow(t *testing.T) {
	t.Parallel()
	s := lifetime.NewSession[int](t.Context())
	asked := time.Now()
	left, given := 0, 0
	g := lifetime.NewGrant(coord.GrantInfo{Owner: "me", Window: coord.Window{Asked: asked, Valid: time.Second}}, func() { left++ })
	if w := g.Renewed(coord.Window{Asked: asked.Add(-1), Valid: time.Hour}); w.Valid != time.Second || g.Info().Window != w || g.Info().Owner != "me" {
		t.Errorf("an answer that came late made the window %+v", w)
	}
	if w := g.Renewed(coord.Window{Asked: asked.Add(1), Valid: time.Minute}); w.Valid != time.Minute {
		t.Errorf("a renewal made the window %+v", w)
	}
	if err := g.Over("renewing"); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := lifetime.Release(t.Context(), s, g, func(context.Context) error { given++; return nil }); err != nil {
			t.Error(err)
		}
	}
	if left != 1 || given != 1 || !errors.Is(g.Err(), coord.ErrReleased) || !errors.Is(g.Over("renewing"), coord.ErrLost) {
		t.Errorf("left %d times, given back %d times, %v", left, given, g.Over("renewing"))
	}
	late := lifetime.NewGrant(coord.GrantInfo{}, func() {})
	s.Shut(errShut)
	if err := lifetime.Release(t.Context(), s, late, func(context.Context) error { return errOther }); err != nil || late.Err() != nil {
		t.Errorf("a release after the session was shut: %v, %v", err, late.Err())
	}
}
