package ydbcoord

import (
	"context"
	"sync"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/internal/ground/spawn"
)

// stream is one attached Session call. Its messages wait in a queue of its own, so that a service that does not read
// blocks nobody who has the session's mutex, and a message for this stream, such as a pong, is never sent on another.
type stream struct {
	rpc    Ydb_Coordination_V1.CoordinationService_SessionClient
	cancel context.CancelFunc
	sender sync.WaitGroup

	mu    sync.Mutex
	queue []*pb.SessionRequest
	wake  chan struct{} // has room for one element; filled when the queue is not empty
}

// newStream starts the goroutine that sends; end stops it.
func newStream(rpc Ydb_Coordination_V1.CoordinationService_SessionClient, cancel context.CancelFunc) *stream {
	st := &stream{rpc: rpc, cancel: cancel, wake: make(chan struct{}, 1)}
	spawn.Go(rpc.Context(), &st.sender, func() {
		if spawn.Call(rpc.Context(), st.send) != nil {
			cancel() // this ends the goroutine that reads
		}
	})
	return st
}

func (st *stream) put(messages ...*pb.SessionRequest) {
	st.mu.Lock()
	st.queue = append(st.queue, messages...)
	st.mu.Unlock()
	spawn.Wake(st.wake)
}

// send sends the queue until the call ends. The goroutine that reads receives the error of the call.
func (st *stream) send() error {
	for {
		select {
		case <-st.wake:
		case <-st.rpc.Context().Done():
			return nil
		}
		st.mu.Lock()
		queue := st.queue
		st.queue = nil
		st.mu.Unlock()
		for _, m := range queue {
			if st.rpc.Send(m) != nil {
				return nil
			}
		}
	}
}
