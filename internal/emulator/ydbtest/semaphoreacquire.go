package ydbtest

import (
	"bytes"
	"math"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

const longestWait = 24 * time.Hour // of a claim, unless it waits without end (MaxUint64)

func (t *tablet) acquire(s *session, st *stream, req *pb.SessionRequest_AcquireSemaphore) {
	to := slot{st, req.GetReqId()}
	sem, err := t.semaphoreFor(req)
	if err != nil {
		t.replyAcquire(to, false, err)
		return
	}
	switch {
	case s.owned[sem] != nil:
		t.reacquire(s.owned[sem], to, req)
	case s.waiting[sem] != nil:
		t.supersede(s.waiting[sem], to, req)
	default:
		t.enqueue(s, sem, to, req)
	}
}

// semaphoreFor makes the checks of a claim in the service's order. It returns the claim's semaphore, which it makes if
// the claim is for an ephemeral one.
func (t *tablet) semaphoreFor(req *pb.SessionRequest_AcquireSemaphore) (*semaphore, *refusal) {
	wait := req.GetTimeoutMillis()
	sem := t.semaphores[req.GetName()]
	switch {
	case req.GetCount() == 0:
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the count must be above zero"}
	case wait != math.MaxUint64 && wait > uint64(longestWait/time.Millisecond):
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the timeout is out of range"}
	case len(req.GetData()) > largestData:
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the data is too large"}
	case sem == nil && !req.GetEphemeral():
		return nil, noSemaphore
	case sem != nil && sem.ephemeral != req.GetEphemeral():
		return nil, &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "the semaphore is of the other kind"}
	case sem != nil && req.GetCount() > sem.limit:
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the count is above the limit"}
	case sem == nil && len(t.semaphores) >= t.cluster.limits.Semaphores:
		return nil, &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "there are too many semaphores"}
	}
	if sem == nil {
		sem = &semaphore{name: req.GetName(), limit: math.MaxUint64, ephemeral: true}
		t.semaphores[sem.name] = sem
	}
	return sem, nil
}

// reacquire handles a claim of an owner, which may give permits back and change the data.
func (t *tablet) reacquire(l *link, to slot, req *pb.SessionRequest_AcquireSemaphore) {
	if req.GetCount() > l.count {
		t.replyAcquire(to, false, &refusal{Ydb.StatusIds_BAD_REQUEST, "the count cannot grow"})
		return
	}
	changed := !bytes.Equal(l.data, req.GetData())
	l.data = req.GetData()
	t.replyAcquire(to, true, nil)
	if req.GetCount() == l.count {
		t.notify(l.semaphore, false, changed)
		return
	}
	l.semaphore.taken -= l.count - req.GetCount()
	l.count = req.GetCount()
	t.serve(l.semaphore, true)
}

// supersede handles a claim of a waiter, which replaces the earlier claim at its place in the queue.
func (t *tablet) supersede(l *link, to slot, req *pb.SessionRequest_AcquireSemaphore) {
	if req.GetCount() > l.count {
		t.replyAcquire(to, false, &refusal{Ydb.StatusIds_BAD_REQUEST, "the count cannot grow"})
		return
	}
	sem := l.semaphore
	t.answerSlot(l.session, sem, false, superseded)
	if req.GetTimeoutMillis() == 0 && (!sem.isFirst(l) || !sem.fits(req.GetCount())) {
		t.replyAcquire(to, false, nil)
		t.removeWaiter(l)
		return
	}
	l.count = req.GetCount()
	l.data = req.GetData()
	t.await(l, to, req)
}

var superseded = &refusal{Ydb.StatusIds_ABORTED, "another request of this session came in between"}

func (t *tablet) enqueue(s *session, sem *semaphore, to slot, req *pb.SessionRequest_AcquireSemaphore) {
	if req.GetTimeoutMillis() == 0 && (len(sem.waiters) > 0 || !sem.fits(req.GetCount())) {
		t.replyAcquire(to, false, nil)
		return
	}
	t.lastOrder++
	l := &link{session: s, semaphore: sem, orderID: t.lastOrder, count: req.GetCount(), data: req.GetData()}
	s.waiting[sem] = l
	sem.waiters = append(sem.waiters, l)
	t.await(l, to, req)
}

// await serves the queue if l is its first, and sends the notice that the claim waits if it does.
func (t *tablet) await(l *link, to slot, req *pb.SessionRequest_AcquireSemaphore) {
	sem := l.semaphore
	l.session.slots[sem] = to
	l.timeoutMillis = req.GetTimeoutMillis()
	if sem.isFirst(l) {
		t.serve(sem, false)
	}
	if l.session.waiting[sem] != l {
		return
	}
	t.startQueueTimer(l)
	t.cluster.reply(to.stream, &pb.SessionResponse_AcquireSemaphorePending{ReqId: to.reqID})
}

// startQueueTimer starts or restarts the timer of a claim that waits. The timer also runs while the session is
// detached.
func (t *tablet) startQueueTimer(l *link) {
	t.cluster.timers.stop(l.timer)
	l.timer = nil
	if l.timeoutMillis == math.MaxUint64 {
		return
	}
	wait := time.Duration(l.timeoutMillis) * time.Millisecond
	l.timer = t.cluster.timers.set(t.cluster.now.Add(wait), func() {
		t.answerSlot(l.session, l.semaphore, false, nil)
		t.removeWaiter(l)
	})
}

// release gives permits back or takes a claim out of the queue.
func (t *tablet) release(s *session, to slot, name string) {
	sem := t.semaphores[name]
	switch {
	case sem != nil && s.owned[sem] != nil:
		t.replyRelease(to, true, nil)
		t.removeOwner(s.owned[sem])
	case sem != nil && s.waiting[sem] != nil:
		t.answerSlot(s, sem, false, superseded)
		t.replyRelease(to, true, nil)
		t.removeWaiter(s.waiting[sem])
	default:
		t.replyRelease(to, false, nil)
	}
}

// answerSlot answers the pending acquire of a session, if the stream that sent it is still open.
func (t *tablet) answerSlot(s *session, sem *semaphore, acquired bool, err *refusal) {
	to, ok := s.slots[sem]
	if !ok {
		return
	}
	delete(s.slots, sem)
	t.replyAcquire(to, acquired, err)
}

func (t *tablet) replyAcquire(to slot, acquired bool, err *refusal) {
	status, text := err.reply()
	t.cluster.reply(to.stream, &pb.SessionResponse_AcquireSemaphoreResult{ReqId: to.reqID, Status: status, Issues: text, Acquired: acquired})
}

func (t *tablet) replyRelease(to slot, released bool, err *refusal) {
	status, text := err.reply()
	t.cluster.reply(to.stream, &pb.SessionResponse_ReleaseSemaphoreResult{ReqId: to.reqID, Status: status, Issues: text, Released: released})
}
