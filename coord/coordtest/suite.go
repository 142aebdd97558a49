package coordtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/backoff"
)

// suite is one running case. ctx bounds all its work.
type suite struct {
	*attempt
	h    Harness
	ctx  context.Context
	caps coord.Caps
	kept map[coord.Renewer]func() // functions that stop the renewals of keep
}

func (s *suite) options() coord.SessionOptions {
	return coord.SessionOptions{Description: "coordtest", TTL: s.h.TTL}
}

// driver returns a new client, which is closed when the case ends, after its sessions.
func (s *suite) driver() coord.Driver {
	s.Helper()
	d := s.h.NewDriver(s)
	s.atEnd(func(ctx context.Context) { s.is("closing the driver", d.Close(ctx), nil) })
	return d
}

// atEnd cleans up when the case is over, with a context of its own.
func (s *suite) atEnd(f func(ctx context.Context)) {
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 10*time.Second)
		defer cancel()
		f(ctx)
	})
}

// open opens a session with a client of its own. Nothing renews it; see keep.
func (s *suite) open() coord.DriverSession {
	s.Helper()
	session, err := s.driver().Open(s.ctx, s.options())
	s.noError("opening a session", err)
	s.atEnd(func(ctx context.Context) { _ = session.Close(ctx) }) // a session that the case broke may have nothing left to close
	return session
}

// claim returns a claim on a fresh name that only one can own; a semaphore has a limit of 1.
func (s *suite) claim(kind coord.Kind) coord.Claim {
	s.Helper()
	if kind == coord.KindSemaphore {
		return s.semaphore(1)
	}
	return coord.Claim{Kind: kind, Name: s.fresh(kind)}
}

func (s *suite) fresh(kind coord.Kind) string {
	if s.h.Name != nil {
		return s.h.Name(s, kind)
	}
	return fmt.Sprintf("coordtest-%v-%s", kind, strings.ToLower(rand.Text()[:12]))
}

// semaphore returns a claim on a fresh semaphore, which it creates if the backend needs that.
func (s *suite) semaphore(limit uint64) coord.Claim {
	s.Helper()
	c := coord.Claim{Kind: coord.KindSemaphore, Name: s.fresh(coord.KindSemaphore)}
	session := s.open()
	p, ok := session.(coord.Provisioner)
	if !ok {
		c.Limit = limit
		return c
	}
	s.noError("creating the semaphore", p.Create(s.ctx, c.Name, limit, nil))
	s.atEnd(func(ctx context.Context) {
		if err := p.Delete(ctx, c.Name, true); err != nil && !errors.Is(err, coord.ErrNotFound) {
			s.Errorf("deleting the semaphore: %v", err)
		}
	})
	s.keep(session, nil)
	return c
}

// wantCause checks the reason for an end.
func wantCause(t testing.TB, what string, err error, causes ...error) {
	t.Helper()
	if !slices.ContainsFunc(causes, func(c error) bool { return errors.Is(err, c) }) {
		t.Fatalf("%s: %v, want one of %q", what, err, causes)
	}
}

// must acquires, and fails the case if that does not succeed.
func (s *suite) must(session coord.DriverSession, c coord.Claim) coord.Grant {
	s.Helper()
	g, ok, err := session.Acquire(s.ctx, c)
	if err != nil || !ok {
		s.Fatalf("acquiring %v %q: ok %v, %v", c.Kind, c.Name, ok, err)
	}
	return g
}

// misses tries to acquire once, and fails the case if that succeeds.
func (s *suite) misses(session coord.DriverSession, c coord.Claim, why string) {
	s.Helper()
	c.Wait = 0
	switch _, ok, err := session.Acquire(s.ctx, c); {
	case err != nil:
		s.Fatalf("a try that should miss (%s) failed: %v", why, err)
	case ok:
		s.Fatalf("a try succeeded although %s", why)
	}
}

// waiting returns c as a claim that waits until granted.
func waiting(c coord.Claim) coord.Claim {
	c.Wait = coord.Forever
	return c
}

// answer is the result of Acquire.
type answer struct {
	grant coord.Grant
	ok    bool
	err   error
}

func (s *suite) start(ctx context.Context, session coord.DriverSession, c coord.Claim) <-chan answer {
	answers := make(chan answer, 1)
	s.background(func() {
		g, ok, err := session.Acquire(ctx, c)
		answers <- answer{g, ok, err}
	})
	return answers
}

// background runs f in a goroutine, which the case waits for when it is over.
func (s *suite) background(f func()) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	s.Cleanup(func() { <-ended })
	return ended
}

// receive waits for the answer to a claim of start.
func (s *suite) receive(c <-chan answer) answer {
	s.Helper()
	select {
	case a := <-c:
		return a
	case <-s.ctx.Done():
		s.Fatalf("no answer: %v", s.ctx.Err())
		return answer{}
	}
}

func renewerOf(session coord.DriverSession, g coord.Grant) coord.Renewer {
	if r, ok := session.(coord.Renewer); ok {
		return r
	}
	r, _ := g.(coord.Renewer)
	return r
}

// keep renews the Renewer of g until g is released, stop is called or the case ends. If g is nil, keep renews only the
// session, if that is the Renewer. A second call for the same Renewer changes nothing.
func (s *suite) keep(session coord.DriverSession, g coord.Grant) (stop func()) {
	r := renewerOf(session, g)
	if r == nil {
		return func() {}
	}
	if stop, ok := s.kept[r]; ok {
		return stop
	}
	ctx, cancel := context.WithCancel(s.ctx)
	done := s.background(func() { s.renew(ctx, r) })
	stop = sync.OnceFunc(func() { cancel(); <-done })
	s.Cleanup(stop)
	if s.kept == nil {
		s.kept = map[coord.Renewer]func(){}
	}
	s.kept[r] = stop
	return stop
}

func (s *suite) renew(ctx context.Context, r coord.Renewer) {
	due := time.Now()
	for {
		w, err := r.Renew(ctx)
		s.late(time.Since(due))
		if err != nil {
			if ctx.Err() == nil {
				s.Errorf("renewing: %v", err)
			}
			return
		}
		due = w.Asked.Add(cmp.Or(max(w.RenewIn, 0), w.Valid/3))
		if backoff.Sleep(ctx, time.Until(due)) != nil {
			return
		}
	}
}

// until calls reached every fiftieth of a TTL until it returns true. If that never happens, the failure message is that
// of missing.
func (s *suite) until(reached func() bool, missing func() string) {
	s.Helper()
	for !reached() {
		if s.pause(s.h.TTL / 50); s.ctx.Err() != nil {
			s.Fatal(missing())
		}
	}
}

// windowIsOver checks that the grant of i was not given to another before the window's end.
func (s *suite) windowIsOver(i coord.GrantInfo) {
	s.Helper()
	if end := i.Asked.Add(i.Valid); time.Now().Before(end) {
		s.Errorf("given away %v before the end of the window", time.Until(end))
	}
}

// release stops renewing a grant and releases it.
func (s *suite) release(g coord.Grant) {
	s.Helper()
	if r, ok := g.(coord.Renewer); ok && s.kept[r] != nil {
		s.kept[r]()
	}
	s.noError("releasing", g.Release(s.ctx))
}

// ended waits for the end of a grant or session and checks its Err.
func (s *suite) ended(what string, x interface {
	Done() <-chan struct{}
	Err() error
}, causes ...error) {
	s.Helper()
	await(s, x.Done(), what+" did not end")
	wantCause(s, what, x.Err(), causes...)
}

// await waits until c is closed; if that never happens, the failure message is missing.
func await(s *suite, c <-chan struct{}, missing string) {
	s.Helper()
	select {
	case <-c:
	case <-s.ctx.Done():
		s.Fatal(missing)
	}
}
