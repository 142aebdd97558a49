package dflockcoord

import (
	"context"
	"fmt"

	"coordtop/coord"
	"coordtop/internal/ground/dflockwire"
	"coordtop/internal/ground/failure"
)

// mostListed bounds the owners and the waiters of a description: the server gives their number
// only, and it could be any.
const mostListed = 10_000

// Describe implements coord.Describer, on a connection of its own. A key that the server does
// not list has no owners.
func (s *session) Describe(caller context.Context, kind coord.Kind, name string) (coord.Description, error) {
	d := coord.Description{Kind: kind, Name: name, WaitersKnown: true}
	ctx, leave, err := s.Enter(caller)
	if err != nil {
		return d, err
	}
	defer leave()
	n, err := s.driver.serverOf(name)
	if err != nil {
		return d, err
	}
	e, err := s.look(ctx, n, name, kind == coord.KindSemaphore)
	if err != nil {
		return d, failure.With(fmt.Errorf("looking at %s: %w", s.driver.dialers[n].Addr, classify(err)), caller.Err(), context.Cause(ctx))
	}
	d.Limit, d.Taken = uint64(e.limit), uint64(e.taken)
	d.Owners, d.Waiters = unknown(e.taken), unknown(e.waiters)
	if e.owner != 0 {
		d.Owners[0].ID, d.Owners[0].Fence = OwnerID(e.owner), e.fence
	}
	return d, nil
}

// entry is one key in a listing; the zero entry is one that nobody uses.
type entry struct {
	limit, taken, waiters int
	owner, fence          uint64 // 0: unknown, or there is none
}

// find finds a key in a listing of a server, of the kind where kinds are apart there.
func (s *session) find(ctx context.Context, conn *dflockwire.Conn, server int, name string, semaphore bool) (e entry, err error) {
	_, err = conn.Stats(ctx, func(l *dflockwire.Entry) {
		if string(l.Key) == name && !l.Idle && (l.Semaphore == semaphore || !s.servers[server].namespaces) {
			e = entry{limit: l.Limit, taken: l.Taken, waiters: l.Waiters, owner: l.Owner, fence: l.Fence}
		}
	})
	return e, err
}

// look is find on a connection of its own.
func (s *session) look(ctx context.Context, server int, name string, semaphore bool) (entry, error) {
	conn, err := s.driver.dialers[server].Connect(ctx)
	if err != nil {
		return entry{}, err
	}
	defer conn.Close()
	return s.find(ctx, conn, server, name, semaphore)
}

// unknown returns n owners or waiters of whom nothing is known.
func unknown(n int) []coord.Owner {
	var all []coord.Owner
	for range min(n, mostListed) {
		all = append(all, coord.Owner{Permits: 1})
	}
	return all
}
