package ydbtest

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

// The tablet layer, after ydb/core/kesus/tablet.

// tablet is the state of one coordination node.
type tablet struct {
	cluster     *cluster
	config      *pb.Config
	lastSession uint64
	lastOrder   uint64 // one counter for all semaphores of the node
	sessions    map[uint64]*session
	semaphores  map[string]*semaphore
	proxies     map[int]*proxy // by front end
}

func newTablet(c *cluster, config *pb.Config) *tablet {
	return &tablet{
		cluster: c, config: config,
		sessions: map[uint64]*session{}, semaphores: map[string]*semaphore{}, proxies: map[int]*proxy{},
	}
}

func (t *tablet) proxy(frontEnd int) *proxy {
	p := t.proxies[frontEnd]
	if p == nil {
		p = &proxy{tablet: t, sessions: map[uint64]*attachment{}}
		t.proxies[frontEnd] = p
	}
	return p
}

// handle executes a request about a semaphore. It checks rights first.
func (t *tablet) handle(st *stream, req *pb.SessionRequest) {
	s := t.sessions[st.sessionID]
	switch r := req.GetRequest().(type) {
	case *pb.SessionRequest_AcquireSemaphore_:
		if st.rights&Write == 0 {
			t.replyAcquire(slot{st, r.AcquireSemaphore.GetReqId()}, false, noWrite)
			return
		}
		t.acquire(s, st, r.AcquireSemaphore)
	case *pb.SessionRequest_ReleaseSemaphore_:
		if st.rights&Write == 0 {
			t.replyRelease(slot{st, r.ReleaseSemaphore.GetReqId()}, false, noWrite)
			return
		}
		t.release(s, slot{st, r.ReleaseSemaphore.GetReqId()}, r.ReleaseSemaphore.GetName())
	case *pb.SessionRequest_DescribeSemaphore_:
		t.describe(s, st, r.DescribeSemaphore)
	case *pb.SessionRequest_CreateSemaphore_:
		status, text := t.tryCreate(st.rights, r.CreateSemaphore).reply()
		t.cluster.reply(st, &pb.SessionResponse_CreateSemaphoreResult{ReqId: r.CreateSemaphore.GetReqId(), Status: status, Issues: text})
	case *pb.SessionRequest_UpdateSemaphore_:
		err := t.tryUpdate(st.rights, r.UpdateSemaphore)
		status, text := err.reply()
		t.cluster.reply(st, &pb.SessionResponse_UpdateSemaphoreResult{ReqId: r.UpdateSemaphore.GetReqId(), Status: status, Issues: text})
		if err == nil {
			t.setData(r.UpdateSemaphore)
		}
	case *pb.SessionRequest_DeleteSemaphore_:
		status, text := t.tryDelete(st.rights, r.DeleteSemaphore).reply()
		t.cluster.reply(st, &pb.SessionResponse_DeleteSemaphoreResult{ReqId: r.DeleteSemaphore.GetReqId(), Status: status, Issues: text})
	}
}

// restart does what clients see when the tablet dies and starts again: every stream fails, every session gets its
// timeout and the grace period, the timers of queues start again, and sequence numbers, watches and pending requests
// are forgotten.
func (t *tablet) restart() {
	t.failStreams(Ydb.StatusIds_UNAVAILABLE, "the link to the tablet broke")
	for _, id := range sortedKeys(t.sessions) {
		s := t.sessions[id]
		s.seqNo = 0
		t.stopSessionTimer(s)
		t.expireAfter(s, s.timeout()+t.grace())
		for _, l := range s.links(s.waiting) {
			t.startQueueTimer(l)
		}
	}
}

// drop fails every stream and stops every timer of a node that was removed.
func (t *tablet) drop() {
	t.failStreams(Ydb.StatusIds_UNAVAILABLE, "the link to the tablet broke")
	for _, s := range t.sessions {
		t.stopSessionTimer(s)
		for _, l := range s.waiting {
			t.cluster.timers.stop(l.timer)
		}
	}
}

func (t *tablet) failStreams(code Ydb.StatusIds_StatusCode, text string) {
	for _, frontEnd := range sortedKeys(t.proxies) {
		t.proxies[frontEnd].failAll(code, text)
	}
}

// loseRegistration makes the tablet forget a proxy: its streams fail, its sessions are detached and can be attached
// again.
func (t *tablet) loseRegistration(frontEnd int) {
	p := t.proxy(frontEnd)
	p.failAll(Ydb.StatusIds_BAD_SESSION, "the proxy is not registered any more")
	for _, id := range sortedKeys(t.sessions) {
		t.detach(p, id)
	}
}

// grace returns the time that a session gets in addition to its timeout when the tablet starts.
func (t *tablet) grace() time.Duration {
	selfCheck := orDefault(t.config.GetSelfCheckPeriodMillis(), time.Second)
	selfCheck = min(max(selfCheck, 500*time.Millisecond), 10*time.Second)
	grace := orDefault(t.config.GetSessionGracePeriodMillis(), 10*time.Second)
	return max(min(grace, 30*time.Second), selfCheck+time.Second)
}

func orDefault(millis uint32, unset time.Duration) time.Duration {
	if millis == 0 {
		return unset
	}
	return time.Duration(millis) * time.Millisecond
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
