package coord

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ElectionOptions configure an election. The zero value is usable.
type ElectionOptions struct {
	// TTL is the time for which the service keeps the leader after the last renewal, if each
	// grant has a time of its own. 0: the session's.
	TTL time.Duration
	// Wait bounds the wait of Campaign. 0: no limit but the context.
	Wait time.Duration
	// Poll is the pause between two reads of Observe if the service does not report changes. 0: 1 s.
	Poll time.Duration
}

// Election is one name that one program at a time leads. It is a value of a session
// and holds no state. Its methods are safe for concurrent use.
type Election struct {
	s    *Session
	name string
	o    ElectionOptions
}

// Election returns the election of that name. It sends nothing to the service.
func (s *Session) Election(name string, o ElectionOptions) *Election {
	return &Election{s: s, name: name, o: o}
}

// Campaign blocks until we lead. data is shown to others beside the leader; at most Caps.MaxData bytes. It ends early
// for the same reasons as Mutex.Lock.
func (e *Election) Campaign(ctx context.Context, data []byte) (*Term, error) {
	l, err := e.s.acquireOrFail(ctx, e.claim(data), e.o.Wait)
	if err != nil {
		return nil, err
	}
	return newTerm(l), nil
}

// TryCampaign sends one claim. If another leads, ok is false and err is nil.
func (e *Election) TryCampaign(ctx context.Context, data []byte) (t *Term, ok bool, err error) {
	l, ok, err := e.s.acquire(ctx, e.claim(data))
	if err != nil || !ok {
		return nil, false, err
	}
	return newTerm(l), true, nil
}

func (e *Election) claim(data []byte) Claim {
	return Claim{Kind: KindElection, Name: e.name, TTL: e.o.TTL, Data: data}
}

// Term is one uninterrupted leadership. Only a leader has one, so that only a leader can call its methods. They are
// safe for concurrent use.
type Term struct {
	l    *Lease
	turn chan struct{} // holds one element while a proclamation is on its way
}

func newTerm(l *Lease) *Term { return &Term{l: l, turn: make(chan struct{}, 1)} }

// Lease returns the lease of the leadership, with Context, Check and Fence.
func (t *Term) Lease() *Lease { return t.l }

// Context ends when the leadership does; see Lease.Context.
func (t *Term) Context() context.Context { return t.l.Context() }

// Proclaim replaces the leader's data, which Leader and Observe show. After the end of the term nothing is written, and
// the error wraps the cause (ErrLost, ErrExpired, ErrReleased or ErrClosed). If the service reports that the leadership
// is over, the term ends with ErrLost. Before it sends anything, Proclaim returns ErrUnsupported if leaders have no
// data on this backend, ErrDataTooLong, and ErrInvalid for bytes that the service cannot show. After any other error it
// is unknown whether the data was written; if the leadership ended during the call, the error wraps its cause and
// ErrUncertain. Proclamations are sent one after the other.
func (t *Term) Proclaim(ctx context.Context, data []byte) error {
	return t.l.wrap("proclaim", t.proclaim(ctx, data))
}

func (t *Term) proclaim(ctx context.Context, data []byte) error {
	p, ok := t.l.g.(Publisher)
	if !ok {
		return fmt.Errorf("a leader's data: %w", ErrUnsupported)
	}
	if err := t.l.s.caps.CheckData(data); err != nil {
		return err
	}
	both, cancel := until(ctx, t.Context())
	defer cancel()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-both.Done():
	}
	if ctx.Err() != nil || t.l.Check() != nil { // if both ended, either is the reason
		return withCause(ctx, t.Context(), errors.New("nothing was sent"))
	}
	err := p.Publish(both, data)
	switch {
	case err == nil:
		return nil
	case verdict(err):
		t.l.lose("proclaim", err)
		return err
	case t.Context().Err() != nil:
		return fmt.Errorf("%w: %w", withCause(ctx, t.Context(), err), ErrUncertain)
	}
	return withCause(ctx, t.Context(), err)
}

// Resign gives up this leadership. After the end of the term it does nothing, even if somebody else leads. See
// Lease.Release.
func (t *Term) Resign(ctx context.Context) error { return t.l.Release(ctx) }
