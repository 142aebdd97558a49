package ydbtest

import (
	"cmp"
	"slices"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

// watch is armed by a describe and fires once. A session has at most one watch on a semaphore.
type watch struct {
	session      *session
	to           slot
	data, owners bool
}

func (sem *semaphore) disarm(w *watch) {
	sem.watches = slices.DeleteFunc(sem.watches, func(o *watch) bool { return o == w })
}

// describe answers with the semaphore. With watch flags it arms a watch; without them it does not change an armed one.
func (t *tablet) describe(s *session, st *stream, req *pb.SessionRequest_DescribeSemaphore) {
	to := slot{st, req.GetReqId()}
	result := &pb.SessionResponse_DescribeSemaphoreResult{ReqId: req.GetReqId()}
	sem := t.semaphores[req.GetName()]
	switch {
	case st.rights&Read == 0:
		result.Status, result.Issues = noRead.reply()
	case sem == nil:
		result.Status, result.Issues = noSemaphore.reply()
	default:
		result.Status = Ydb.StatusIds_SUCCESS
		result.SemaphoreDescription = sem.description(req.GetIncludeOwners(), req.GetIncludeWaiters())
		if !t.cluster.ownersInOrder {
			scatter(result.SemaphoreDescription.GetOwners())
		}
		result.WatchAdded = req.GetWatchData() || req.GetWatchOwners()
		if old := s.watches[sem]; old != nil && result.WatchAdded {
			sem.disarm(old)
			t.sendChanged(old.to, false, false)
		}
	}
	if result.WatchAdded {
		w := &watch{session: s, to: to, data: req.GetWatchData(), owners: req.GetWatchOwners()}
		s.watches[sem] = w
		sem.watches = append(sem.watches, w)
	}
	t.cluster.reply(st, result)
}

// description returns the semaphore as a message, with its owners by order id, the order in which the queue is served.
func (sem *semaphore) description(owners, waiters bool) *pb.SemaphoreDescription {
	d := &pb.SemaphoreDescription{
		Name: sem.name, Data: sem.data, Limit: sem.limit, Ephemeral: sem.ephemeral, Count: sem.taken,
	}
	if owners {
		for _, l := range sem.owners {
			d.Owners = append(d.Owners, l.description())
		}
	}
	if waiters {
		for _, l := range sem.waiters {
			d.Waiters = append(d.Waiters, l.description())
		}
	}
	return d
}

// scatter puts owners into an arbitrary order, which is always the same. The service keeps them in a hash set, so
// clients must not rely on an order.
func scatter(owners []*pb.SemaphoreSession) {
	hash := func(o *pb.SemaphoreSession) uint64 { return o.GetOrderId() * 0x9e3779b97f4a7c15 }
	slices.SortFunc(owners, func(a, b *pb.SemaphoreSession) int { return cmp.Compare(hash(a), hash(b)) })
}

func (l *link) description() *pb.SemaphoreSession {
	return &pb.SemaphoreSession{
		SessionId: l.session.id, TimeoutMillis: l.timeoutMillis, Count: l.count, Data: l.data, OrderId: l.orderID,
	}
}

// notify fires every watch that asked for one of the changes, each once.
func (t *tablet) notify(sem *semaphore, dataChanged, ownersChanged bool) {
	armed := sem.watches
	sem.watches = nil
	for _, w := range armed {
		if (!dataChanged || !w.data) && (!ownersChanged || !w.owners) {
			sem.watches = append(sem.watches, w)
			continue
		}
		delete(w.session.watches, sem)
		t.sendChanged(w.to, dataChanged, ownersChanged)
	}
}

func (t *tablet) sendChanged(to slot, dataChanged, ownersChanged bool) {
	t.cluster.reply(to.stream, &pb.SessionResponse_DescribeSemaphoreChanged{ReqId: to.reqID, DataChanged: dataChanged, OwnersChanged: ownersChanged})
}
