package pgcoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
)

// session is what claims share: an identity and a TTL. Each claim has a connection of its
// own; the server knows no session of ours beyond those.
type session struct {
	driver   *Driver
	identity string
	ttl      time.Duration
	caps     coord.Caps
	done     chan struct{}
	life     context.Context // ends with the session
	end      context.CancelFunc

	mu     sync.Mutex
	closed bool
	spare  *link // a connection that no claim uses
	links  map[*link]struct{}
	places map[*place]struct{} // being waited for
	grants []*grant            // oldest first
	doubts []doubt             // of claims that ended
	tasks  sync.WaitGroup      // calls that use links, places, handlers
}

var (
	_ coord.Describer = (*session)(nil)
	_ coord.Watcher   = (*session)(nil)
	_ coord.Queuer    = (*session)(nil)
)

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo { return coord.SessionInfo{Caps: s.caps} }

// Done implements coord.DriverSession.
func (s *session) Done() <-chan struct{} { return s.done }

// Err implements coord.DriverSession.
func (s *session) Err() error {
	select {
	case <-s.done:
		return errClosed
	default:
		return nil
	}
}

// begin counts a call that Close waits for; false: the session is closed.
func (s *session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.tasks.Add(1)
	}
	return !s.closed
}

// connect makes a connection of this session for a TTL under a name.
func (s *session) connect(ctx context.Context, ttl time.Duration, name string) (*link, error) {
	l, err := s.driver.newPrepared(ctx, ttl, name, nil)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetEndedLocked()
	s.links[l] = struct{}{}
	if s.closed {
		l.cut(errClosed)
	}
	return l, nil
}

func (s *session) forgetEndedLocked() {
	for l := range s.links {
		select {
		case <-l.done:
			delete(s.links, l)
		default:
		}
	}
}

// take returns a connection for a claim, prepared for its TTL under its name: the spare
// one if that still works, else a new one.
func (s *session) take(ctx context.Context, ttl time.Duration, name string) (*link, error) {
	s.mu.Lock()
	l := s.spare
	s.spare = nil
	s.mu.Unlock()
	if l != nil && l.alive() {
		quick, cancel := context.WithTimeout(ctx, partingTime)
		err := l.prepare(quick, ttl, name)
		cancel()
		if err == nil && s.driver.check(l.facts) == nil {
			return l, nil
		}
		l.cut(errClosed)
	}
	return s.connect(ctx, ttl, name)
}

// putBack keeps a connection that owns nothing for the next claim, or closes it.
func (s *session) putBack(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare == nil && !s.closed && l.alive() {
		s.spare = l
		return
	}
	l.hangUp()
}

// key is the key of a name; a connection that had to be made for it becomes the spare one.
func (s *session) key(ctx context.Context, name string) (Key, error) {
	var used *link
	k, err := s.driver.key(ctx, name, func(ctx context.Context) (*link, error) {
		var err error
		used, err = s.take(ctx, s.ttl, s.identity)
		return used, err
	})
	if used != nil {
		s.putBack(used)
	}
	return k, err
}

// adopt makes a grant known; false: the session has closed meanwhile.
func (s *session) adopt(g *grant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.grants = append(s.grants, g)
	return true
}

// forget ends the session's knowledge of a grant.
func (s *session) forget(g *grant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.grants, g); i >= 0 {
		s.grants = slices.Delete(s.grants, i, i+1)
	}
}

// shut marks the session closed and returns what it had; false: it was closed before.
func (s *session) shut() (grants []*grant, places []*place, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, false
	}
	s.closed = true
	grants, s.grants = s.grants, nil
	slices.Reverse(grants)
	for p := range s.places {
		places = append(places, p)
	}
	if s.spare != nil {
		s.spare.hangUp()
		s.spare = nil
	}
	s.end()
	close(s.done)
	return grants, places, true
}

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	grants, places, first := s.shut()
	var result error
	if first {
		for _, g := range grants {
			g.end(errClosed)
		}
		for _, p := range places {
			_ = p.giveUp(ctx, errClosed, nil) // resolve returns what is in doubt
		}
		for _, g := range grants {
			if err := g.unlock(ctx); err != nil && result == nil {
				result = fmt.Errorf("closing the session: %w", err)
			}
		}
		if err := s.resolve(ctx); err != nil {
			result = errors.Join(err, result)
		}
	}
	s.join(nil)
	return result
}

// Abandon implements coord.DriverSession. What is owned runs out on connections that the
// driver keeps until then.
func (s *session) Abandon() {
	grants, places, _ := s.shut()
	kept := map[*link]bool{}
	for _, g := range grants {
		g.end(errClosed)
		if g.leave() {
			kept[g.link] = true
		}
	}
	for _, p := range places {
		p.cancel()
		p.link.cut(errClosed)
	}
	s.join(kept)
}

// join cuts what is left, except for the kept ones, and waits for every goroutine.
func (s *session) join(kept map[*link]bool) {
	s.mu.Lock()
	var links []*link
	for l := range s.links {
		if !kept[l] {
			links = append(links, l)
		}
	}
	clear(s.links)
	s.mu.Unlock()
	for _, l := range links {
		l.cut(errClosed)
	}
	for _, l := range links {
		<-l.done
	}
	s.tasks.Wait()
}
