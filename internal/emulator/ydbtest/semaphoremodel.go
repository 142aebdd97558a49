package ydbtest

import (
	"bytes"
	"slices"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

const (
	longestName = 1024
	largestData = 1 << 20
)

// semaphore is a semaphore with its owners and its queue.
type semaphore struct {
	name      string
	data      []byte
	limit     uint64
	taken     uint64
	ephemeral bool
	owners    []*link
	waiters   []*link // ascending by order id
	watches   []*watch
}

// link is the claim or the grant of one session at one semaphore.
type link struct {
	session       *session
	semaphore     *semaphore
	orderID       uint64
	timeoutMillis uint64 // of the latest claim; 0 once granted
	count         uint64
	data          []byte
	timer         *timer // nil: the claim waits without end
}

func (sem *semaphore) fits(count uint64) bool { return count <= sem.limit-sem.taken }

func (sem *semaphore) empty() bool { return len(sem.owners) == 0 && len(sem.waiters) == 0 }

func (sem *semaphore) isFirst(l *link) bool { return len(sem.waiters) > 0 && sem.waiters[0] == l }

func (t *tablet) tryCreate(rights Rights, req *pb.SessionRequest_CreateSemaphore) *refusal {
	switch {
	case rights&Write == 0:
		return noWrite
	case req.GetLimit() == 0:
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the limit must be above zero"}
	case len(req.GetName()) > longestName:
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the name is too long"}
	case len(req.GetData()) > largestData:
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the data is too large"}
	}
	if sem := t.semaphores[req.GetName()]; sem != nil {
		if sem.ephemeral {
			return &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "an ephemeral semaphore has this name"}
		}
		return &refusal{Ydb.StatusIds_ALREADY_EXISTS, "the semaphore exists already"}
	}
	if len(t.semaphores) >= t.cluster.limits.Semaphores {
		return &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "there are too many semaphores"}
	}
	t.semaphores[req.GetName()] = &semaphore{name: req.GetName(), data: req.GetData(), limit: req.GetLimit()}
	return nil
}

func (t *tablet) setData(req *pb.SessionRequest_UpdateSemaphore) {
	sem := t.semaphores[req.GetName()]
	if bytes.Equal(sem.data, req.GetData()) {
		return
	}
	sem.data = req.GetData()
	t.notify(sem, true, false)
}

func (t *tablet) tryUpdate(rights Rights, req *pb.SessionRequest_UpdateSemaphore) *refusal {
	switch {
	case rights&Write == 0:
		return noWrite
	case len(req.GetName()) > longestName:
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the name is too long"}
	case len(req.GetData()) > largestData:
		return &refusal{Ydb.StatusIds_BAD_REQUEST, "the data is too large"}
	case t.semaphores[req.GetName()] == nil:
		return noSemaphore
	}
	return nil
}

func (t *tablet) tryDelete(rights Rights, req *pb.SessionRequest_DeleteSemaphore) *refusal {
	sem := t.semaphores[req.GetName()]
	switch {
	case rights&Erase == 0:
		return noErase
	case sem == nil:
		return noSemaphore
	case sem.ephemeral:
		return &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "an ephemeral semaphore cannot be deleted"}
	case !sem.empty() && !req.GetForce():
		return &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "the semaphore has owners or waiters"}
	}
	t.forceDelete(sem)
	return nil
}

// forceDelete removes a semaphore. Its owners receive no message.
func (t *tablet) forceDelete(sem *semaphore) {
	for _, l := range sem.owners {
		delete(l.session.owned, sem)
	}
	for _, l := range sem.waiters {
		t.answerSlot(l.session, sem, false, &refusal{Ydb.StatusIds_ABORTED, "the semaphore was deleted"})
		t.cluster.timers.stop(l.timer)
		delete(l.session.waiting, sem)
	}
	t.vanish(sem)
}

// vanish notifies every watcher and removes the semaphore from the node.
func (t *tablet) vanish(sem *semaphore) {
	t.notify(sem, true, true)
	delete(t.semaphores, sem.name)
}

// removeOwner ends a link of an owner and serves the queue.
func (t *tablet) removeOwner(l *link) {
	sem := l.semaphore
	delete(l.session.owned, sem)
	sem.taken -= l.count
	sem.owners = slices.DeleteFunc(sem.owners, func(o *link) bool { return o == l })
	if sem.ephemeral && sem.empty() {
		t.vanish(sem)
		return
	}
	t.serve(sem, true)
}

// removeWaiter takes a claim out of the queue, and serves the queue if it was the first.
func (t *tablet) removeWaiter(l *link) {
	sem := l.semaphore
	first := sem.isFirst(l)
	t.cluster.timers.stop(l.timer)
	delete(l.session.waiting, sem)
	sem.waiters = slices.DeleteFunc(sem.waiters, func(w *link) bool { return w == l })
	if first {
		t.serve(sem, false)
	}
}

// serve grants permits to the queue in order for as long as its first claim fits.
func (t *tablet) serve(sem *semaphore, ownersChanged bool) {
	for len(sem.waiters) > 0 && sem.fits(sem.waiters[0].count) {
		l := sem.waiters[0]
		sem.waiters = slices.Delete(sem.waiters, 0, 1)
		t.cluster.timers.stop(l.timer)
		l.timer, l.timeoutMillis = nil, 0
		delete(l.session.waiting, sem)
		l.session.owned[sem] = l
		sem.owners = append(sem.owners, l)
		sem.taken += l.count
		t.answerSlot(l.session, sem, true, nil)
		ownersChanged = true
	}
	t.notify(sem, false, ownersChanged)
}
