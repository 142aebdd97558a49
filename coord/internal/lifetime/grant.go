package lifetime

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"coordtop/coord"
)

// Grant is the Life of a session's grant, and its GrantInfo.
type Grant struct {
	*Life
	leave func() // removes the grant from the session

	mu   sync.Mutex
	info coord.GrantInfo
}

// NewGrant returns a live grant. Its end calls leave.
func NewGrant(info coord.GrantInfo, leave func()) *Grant {
	return &Grant{Life: NewLife(), info: info, leave: leave}
}

// Info implements coord.Grant.
func (g *Grant) Info() coord.GrantInfo {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.info
}

// Renewed stores the window of a renewal, unless it has a later one, and returns the latest.
func (g *Grant) Renewed(w coord.Window) coord.Window {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.Asked.After(g.info.Asked) {
		g.info.Window = w
	}
	return g.info.Window
}

// End ends the grant on our side and removes it from the session. It reports whether this call ended it.
func (g *Grant) End(cause error) bool {
	first := g.Finish(cause)
	if first {
		g.leave()
	}
	return first
}

// Over returns the error of a call after the end, with the prefix verb, or nil before the end.
func (g *Grant) Over(verb string) error {
	switch err := g.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, coord.ErrLost):
		return fmt.Errorf("%s: %w", verb, err)
	default:
		return fmt.Errorf("%s: %w: %w", verb, coord.ErrLost, err)
	}
}

// Release ends g and calls giveBack. It does nothing if the grant has ended already, or if the session is shut, because
// the session then releases its grants itself.
func Release[G comparable](ctx context.Context, s *Session[G], g *Grant, giveBack func(context.Context) error) error {
	ctx, leave, err := s.Enter(ctx)
	if err != nil {
		return nil
	}
	defer leave()
	if !g.End(fmt.Errorf("released by us: %w", coord.ErrReleased)) {
		return nil
	}
	return giveBack(ctx)
}
