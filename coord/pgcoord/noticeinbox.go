package pgcoord

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// inbox is the bounded queue between a leader's connection and the handlers of its
// channels. put never blocks; run calls the handlers.
type inbox struct {
	handlers map[string]func(context.Context, Notification)
	ctx      context.Context // ends with the grant
	close    context.CancelFunc
	waiting  chan numbered
	last     uint64 // number of the last notification from put
}

// numbered is a queued notification with its number. A gap in the numbers means dropped notifications.
type numbered struct {
	Notification
	number uint64
}

func newInbox(ctx context.Context, o Options) *inbox {
	b := &inbox{handlers: map[string]func(context.Context, Notification){}, waiting: make(chan numbered, o.Queue)}
	b.ctx, b.close = context.WithCancel(context.WithoutCancel(ctx))
	for _, l := range o.Channels {
		b.handlers[l.Channel] = l.Handle
	}
	return b
}

// put adds a notification, if there is a handler for it. If there is no room, it drops the oldest. Only one goroutine
// at a time may call it.
func (b *inbox) put(n *pgconn.Notification) {
	if b.handlers[n.Channel] == nil {
		return
	}
	b.last++
	next := numbered{Notification{Channel: n.Channel, Payload: n.Payload, PID: n.PID}, b.last}
	for {
		select {
		case b.waiting <- next:
			return
		default:
		}
		select {
		case <-b.waiting:
		default: // the handler has just made room
		}
	}
}

// run calls the handlers until the grant ends.
func (b *inbox) run() {
	for last := uint64(0); ; {
		select {
		case n := <-b.waiting:
			n.Missed = n.number - last - 1
			last = n.number
			if b.ctx.Err() == nil {
				b.handlers[n.Channel](b.ctx, n.Notification)
			}
		case <-b.ctx.Done():
			return
		}
	}
}
