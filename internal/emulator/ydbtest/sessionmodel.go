package ydbtest

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

const (
	longestSession     = 30 * time.Minute
	longestDescription = 1024
	longestKey         = 16
)

// session is a client's presence on a coordination node. It has at most one link to each semaphore, as an owner or as a
// waiter.
type session struct {
	id            uint64
	timeoutMillis uint64
	description   string
	key           []byte // empty: any client may take the session over
	owned         map[*semaphore]*link
	waiting       map[*semaphore]*link
	slots         map[*semaphore]slot   // pending acquires
	watches       map[*semaphore]*watch // armed ones

	attached *attachment // as far as the tablet knows; the stream may be gone (see proxy.attach)
	seqNo    uint64
	expiry   *timer
}

// slot identifies the request that an answer belongs to.
type slot struct {
	stream *stream
	reqID  uint64
}

func (s *session) timeout() time.Duration {
	return time.Duration(s.timeoutMillis) * time.Millisecond
}

func (s *session) links(of map[*semaphore]*link) []*link {
	return slices.SortedFunc(maps.Values(of), func(a, b *link) int { return cmp.Compare(a.orderID, b.orderID) })
}

// attach gives a session to an attachment. It makes the checks in the service's order.
func (t *tablet) attach(a *attachment, start *pb.SessionRequest_SessionStart) (*session, *refusal) {
	switch {
	case start.GetTimeoutMillis() > uint64(longestSession/time.Millisecond):
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the session timeout is out of range"}
	case len(start.GetDescription()) > longestDescription:
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the description is too long"}
	case len(start.GetProtectionKey()) > longestKey:
		return nil, &refusal{Ydb.StatusIds_BAD_REQUEST, "the protection key is too long"}
	}
	s, err := t.sessionFor(start)
	if err != nil {
		return nil, err
	}
	if old := s.attached; old != nil && old.proxy != a.proxy {
		old.proxy.evict(old, Ydb.StatusIds_BAD_SESSION, "a client of another front end took the session")
	}
	t.stopSessionTimer(s)
	s.forgetRequests()
	s.attached = a
	s.seqNo = start.GetSeqNo()
	s.timeoutMillis = start.GetTimeoutMillis()
	s.description = start.GetDescription()
	return s, nil
}

func (t *tablet) sessionFor(start *pb.SessionRequest_SessionStart) (*session, *refusal) {
	if id := start.GetSessionId(); id != 0 {
		s := t.sessions[id]
		switch {
		case s == nil:
			return nil, &refusal{Ydb.StatusIds_SESSION_EXPIRED, "there is no such session"}
		case start.GetSeqNo() < s.seqNo:
			return nil, &refusal{Ydb.StatusIds_BAD_SESSION, "the attach is out of sequence"}
		case len(s.key) > 0 && !bytes.Equal(s.key, start.GetProtectionKey()):
			return nil, &refusal{Ydb.StatusIds_BAD_SESSION, "the protection key differs"}
		}
		return s, nil
	}
	if len(t.sessions) >= t.cluster.limits.Sessions {
		return nil, &refusal{Ydb.StatusIds_PRECONDITION_FAILED, "there are too many sessions"}
	}
	t.lastSession++
	s := &session{
		id: t.lastSession, key: start.GetProtectionKey(),
		owned: map[*semaphore]*link{}, waiting: map[*semaphore]*link{},
		slots: map[*semaphore]slot{}, watches: map[*semaphore]*watch{},
	}
	t.sessions[s.id] = s
	return s, nil
}
