package coord_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coordtop/coord"
)

// stub is a driver that does what a test says and nothing else; without instructions
// it grants everything for ttl. Its sessions and grants renew as renews says, which a
// test can make contradictory.
type stub struct {
	opened        func(context.Context) error
	acquire       func(context.Context, coord.Claim) (asked time.Time, ok bool, err error)
	close         func(context.Context) error
	caps          coord.Caps
	sessionRenews bool
	grantRenews   bool

	publish func(context.Context, []byte) error

	renewals, releases, abandoned, sessionsClosed, publications atomic.Int64

	mu      sync.Mutex
	renew   func(context.Context) (coord.Window, error)
	release func(context.Context) error
	grants  []*stubGrant
}

// onRenew says what renewals do from now on; nil: they succeed.
func (d *stub) onRenew(f func(context.Context) (coord.Window, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.renew = f
}

// onRelease says what releases do from now on.
func (d *stub) onRelease(f func(context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.release = f
}

// grantStub renews each grant; sessionStub the session.
func grantStub() *stub {
	return &stub{grantRenews: true, caps: coord.Caps{Mutex: true, Election: true, MaxData: 10}}
}

func sessionStub() *stub {
	return &stub{sessionRenews: true, caps: coord.Caps{Mutex: true, Election: true, OneFate: true, MaxData: 10}}
}

func (d *stub) Name() string                { return "stub" }
func (d *stub) Close(context.Context) error { return nil }

func (d *stub) Open(ctx context.Context, _ coord.SessionOptions) (coord.DriverSession, error) {
	if d.opened != nil {
		if err := d.opened(ctx); err != nil {
			return nil, err
		}
	}
	s := &stubSession{d: d, done: make(chan struct{})}
	if d.sessionRenews {
		return struct {
			*stubSession
			coord.Renewer
		}{s, stubRenewer{d}}, nil
	}
	return s, nil
}

func (d *stub) valid(asked time.Time) coord.Window {
	return coord.Window{Asked: asked, Valid: ttl}
}

// grant is the grant of the n-th claim.
func (d *stub) grant(n int) *stubGrant {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.grants[n]
}

type stubRenewer struct{ d *stub }

func (r stubRenewer) Renew(ctx context.Context) (coord.Window, error) {
	r.d.renewals.Add(1)
	r.d.mu.Lock()
	renew := r.d.renew
	r.d.mu.Unlock()
	if renew != nil {
		return renew(ctx)
	}
	return r.d.valid(time.Now()), nil
}

type stubSession struct {
	d    *stub
	once sync.Once
	done chan struct{}
	err  error
}

func (s *stubSession) end(err error) { s.once.Do(func() { s.err = err; close(s.done) }) }

func (s *stubSession) Info() coord.SessionInfo { return coord.SessionInfo{ID: "s-1", Caps: s.d.caps} }
func (s *stubSession) Done() <-chan struct{}   { return s.done }
func (s *stubSession) Abandon()                { s.end(coord.ErrClosed) }

func (s *stubSession) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

func (s *stubSession) Close(ctx context.Context) error {
	s.d.sessionsClosed.Add(1)
	s.end(coord.ErrClosed)
	if s.d.close != nil {
		return s.d.close(ctx)
	}
	return nil
}

func (s *stubSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	asked := time.Now()
	if s.d.acquire != nil {
		var ok bool
		var err error
		if asked, ok, err = s.d.acquire(ctx, c); err != nil || !ok {
			return nil, false, err
		}
	}
	g := &stubGrant{d: s.d, window: s.d.valid(asked), done: make(chan struct{})}
	s.d.mu.Lock()
	g.owner = fmt.Sprintf("owner-%d", len(s.d.grants))
	s.d.grants = append(s.d.grants, g)
	s.d.mu.Unlock()
	if s.d.grantRenews {
		return struct {
			*stubGrant
			coord.Renewer
		}{g, stubRenewer{s.d}}, true, nil
	}
	return g, true, nil
}

type stubGrant struct {
	d      *stub
	owner  string
	window coord.Window
	once   sync.Once
	done   chan struct{}
	err    error
}

func (g *stubGrant) end(err error) { g.once.Do(func() { g.err = err; close(g.done) }) }

func (g *stubGrant) Info() coord.GrantInfo { return coord.GrantInfo{Owner: g.owner, Window: g.window} }
func (g *stubGrant) Done() <-chan struct{} { return g.done }

func (g *stubGrant) Err() error {
	select {
	case <-g.done:
		return g.err
	default:
		return nil
	}
}

func (g *stubGrant) Release(ctx context.Context) error {
	g.d.releases.Add(1)
	g.d.mu.Lock()
	release := g.d.release
	g.d.mu.Unlock()
	if release != nil {
		return release(ctx)
	}
	return nil
}

func (g *stubGrant) Publish(ctx context.Context, data []byte) error {
	g.d.publications.Add(1)
	if g.d.publish != nil {
		return g.d.publish(ctx, data)
	}
	return nil
}

func (g *stubGrant) Abandon() { g.d.abandoned.Add(1) }

// openStub makes a session of a stub that is abandoned when the test ends.
func openStub(t *testing.T, d *stub, o coord.SessionOptions) *coord.Session {
	t.Helper()
	s, err := coord.Open(t.Context(), d, o)
	if err != nil {
		t.Fatalf("opening a session: %v", err)
	}
	t.Cleanup(s.Abandon)
	return s
}

func lockStub(t *testing.T, s *coord.Session, name string) *coord.Lease {
	t.Helper()
	l, err := mutex(s, name).Lock(t.Context())
	if err != nil {
		t.Fatalf("locking: %v", err)
	}
	return l
}

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
