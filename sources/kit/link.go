package kit

import (
	"context"
	"errors"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// ErrClosed is the cause of a Link's end if its source closed it.
var ErrClosed = errors.New("closed by us")

// Link is one connection of a source with one scope: its goroutines, and the Changes that they send to Next. The first
// error ends the Link; Changes that other goroutines have found by then still reach Next. Its methods are safe for
// concurrent use; the caller must call Close.
type Link struct {
	ctx     context.Context // ends with the link, with the reason as its cause
	cancel  context.CancelCauseFunc
	wg      sync.WaitGroup
	joined  func() <-chan struct{} // closed when the goroutines have ended, which they do after ctx
	out     chan sources.Change
	closing chan struct{}  // closed when Next is not called any more
	close   func()         // closes closing
	alive   chan time.Time // capacity 1: when the server has answered
}

// NewLink returns a link that does not end with ctx. It starts nothing. ctx only carries the handler of panics, see
// spawn.With.
func NewLink(ctx context.Context) *Link {
	l := &Link{out: make(chan sources.Change), closing: make(chan struct{}), alive: make(chan time.Time, 1)}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.close = sync.OnceFunc(func() { close(l.closing) })
	l.joined = sync.OnceValue(func() <-chan struct{} {
		joined := make(chan struct{})
		spawn.Go(l.ctx, nil, func() { // Close waits for it
			l.wg.Wait()
			close(joined)
		})
		return joined
	})
	return l
}

// Context returns a context that ends with the link, with the reason as its cause.
func (l *Link) Context() context.Context { return l.ctx }

// Start runs f in a goroutine for which Close waits. An error or a panic of f ends the link. f must return soon after
// Context ends.
func (l *Link) Start(f func() error) {
	spawn.Go(l.ctx, &l.wg, func() {
		if err := spawn.Call(l.ctx, f); err != nil {
			l.cancel(err)
		}
	})
}

// Answered makes Next report that the server answered at an instant. It does not block. Until Next is called, the
// earliest answer counts.
func (l *Link) Answered(at time.Time) {
	select {
	case l.alive <- at.Round(0):
	default:
	}
}

// Send passes a change to Next and blocks until Next has received it, even if the link ends before that, because the
// sender will compare its next read with this change. A zero At becomes now. If Close was called, Send returns the
// cause of the link's end.
func (l *Link) Send(c sources.Change) error {
	if c.At.IsZero() {
		c.At = sources.Wall()
	}
	select {
	case l.out <- c:
		return nil
	case <-l.closing:
		return context.Cause(l.ctx)
	}
}

// Next implements sources.Source. It returns a sent change, a proof of life, or after two seconds an empty change. If
// ctx has ended, it returns the error of ctx. If the link has ended, it returns the cause when no change is left, but
// at most a second after the end.
func (l *Link) Next(ctx context.Context) (sources.Change, error) {
	pause := 2 * time.Second // longer than the pause between two answers of a quiet server
	ended, alive, joined := l.ctx.Done(), l.alive, (<-chan struct{})(nil)
	if l.ctx.Err() != nil {
		ended, alive, joined, pause = nil, nil, l.joined(), time.Second
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case c := <-l.out:
		if joined == nil { // after the end, the server may have been silent since
			c.Alive = []string{""} // the only scope
		}
		return c, nil
	case at := <-alive:
		return sources.Change{Alive: []string{""}, At: at}, nil
	case <-joined:
		return sources.Change{}, context.Cause(l.ctx)
	case <-t.C:
		if joined != nil {
			return sources.Change{}, context.Cause(l.ctx)
		}
		return sources.Change{}, nil
	case <-ctx.Done():
		return sources.Change{}, ctx.Err()
	case <-ended:
		return l.Next(ctx)
	}
}

// Close ends the link, with ErrClosed if it has not ended, and waits for its goroutines. A second call also waits for
// them.
func (l *Link) Close() {
	l.cancel(ErrClosed)
	l.close()
	l.wg.Wait()
	<-l.joined()
}

// ScopedLink is a Link for a source with several scopes, each with its own server.
type ScopedLink struct {
	*Link

	mu    sync.Mutex
	alive map[string]time.Time // last answers of scopes, which Next has not reported
}

// NewScopedLink returns a link for several scopes, see NewLink.
func NewScopedLink(ctx context.Context) *ScopedLink {
	return &ScopedLink{Link: NewLink(ctx), alive: map[string]time.Time{}}
}

// Answered makes Next report that the server of a scope answered at an instant. It does not block.
func (l *ScopedLink) Answered(scope string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alive[scope] = at.Round(0)
	l.Link.Answered(at)
}

// Next calls Link.Next; Change.Alive has the scopes that answered, at Change.At or later. Those that answered earlier
// are left for a later call, except Change.Scope.
func (l *ScopedLink) Next(ctx context.Context) (sources.Change, error) {
	c, err := l.Link.Next(ctx)
	if err != nil {
		return c, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Alive = nil
	for scope, at := range l.alive {
		if scope != c.Scope && at.Before(c.At) {
			l.Link.Answered(at)
			continue
		}
		c.Alive = append(c.Alive, scope)
		delete(l.alive, scope)
	}
	return c, nil
}
