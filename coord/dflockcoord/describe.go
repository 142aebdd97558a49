package dflockcoord

import (
	"context"
	"fmt"

	"coordtop/coord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/failure"
)

// mostListed bounds the owners and the waiters of a description. The server lists only a number, which may be huge.
const mostListed = 10_000

// Describe implements coord.Describer, over a connection of its own. A key that the server does not list has no owners.
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
	conn, err := s.driver.dialers[n].Connect(ctx)
	var e dflockwire.Entry
	if err == nil {
		defer conn.Close()
		e, err = s.find(ctx, conn, n, name, kind == coord.KindSemaphore)
	}
	if err != nil {
		return d, failure.With(fmt.Errorf("looking at %s: %w", s.driver.dialers[n].Addr, classify(err)), caller.Err(), context.Cause(ctx))
	}
	d.Limit, d.Taken = uint64(e.Limit), uint64(e.Taken)
	d.Owners, d.Waiters = unknown(e.Taken), unknown(e.Waiters)
	if e.Owner != 0 {
		d.Owners[0].ID, d.Owners[0].Fence = OwnerID(e.Owner), e.Fence
	}
	return d, nil
}

// find returns a server's Entry of a key, without the name; the Entry is zero if nobody uses the key. If the server has
// a namespace for each kind, the kind has to match.
func (s *session) find(
	ctx context.Context, conn *dflockwire.Conn, server int, name string, semaphore bool,
) (e dflockwire.Entry, err error) {
	_, err = conn.Stats(ctx, func(l *dflockwire.Entry) {
		if string(l.Key) == name && !l.Idle && (l.Semaphore == semaphore || !s.servers[server].namespaces) {
			e = *l
			e.Key = nil // Key is valid only during the call
		}
	})
	return e, err
}

// unknown returns n owners or waiters without ids.
func unknown(n int) []coord.Owner {
	var all []coord.Owner
	for range min(n, mostListed) {
		all = append(all, coord.Owner{Permits: 1})
	}
	return all
}
