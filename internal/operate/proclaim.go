package operate

import (
	"context"
	"slices"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/sources"
)

// proclaim runs in the goroutine of a run, and replaces our data.
func (n *run) proclaim(h *holding, b *Backend) {
	n.op.mu.Lock()
	term, data := h.term, b.data(n.Request)
	n.op.mu.Unlock()
	ctx, cancel := context.WithTimeout(n.ctx, replyIn)
	defer cancel()
	if err := n.ask(func() error { return term.Proclaim(ctx, data) }); err != nil {
		text := clean(err.Error())
		if !settled(err) {
			text = calledOff(n, text) + "; whether it was written is not known"
		}
		n.finish(action.Failed, text, sources.OwnerRef{})
		return
	}
	n.op.mu.Lock()
	h.data = slices.Clone(data)
	n.op.mu.Unlock()
	n.reach(action.Sent, "proclaimed")
	us := sources.OwnerRef{ID: term.Lease().Owner(), Fence: term.Lease().Fence()}
	seen := n.watch(n.ctx, n.op.options.Patience, func(row *sources.Row, events []sources.Event) bool {
		for i := range events { // they come before the state that has them
			if e := &events[i]; e.Kind == sources.EventProclaimed && e.Owner.ID == us.ID {
				us.Label = e.Owner.Label
				return true
			}
		}
		w := owns(row, us.ID)
		if w == nil {
			return false
		}
		us.Label = w.Label
		return w.Data.Shows(data)
	})
	n.watched(seen, "proclaimed", us)
}

// settled reports whether an error of a proclamation makes clear that nothing, or what, was written.
func settled(err error) bool {
	return failure.IsAny(err, coord.ErrLost, coord.ErrExpired, coord.ErrReleased, coord.ErrClosed, coord.ErrUnsupported, coord.ErrInvalid, coord.ErrDataTooLong)
}
