package ydbtest

import (
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
)

// detach starts the expiry of a session that is attached through p.
func (t *tablet) detach(p *proxy, id uint64) {
	s := t.sessions[id]
	if s == nil || s.attached == nil || s.attached.proxy != p {
		return
	}
	t.expireAfter(s, s.timeout())
}

func (t *tablet) expireAfter(s *session, d time.Duration) {
	s.attached = nil
	s.forgetRequests()
	s.expiry = t.cluster.timers.set(t.cluster.now.Add(d), func() { t.deleteSession(s) })
}

func (t *tablet) stopSessionTimer(s *session) {
	t.cluster.timers.stop(s.expiry)
	s.expiry = nil
}

// forgetRequests drops watches and pending acquires without a message.
func (s *session) forgetRequests() {
	clear(s.slots)
	for sem, w := range s.watches {
		sem.disarm(w)
	}
	clear(s.watches)
}

// deleteSession ends a session that no stream has. It first releases what the session owns, and then takes its claims
// out of their queues.
func (t *tablet) deleteSession(s *session) {
	t.stopSessionTimer(s)
	s.attached = nil
	s.forgetRequests()
	for _, l := range s.links(s.owned) {
		t.removeOwner(l)
	}
	for _, l := range s.links(s.waiting) {
		t.removeWaiter(l)
	}
	delete(t.sessions, s.id)
}

// expire ends a session now, as if its timeout had run out. A stream that has the session fails first.
func (t *tablet) expire(s *session) {
	if a := s.attached; a != nil {
		a.proxy.evict(a, Ydb.StatusIds_SESSION_EXPIRED, "the session has expired")
	}
	t.deleteSession(s)
}
