package operate

import (
	"context"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// placeWithin bounds the wait for our watch to show a place in a queue. The place is then published without its number.
const placeWithin = 2 * time.Second

// enqueue takes a place in the queue of the target, publishes it, and waits there once the person wants that. The
// caller must leave the session after an error, which gives the place up.
func (w *wait) enqueue(s *coord.Session, r action.Request) (lease *coord.Lease, err error) {
	var place *coord.QueuePlace
	if r.Target.Kind == sources.KindSemaphore {
		place, err = semaphore(s, r, w.h.data).Enqueue(w.n.ctx, r.Permits)
	} else {
		place, err = mutex(s, r, w.h.data).Enqueue(w.n.ctx)
	}
	if err != nil {
		return nil, err
	}
	w.n.watch(w.n.ctx, placeWithin, func(row *sources.Row, _ []sources.Event) bool {
		w.o.mu.Lock()
		defer w.o.mu.Unlock()
		place, _ := w.h.placeLocked(row, w.h.label)
		return place > 0 || owns(row, s.ID()) != nil
	})
	w.enqueued(true)
	select {
	case <-r.Proceed:
	case <-w.n.ctx.Done():
		err = w.n.ctx.Err()
	case <-s.Context().Done():
		err = context.Cause(s.Context())
	}
	w.enqueued(false)
	if err != nil {
		return nil, err
	}
	lease, ok, err := place.Wait(w.n.ctx)
	if err == nil && !ok {
		err = fmt.Errorf("the place is gone: %w", coord.ErrNotAcquired)
	}
	return lease, err
}

func (w *wait) enqueued(on bool) {
	w.o.mu.Lock()
	defer w.o.mu.Unlock()
	w.h.enqueued = on
	w.o.placesLocked()
	w.o.publishLocked()
}
