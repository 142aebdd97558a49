package kit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// ErrClosed is the cause of a Link's end when its own source closed it.
var ErrClosed = errors.New("closed by us")

// Link is one connection of a source with one scope: its goroutines, and the Changes that they
// send to Next. The first error ends all of it; Changes that the other goroutines have found by
// then still reach Next. Its methods are safe for concurrent use; the caller must call Close.
type Link struct {
	ctx     context.Context // the link's life; its cause is the reason of the end
	cancel  context.CancelCauseFunc
	wg      sync.WaitGroup
	joined  func() <-chan struct{} // closed when the goroutines have ended, as they do after ctx
	out     chan sources.Change
	closing chan struct{} // closed: Next is not called any more
	close   func()        // closes it
	alive   chan struct{} // capacity 1: the server answered
}

// NewLink returns a link that lives on when ctx ends. It starts nothing. ctx only carries
// the handler of panics, see spawn.With.
func NewLink(ctx context.Context) *Link {
	l := &Link{out: make(chan sources.Change), closing: make(chan struct{}), alive: make(chan struct{}, 1)}
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

// Context ends with the link; its cause is the reason.
func (l *Link) Context() context.Context { return l.ctx }

// Start runs f in a goroutine that Close waits for; an error or a panic of it ends the
// link. f ends soon after Context.
func (l *Link) Start(f func() error) {
	spawn.Go(l.ctx, &l.wg, func() {
		if err := spawn.Call(l.ctx, f); err != nil {
			l.cancel(err)
		}
	})
}

// Answered makes Next report that the server answered. It does not block.
func (l *Link) Answered() { spawn.Wake(l.alive) }

// Send hands a change to Next and blocks until Next takes it, even when the link ends meanwhile:
// the sender will compare its next read with this change. At zero becomes now. An error is the
// cause of the link's end, and means that Close was called.
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

// Next is Source.Next: it returns a change that was sent, or a proof of life, or after two
// seconds an empty change. Its error is that of ctx or, where ctx has not ended, the cause
// of the link's end: when no change is left, or a second after the end.
func (l *Link) Next(ctx context.Context) (sources.Change, error) {
	pause := 2 * time.Second // longer than between two answers of a quiet server
	ended, alive, joined := l.ctx.Done(), l.alive, (<-chan struct{})(nil)
	if l.ctx.Err() != nil {
		ended, alive, joined, pause = nil, nil, l.joined(), time.Second
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case c := <-l.out:
		if joined == nil { // else the server may have been silent since
			c.Alive = []string{""} // its only scope
		}
		return c, nil
	case <-alive:
		return sources.Change{Alive: []string{""}, At: sources.Wall()}, nil
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

// Close ends the link, with ErrClosed if it still lives, and joins its goroutines. A second
// call waits for them too.
func (l *Link) Close() {
	l.cancel(ErrClosed)
	l.close()
	l.wg.Wait()
	<-l.joined()
}

// ScopedLink is the Link of a source of several scopes, each with its own server.
type ScopedLink struct {
	*Link

	mu    sync.Mutex
	alive map[string]struct{} // scopes that answered since the last Next
}

// NewScopedLink is NewLink for several scopes.
func NewScopedLink(ctx context.Context) *ScopedLink {
	return &ScopedLink{Link: NewLink(ctx), alive: map[string]struct{}{}}
}

// Answered makes Next report that the server of a scope answered. It does not block.
func (l *ScopedLink) Answered(scope string) {
	l.mu.Lock()
	l.alive[scope] = struct{}{}
	l.mu.Unlock()
	l.Link.Answered()
}

// Next is Link.Next; Alive has the scopes that answered.
func (l *ScopedLink) Next(ctx context.Context) (sources.Change, error) {
	c, err := l.Link.Next(ctx)
	if err != nil {
		return c, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Alive = slices.Collect(maps.Keys(l.alive))
	clear(l.alive)
	return c, nil
}
