package coordtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"coordtop/coord"
)

// settleFor bounds the request that withdraws a claim whose outcome is unknown.
const settleFor = time.Second

// MemDriver is one client of a Mem.
type MemDriver struct {
	m    *Mem
	link *Faults
}

var _ coord.Driver = (*MemDriver)(nil)

// NewDriver returns another client of the service. Its requests pass through link; nil breaks nothing. It starts no
// goroutine, and its Close need not be called.
func (m *Mem) NewDriver(link *Faults) *MemDriver { return &MemDriver{m: m, link: link} }

// Name returns "mem".
func (d *MemDriver) Name() string { return "mem" }

// Close does nothing, because sessions share nothing here.
func (d *MemDriver) Close(context.Context) error { return nil }

// Open makes a session. Its dynamic type depends on the shape of the service.
func (d *MemDriver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s := &memSession{m: d.m, link: d.link, ttl: cmp.Or(max(o.TTL, 0), d.m.o.TTL)}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	asked := time.Now()
	var opened bool
	err := d.link.do(ctx, VerbOpen, nil, func(context.Context) error {
		if d.m.shape == SessionRenews {
			s.id = d.m.attach(s.ttl, s.end).id
		} else {
			s.client = "client-" + strconv.FormatUint(d.m.number(), 10)
		}
		opened = true
		return nil
	})
	if err != nil {
		s.end(coord.ErrClosed)
		if opened && s.id != "" {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
			defer cancel()
			err = errors.Join(err, s.detach(late)) // else the TTL ends the session
		}
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	s.window = d.m.window(asked, s.ttl)
	if d.m.shape == SessionRenews {
		return &renewingSession{s}, nil
	}
	return &pollingSession{s}, nil
}

func (m *Mem) window(asked time.Time, ttl time.Duration) coord.Window {
	return coord.Window{Asked: asked, Valid: ttl, RenewIn: ttl / 3}
}

func (m *Mem) caps() coord.Caps {
	w, session := m.o.Without, m.shape == SessionRenews
	return coord.Caps{
		Mutex:     !w.Mutex,
		Semaphore: !w.Semaphore,
		Election:  !w.Election,
		Shared:    !w.Shared && !session,
		Ephemeral: !w.Ephemeral && session,
		OneFate:   session,
		Fence:     !w.Fence,
		FIFO:      session,
		MaxData:   m.o.MaxData,
	}
}

// memSession is the common part of both shapes of session. ctx ends with the session, and its cause is the session's
// Err.
type memSession struct {
	m      *Mem
	link   *Faults
	ttl    time.Duration
	id     string // of the session, if the service knows sessions
	client string // the beginning of our owner ids, if the service knows no sessions
	ctx    context.Context
	end    context.CancelCauseFunc

	mu     sync.Mutex
	closed bool
	asks   uint64       // the number of the last claim
	window coord.Window // of the session, if that renews
	grants []*memGrant  // the live ones, oldest first
	debts  []handle     // claims that may be left at the service because they could not be withdrawn
}

func (s *memSession) Info() coord.SessionInfo {
	return coord.SessionInfo{ID: s.id, Caps: s.m.caps()}
}

func (s *memSession) Done() <-chan struct{} { return s.ctx.Done() }

func (s *memSession) Err() error { return context.Cause(s.ctx) }

func (s *memSession) Close(ctx context.Context) error {
	grants, first := s.finish()
	if !first {
		return nil
	}
	if s.id != "" {
		return s.detach(ctx)
	}
	var err error
	for _, g := range slices.Backward(grants) {
		err = cmp.Or(err, s.link.do(ctx, VerbRelease, nil, func(context.Context) error { s.m.withdraw(g.handle); return nil }))
	}
	return err
}

func (s *memSession) Abandon() { s.finish() }

// finish ends the session and its grants on our side. first is false if it has ended before.
func (s *memSession) finish() (grants []*memGrant, first bool) {
	s.mu.Lock()
	grants, first, s.closed = s.grants, !s.closed, true
	s.grants = nil
	s.mu.Unlock()
	s.end(fmt.Errorf("session: %w", coord.ErrClosed))
	return grants, first
}

func (s *memSession) detach(ctx context.Context) error {
	return s.link.do(ctx, VerbClose, nil, func(context.Context) error { s.m.detach(s.id); return nil })
}

// call sends one request, which ends with ctx or with the session. A final error about the whole session ends the
// session.
func (s *memSession) call(ctx context.Context, v Verb, expire func(), run func(context.Context) error) error {
	if err := s.Err(); err != nil {
		return err
	}
	both, cancel := s.under(ctx)
	defer cancel()
	err := s.link.do(both, v, expire, run)
	if err != nil && ctx.Err() == nil && s.ctx.Err() != nil {
		return s.Err() // the caller's context has not ended, so the error of ours would mislead
	}
	return err
}

// under returns a context that ends with ctx or with the session.
func (s *memSession) under(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return both, func() { stop(); cancel() }
}

// check refuses claims that this service cannot serve.
func (s *memSession) check(c coord.Claim) error {
	switch caps := s.m.caps(); {
	case !hasKind(caps, c.Kind), c.Mode == coord.Shared && !caps.Shared, c.Ephemeral && !caps.Ephemeral:
		return fmt.Errorf("%v %v: %w", c.Mode, c.Kind, coord.ErrUnsupported)
	case len(c.Data) > caps.MaxData:
		return fmt.Errorf("%d bytes, at most %d: %w", len(c.Data), caps.MaxData, coord.ErrDataTooLong)
	}
	return nil
}

func (s *memSession) ask(c coord.Claim) handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks++
	h := handle{key: itemKey{c.Kind, c.Name}, owner: s.id, ask: s.asks}
	if s.id == "" {
		h.owner = fmt.Sprintf("%s-%d", s.client, s.asks)
	}
	return h
}
