package sources

import (
	"context"
	"time"
)

// PublishNow makes a State of what was told so far, for tests that are not about pace.
func (h *Hub) PublishNow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.publishLocked(time.Now())
}

// NewHubThat is NewHub with another answer to how far the clocks have parted.
func NewHubThat(ctx context.Context, drift func() time.Duration) *Hub {
	return newHub(ctx, HubOptions{}, drift)
}
