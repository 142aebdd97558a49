package ydbtest

import (
	"context"
	"sync"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc/status"
)

// outbox is the queue in front of one stream. It has no limit, so that a client that
// does not read holds up nobody else.
type outbox struct {
	mu    sync.Mutex
	queue []parcel
	ready chan struct{} // has room for one; filled when the queue is not empty
}

// parcel is a message or the end of the stream, and when it was ready to be sent.
type parcel struct {
	msg  *pb.SessionResponse
	end  *status.Status
	made time.Time
}

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

func (o *outbox) put(p parcel) {
	o.mu.Lock()
	o.queue = append(o.queue, p)
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// take waits for the next parcels.
func (o *outbox) take(ctx context.Context) ([]parcel, error) {
	for {
		o.mu.Lock()
		queue := o.queue
		o.queue = nil
		o.mu.Unlock()
		if len(queue) > 0 {
			return queue, nil
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
