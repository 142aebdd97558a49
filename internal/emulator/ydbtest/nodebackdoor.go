package ydbtest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

// Session is the service's state of a session. No public call of YDB shows it.
type Session struct {
	ID          uint64
	Timeout     time.Duration
	Description string
	Protected   bool // it has a protection key
	Attached    bool // the service believes that a stream has it
	SeqNo       uint64
	Expires     time.Time // zero while attached
	Owns, Waits int       // how many semaphores
}

// Semaphore is a semaphore with its owners, by order id, and its queue, in order.
type Semaphore struct {
	Name      string
	Data      []byte
	Limit     uint64
	Taken     uint64
	Ephemeral bool
	Owners    []Link
	Waiters   []Link
	Watches   int // armed ones
}

// Link is the claim or the grant of a session at a semaphore.
type Link struct {
	SessionID uint64
	OrderID   uint64
	Count     uint64
	Data      []byte
	Wait      time.Duration // of a waiter; negative: without end
}

// onTablet calls f, which may change the state, with the tablet of the coordination node at path.
func (s *Server) onTablet(path string, f func(*tablet) error) error {
	var result error
	s.step(func(c *cluster) { result = c.onTablet(path, f) })
	return result
}

// lookAt calls f, which must change nothing, with the tablet of the coordination node at path.
func (s *Server) lookAt(path string, f func(*tablet) error) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	return s.model.onTablet(path, f)
}

func (c *cluster) onTablet(path string, f func(*tablet) error) error {
	at, err := c.node(path)
	if err != nil {
		return fmt.Errorf("coordination node %q: %w", path, ErrNotFound)
	}
	return f(at.tablet)
}

// Sessions lists the sessions of a coordination node by id; none if there is no such node.
func (s *Server) Sessions(path string) []Session {
	var list []Session
	_ = s.lookAt(path, func(t *tablet) error {
		for _, id := range sortedKeys(t.sessions) {
			list = append(list, t.sessions[id].view())
		}
		return nil
	})
	return list
}

func (s *session) view() Session {
	v := Session{
		ID: s.id, Timeout: s.timeout(), Description: s.description, Protected: len(s.key) > 0,
		Attached: s.attached != nil, SeqNo: s.seqNo, Owns: len(s.owned), Waits: len(s.waiting),
	}
	if s.expiry != nil && s.attached == nil {
		v.Expires = s.expiry.at
	}
	return v
}

// Semaphores lists the semaphores of a coordination node by name; none if there is no
// such node.
func (s *Server) Semaphores(path string) []Semaphore {
	var list []Semaphore
	_ = s.lookAt(path, func(t *tablet) error {
		for _, name := range sortedKeys(t.semaphores) {
			list = append(list, t.semaphores[name].view())
		}
		return nil
	})
	return list
}

// Semaphore returns one semaphore. It returns ErrNotFound if the node or the semaphore does not exist.
func (s *Server) Semaphore(path, name string) (Semaphore, error) {
	var v Semaphore
	err := s.lookAt(path, func(t *tablet) error {
		sem := t.semaphores[name]
		if sem == nil {
			return fmt.Errorf("semaphore %q: %w", name, ErrNotFound)
		}
		v = sem.view()
		return nil
	})
	return v, err
}

// Owners lists the owners of a semaphore by order id; none if the semaphore does not exist.
func (s *Server) Owners(path, name string) []Link {
	v, _ := s.Semaphore(path, name)
	return v.Owners
}

// Waiters lists the queue of a semaphore in order; none if the semaphore does not exist.
func (s *Server) Waiters(path, name string) []Link {
	v, _ := s.Semaphore(path, name)
	return v.Waiters
}

func (sem *semaphore) view() Semaphore {
	v := Semaphore{
		Name: sem.name, Data: bytes.Clone(sem.data), Limit: sem.limit, Taken: sem.taken,
		Ephemeral: sem.ephemeral, Watches: len(sem.watches),
	}
	for _, l := range sem.owners {
		v.Owners = append(v.Owners, l.view())
	}
	for _, l := range sem.waiters {
		v.Waiters = append(v.Waiters, l.view())
	}
	return v
}

func (l *link) view() Link {
	v := Link{SessionID: l.session.id, OrderID: l.orderID, Count: l.count, Data: bytes.Clone(l.data)}
	v.Wait = time.Duration(l.timeoutMillis) * time.Millisecond
	if l.timeoutMillis == math.MaxUint64 {
		v.Wait = -1
	}
	return v
}

// ExpireSession ends a session as if its timeout had run out. A stream that has the session fails with SESSION_EXPIRED.
// It returns ErrNotFound if the node or the session does not exist.
func (s *Server) ExpireSession(path string, id uint64) error {
	return s.onTablet(path, func(t *tablet) error {
		victim := t.sessions[id]
		if victim == nil {
			return fmt.Errorf("session %d: %w", id, ErrNotFound)
		}
		t.expire(victim)
		return nil
	})
}

// CreateNode makes a coordination node with the service's own settings, and the directories above it. It does not
// change a node that exists.
func (s *Server) CreateNode(path string) (err error) {
	s.step(func(c *cluster) { err = refusedBy(c.createNode(path, &pb.Config{})) })
	return err
}

// CreateSemaphore makes a semaphore without a session.
func (s *Server) CreateSemaphore(path, name string, limit uint64, data []byte) error {
	return s.onTablet(path, func(t *tablet) error {
		return refusedBy(t.tryCreate(Write, &pb.SessionRequest_CreateSemaphore{
			Name: name, Limit: limit, Data: bytes.Clone(data),
		}))
	})
}

// UpdateSemaphore replaces the data of a semaphore and fires its watches.
func (s *Server) UpdateSemaphore(path, name string, data []byte) error {
	return s.onTablet(path, func(t *tablet) error {
		req := &pb.SessionRequest_UpdateSemaphore{Name: name, Data: bytes.Clone(data)}
		if err := refusedBy(t.tryUpdate(Write, req)); err != nil {
			return err
		}
		t.setData(req)
		return nil
	})
}

// DeleteSemaphore deletes a semaphore with its owners and waiters, like a request with force.
func (s *Server) DeleteSemaphore(path, name string) error {
	return s.onTablet(path, func(t *tablet) error {
		return refusedBy(t.tryDelete(Erase, &pb.SessionRequest_DeleteSemaphore{Name: name, Force: true}))
	})
}

func refusedBy(r *refusal) error {
	switch {
	case r == nil:
		return nil
	case r.status == Ydb.StatusIds_NOT_FOUND:
		return fmt.Errorf("%s: %w", r.text, ErrNotFound)
	}
	return fmt.Errorf("%w: %s", ErrRefused, r.text)
}

// Streams counts the Session calls that are open.
func (s *Server) Streams() int {
	s.turns.Lock()
	defer s.turns.Unlock()
	return len(s.model.streams)
}

// Await blocks until condition returns true. It calls condition at once and again after every event in the server;
// condition may call methods of the server. The error is the context's.
func (s *Server) Await(ctx context.Context, condition func() bool) error {
	return s.turns.Await(ctx, condition)
}
