package pgcoord

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/spawn"
)

// inbox is the bounded queue between a leader's connection and the handlers of its
// channels. Putting never blocks; run hands over.
type inbox struct {
	handlers map[string]func(context.Context, Notification)
	limit    int
	ctx      context.Context // ends with the grant
	quit     context.CancelFunc
	ready    chan struct{} // holds one element while something waits

	mu      sync.Mutex
	waiting []Notification
	missed  uint64 // dropped before the first that waits
}

func newInbox(ctx context.Context, o Options) *inbox {
	b := &inbox{handlers: map[string]func(context.Context, Notification){}, limit: o.Queue, ready: make(chan struct{}, 1)}
	b.ctx, b.quit = context.WithCancel(context.WithoutCancel(ctx))
	for _, l := range o.Channels {
		b.handlers[l.Channel] = l.Handle
	}
	return b
}

func (b *inbox) close() { b.quit() }

// put adds a notification, if there is a handler for it. When there is no room the oldest
// is dropped.
func (b *inbox) put(n *pgconn.Notification) {
	if b.handlers[n.Channel] == nil {
		return
	}
	b.mu.Lock()
	if len(b.waiting) == b.limit {
		b.missed++
		b.waiting = b.waiting[1:]
	}
	next := Notification{Channel: n.Channel, Payload: n.Payload, PID: n.PID}
	b.waiting = append(b.waiting, next)
	b.mu.Unlock()
	spawn.Wake(b.ready)
}

// take removes the first that waits; false: nothing does.
func (b *inbox) take() (Notification, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return Notification{}, false
	}
	n := b.waiting[0]
	b.waiting = b.waiting[1:]
	n.Missed, b.missed = b.missed, 0
	return n, true
}

// run calls the handlers until the grant ends.
func (b *inbox) run() {
	for {
		n, ok := b.take()
		switch {
		case b.ctx.Err() != nil:
			return
		case ok:
			b.handlers[n.Channel](b.ctx, n)
			continue
		}
		select {
		case <-b.ready:
		case <-b.ctx.Done():
			return
		}
	}
}
