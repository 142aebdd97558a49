package ydbtest

import (
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc/codes"
)

// The proxy layer, after ydb/core/kesus/proxy/proxy_actor.cpp.

// proxy stands between the streams of one front end and one tablet.
type proxy struct {
	tablet   *tablet
	sessions map[uint64]*attachment // by session id
}

// attachment is one stream that has been given, or is asking for, a session.
type attachment struct {
	proxy     *proxy
	sessionID uint64 // 0 while the session is not known
	seqNo     uint64
	stream    *stream // nil once the stream has been evicted
}

// attach requests a session. Like the service, it evicts a stream of the same front end that has the session before the
// tablet judges the request. If the tablet then refuses, it still believes that the session is attached here, so that
// the session never expires.
func (p *proxy) attach(st *stream, start *pb.SessionRequest_SessionStart) *refusal {
	id := start.GetSessionId()
	if old := p.sessions[id]; id != 0 && old != nil {
		if start.GetSeqNo() < old.seqNo {
			return &refusal{Ydb.StatusIds_BAD_SESSION, "the attach is out of sequence"}
		}
		p.evict(old, Ydb.StatusIds_BAD_SESSION, "another client of this front end took the session")
	}
	a := &attachment{proxy: p, sessionID: id, seqNo: start.GetSeqNo(), stream: st}
	s, err := p.tablet.attach(a, start)
	if err != nil {
		return err
	}
	a.sessionID = s.id
	p.sessions[s.id] = a
	st.attachment = a
	st.sessionID = s.id
	return nil
}

// evict forgets an attachment without informing the tablet, and fails its stream.
func (p *proxy) evict(a *attachment, code Ydb.StatusIds_StatusCode, text string) {
	st := a.stream
	p.forget(a)
	if st != nil {
		st.attachment = nil
		p.tablet.cluster.fail(st, code, text)
	}
}

// cancel detaches a session after its stream has ended.
func (p *proxy) cancel(a *attachment) {
	p.forget(a)
	p.tablet.detach(p, a.sessionID)
}

func (p *proxy) forget(a *attachment) {
	a.stream = nil
	if p.sessions[a.sessionID] == a {
		delete(p.sessions, a.sessionID)
	}
}

// destroy handles session_stop.
func (p *proxy) destroy(st *stream) {
	c := p.tablet.cluster
	s := p.tablet.sessions[st.sessionID]
	p.forget(st.attachment)
	st.attachment = nil
	c.reply(st, &pb.SessionResponse_SessionStopped{SessionId: st.sessionID})
	c.end(st, codes.OK, "")
	p.tablet.deleteSession(s)
}

// failAll fails every stream of the proxy, in the order of the session ids.
func (p *proxy) failAll(code Ydb.StatusIds_StatusCode, text string) {
	for _, id := range sortedKeys(p.sessions) {
		p.evict(p.sessions[id], code, text)
	}
}
