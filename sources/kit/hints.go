package kit

import (
	"context"
	"coordtop/sources"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// OnScreen are the rows of one source that are on screen. It is immutable.
type OnScreen struct {
	Visible  []sources.Ref // the selected one may be among them
	Selected sources.Ref   // zero if none
}

// Shows reports whether a row is on screen.
func (s OnScreen) Shows(ref sources.Ref) bool {
	return ref == s.Selected || slices.Contains(s.Visible, ref)
}

// In returns the names of the rows on screen in one Space. selected is "" if the selected row is not there.
func (s OnScreen) In(space string) (visible []string, selected string) {
	visible = make([]string, 0, len(s.Visible)+1)
	for _, ref := range s.Visible {
		if ref.Space == space {
			visible = append(visible, ref.Name)
		}
	}
	if s.Selected.Space == space {
		selected = s.Selected.Name
	}
	return visible, selected
}

// Hints carry requests of the screen to a source: to read the rows on screen faster, and to read everything again now.
// A source that embeds them is a Focuser and a Refresher, and its goroutines read them. They outlive connections. The
// zero Hints have no requests. All methods are safe for concurrent use.
type Hints struct {
	screen    atomic.Pointer[OnScreen]
	refreshes atomic.Uint64

	mu      sync.Mutex
	changed chan struct{} // nil while no caller waits
}

// Focus implements Focuser.
func (h *Hints) Focus(visible []sources.Ref, selected sources.Ref) {
	h.screen.Store(&OnScreen{visible, selected})
	h.wake()
}

// Refresh implements Refresher.
func (h *Hints) Refresh() {
	h.refreshes.Add(1)
	h.wake()
}

func (h *Hints) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// Changed returns the channel that is closed by the next Focus or Refresh. A caller must get the channel before it
// reads the hints, so that it misses no change in between.
func (h *Hints) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// OnScreen returns the rows of the last Focus.
func (h *Hints) OnScreen() OnScreen {
	if s := h.screen.Load(); s != nil {
		return *s
	}
	return OnScreen{}
}

// Refreshed reports whether there was a Refresh after the number served, and updates served.
func (h *Hints) Refreshed(served *uint64) bool {
	n := h.refreshes.Load()
	more := n != *served
	*served = n
	return more
}

// Rest waits for a pause. It ends early after a Refresh that was not served, when done is closed, and when early
// returns true after a new focus. early may be nil. When ctx ends, it returns the error of ctx.
func (h *Hints) Rest(ctx context.Context, pause time.Duration, served *uint64, done <-chan struct{}, early func() bool) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		changed := h.Changed()
		if h.Refreshed(served) || early != nil && early() {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
