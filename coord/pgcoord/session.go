package pgcoord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/pgwire"
)

// session is an identity and a TTL that its claims share. Each claim has a connection of its own; the server knows only
// the connections.
type session struct {
	*lifetime.Session[*grant]
	driver   *Driver
	identity string
	ttl      time.Duration
	caps     coord.Caps

	mu          sync.Mutex
	spare       *connection // a connection that no claim uses
	connections connections
	places      map[*place]struct{} // claims that wait
	left        []leftover

	ending sync.Mutex // held while endLeft runs
}

var _ coord.Describer = (*session)(nil)

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo { return coord.SessionInfo{Caps: s.caps} }

func (s *session) connect(ctx context.Context, ttl time.Duration, name string) (*connection, error) {
	l, err := s.driver.newPrepared(ctx, ttl, name)
	if err != nil {
		return nil, err
	}
	s.driver.mu.Lock()
	s.driver.serving.add(l)
	s.driver.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections.add(l)
	if s.Over() != nil {
		l.cut(errClosed)
	}
	return l, nil
}

// takeSpare returns a working connection that no claim uses, or nil.
func (s *session) takeSpare() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.spare
	s.spare = nil
	if l == nil || !l.alive() {
		return nil
	}
	return l
}

// connectionFor returns a connection for a claim, prepared for its TTL under its name. It takes the spare one if that
// still works, else a new one.
func (s *session) connectionFor(ctx context.Context, ttl time.Duration, name string) (*connection, error) {
	if l := s.takeSpare(); l != nil {
		quick, cancel := context.WithTimeout(ctx, closeTime)
		err := l.prepare(quick, ttl, name)
		cancel()
		if err == nil && s.driver.check(l.facts) == nil {
			return l, nil
		}
		l.cut(errClosed)
	}
	return s.connect(ctx, ttl, name)
}

// read runs f on a connection that no claim uses. If the spare connection ends, read runs f again on a new one.
func (s *session) read(ctx context.Context, f func(context.Context, *pgwire.Conn) error) error {
	ctx, leave, err := s.Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for {
		l := s.takeSpare()
		kept := l != nil
		if !kept {
			if l, err = s.connect(ctx, s.ttl, s.identity); err != nil {
				return err
			}
		}
		err = l.submit(readTime, f).wait(ctx)
		if l.alive() && ctx.Err() == nil {
			s.putBack(l)
			return err
		}
		l.hangUp()
		if !kept || ctx.Err() != nil {
			return notOurLoss(err)
		}
	}
}

// putBack keeps a connection that owns nothing for the next claim, or closes it.
func (s *session) putBack(l *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare == nil && s.Over() == nil && l.alive() {
		s.spare = l
		return
	}
	l.hangUp()
}

// shut shuts the session and returns its grants and its waiting claims. first is false if it was shut before.
func (s *session) shut() (grants []*grant, places []*place, first bool) {
	grants, first = s.Shut(errClosed)
	s.mu.Lock()
	defer s.mu.Unlock()
	if first {
		places = slices.Collect(maps.Keys(s.places))
	}
	if s.spare != nil {
		s.spare.hangUp()
		s.spare = nil
	}
	s.Finish(errClosed)
	return grants, places, first
}

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	grants, places, first := s.shut()
	var result error
	if first {
		for _, g := range grants {
			g.End(errClosed)
		}
		for _, p := range places {
			_ = p.giveUp(ctx, errClosed, nil) // endLeft reports uncertain claims
		}
		for _, g := range grants {
			if err := g.unlock(ctx); err != nil && result == nil {
				result = fmt.Errorf("closing the session: %w", err)
			}
		}
		if err := s.endLeft(ctx); err != nil {
			result = errors.Join(err, result)
		}
	}
	s.join()
	return result
}

// Abandon implements coord.DriverSession. The driver keeps the connections of our locks until they
// expire.
func (s *session) Abandon() {
	grants, places, _ := s.shut()
	for _, g := range grants {
		g.End(errClosed)
		g.leave()
	}
	for _, p := range places {
		p.cancel()
		p.connection.cut(errClosed)
	}
	s.join()
}

// join cuts the remaining connections and waits for every goroutine.
func (s *session) join() {
	s.mu.Lock()
	left := s.connections
	s.connections = connections{}
	s.mu.Unlock()
	left.cut()
	s.Wait()
}
