package dflockcoord

import (
	"context"
	"fmt"

	"coordtop/coord"
	"coordtop/internal/dflockwire"
	"coordtop/internal/failure"
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
	stats, err := statsOf(ctx, s.driver.dialers[n])
	if err != nil {
		return d, failure.With(fmt.Errorf("looking at %s: %w", s.driver.dialers[n].Addr, classify(err)), caller.Err(), context.Cause(ctx))
	}
	semaphore := kind == coord.KindSemaphore
	for _, p := range stats.Semaphores {
		if p.Key == name && (semaphore || !s.servers[n].namespaces) {
			d.Limit, d.Taken = uint64(p.Limit), uint64(p.Owners)
			d.Owners, d.Waiters = unknown(p.Owners), unknown(p.Waiters)
		}
	}
	for _, l := range stats.Locks {
		if l.Key == name && (!semaphore || !s.servers[n].namespaces) {
			d.Limit, d.Waiters = 1, unknown(l.Waiters)
			if l.Owner != 0 {
				d.Taken, d.Owners = 1, []coord.Owner{{ID: OwnerID(l.Owner), Permits: 1, Fence: l.Fence}}
			}
		}
	}
	return d, nil
}

func statsOf(ctx context.Context, dialer dflockwire.Dialer) (dflockwire.Stats, error) {
	conn, err := dialer.Connect(ctx)
	if err != nil {
		return dflockwire.Stats{}, err
	}
	defer conn.Close()
	return conn.Stats(ctx)
}

// unknown returns n owners or waiters of whom nothing is known.
func unknown(n int) []coord.Owner {
	var all []coord.Owner
	for range min(n, mostListed) {
		all = append(all, coord.Owner{Permits: 1})
	}
	return all
}
