package coord

import (
	"context"
	"sync"

	"coordtop/internal/ground/spawn"
)

// notifier hands state changes to OnState one after the other, in the order in which
// they happened. A slow OnState delays nobody but itself: a goroutine runs while
// there is something to hand over, and flush waits for it.
type notifier struct {
	f     func(StateChange) // nil: nobody wants to know
	start func(func())      // starts a goroutine

	mu    sync.Mutex
	queue []StateChange
	busy  chan struct{} // closed when the goroutine that hands over is done; nil: none runs
}

// newNotifier starts nothing. A panic of OnState goes to the handler of ctx.
func newNotifier(ctx context.Context, o SessionOptions) *notifier {
	return &notifier{f: o.OnState, start: func(f func()) { spawn.Go(ctx, nil, f) }}
}

func (t *notifier) notify(c StateChange) {
	if t.f == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue, c)
	if t.busy == nil {
		t.busy = make(chan struct{})
		busy := t.busy
		t.start(func() { t.handOver(busy) })
	}
}

func (t *notifier) handOver(done chan struct{}) {
	defer close(done)
	for {
		t.mu.Lock()
		if len(t.queue) == 0 {
			t.busy = nil
			t.mu.Unlock()
			return
		}
		next := t.queue[0]
		t.queue = t.queue[1:]
		t.mu.Unlock()
		t.f(next)
	}
}

// flush waits until everything reported so far has been handed over.
func (t *notifier) flush() {
	t.mu.Lock()
	busy := t.busy
	t.mu.Unlock()
	if busy != nil {
		<-busy
	}
}

// health works out a session's state from what is known of its renewals, and reports
// each change of it.
type health struct {
	t *notifier

	mu       sync.Mutex
	state    State
	doubtful map[*keeper]error // whose last renewal failed
}

func newHealth(t *notifier) *health {
	return &health{t: t, doubtful: map[*keeper]error{}}
}

func (h *health) now() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// set changes the state. Nothing is reported after StateEnded.
func (h *health) set(s State, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setLocked(s, why)
}

func (h *health) setLocked(s State, why error) {
	if h.state == s || h.state == StateEnded {
		return
	}
	h.state = s
	h.t.notify(StateChange{State: s, Err: why})
}

// failed: a renewal did not get its answer.
func (h *health) failed(k *keeper, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubtful[k] = err
	h.setLocked(StateDoubtful, err)
}

// confirmed: the service answered. k is nil where the answer was not to a renewal.
func (h *health) confirmed(k *keeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.doubtful, k)
	if h.state == StateDoubtful && len(h.doubtful) == 0 {
		h.setLocked(StateOpen, nil)
	}
}

// left: nothing more will come of k. That is no news of the service: a session that
// is doubtful stays so until an answer comes, to whatever.
func (h *health) left(k *keeper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.doubtful, k)
}
