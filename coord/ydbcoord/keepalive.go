package ydbcoord

import (
	"context"
	"fmt"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/internal/spawn"
)

// Renew implements coord.Renewer: it sends a ping and waits for its pong, on the next
// stream if there is none now.
func (s *Session) Renew(ctx context.Context) (coord.Window, error) {
	r := newRequest(verbPing, "", func(id uint64, _ time.Time) *pb.SessionRequest {
		return &pb.SessionRequest{Request: &pb.SessionRequest_Ping{Ping: &pb.SessionRequest_PingPong{Opaque: id}}}
	})
	if err := s.ask(ctx, r); err != nil {
		if over := s.Err(); over != nil {
			err = fmt.Errorf("%w: %w", coord.ErrLost, over)
		}
		return coord.Window{}, fmt.Errorf("renewing the session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.windowLocked(), nil
}

func (s *Session) windowLocked() coord.Window {
	return coord.Window{Asked: s.proof, Valid: s.ttl, RenewIn: s.ttl / 3}
}

// proveLocked notes that the service has answered what was sent at asked.
func (s *Session) proveLocked(asked time.Time) {
	s.status.Heard = time.Now()
	if asked.After(s.proof) {
		s.proof = asked
	}
	if s.expiry == nil {
		s.expiry = spawn.After(s.life, time.Until(s.proof.Add(s.ttl)), s.checkWindow)
	}
}

// checkWindow ends the session when its window is over, else checks again then.
func (s *Session) checkWindow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := time.Until(s.proof.Add(s.ttl))
	if left > 0 {
		s.expiry.Reset(left)
		return
	}
	s.endLocked(fmt.Errorf("%w: nothing was answered for %v", coord.ErrExpired, s.ttl))
	s.quit() // also the last requests
}
