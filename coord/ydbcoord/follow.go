package ydbcoord

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"coordtop/coord"
)

// Follower follows any number of semaphores of one session through one channel: what
// changes is looked at once and waits to be taken, the newest state of each name, so that
// a slow reader costs memory for as many states as there are names and delays nobody. It
// has no goroutine. It is ended with Close, or with its session. Its methods are safe for
// concurrent use.
//
// The service tells of changes of the owners and of the data. Of waiters it tells nothing:
// they are those of the moment when something else changed, or of a Look.
type Follower struct {
	s    *Session
	wake chan struct{} // has room for one; filled when there is something to take

	// Guarded by the session's mutex.
	names  map[string]struct{}
	ready  []string
	latest map[string]Sight
	closed bool
}

// Follow returns a Follower that follows nothing yet.
func (s *Session) Follow() *Follower {
	f := &Follower{s: s, wake: make(chan struct{}, 1), names: map[string]struct{}{}, latest: map[string]Sight{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.followers[f] = struct{}{}
	return f
}

// Add follows semaphores by name, also such as do not exist yet. The state of each is told
// as soon as it is known, and again after each change and each new attach. A name that is
// followed already is told once more. A name that no semaphore can have is an error, of
// the kind coord.ErrInvalid; the others are added.
func (f *Follower) Add(names ...string) error {
	var bad error
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return fmt.Errorf("following: %w", coord.ErrClosed)
	}
	for _, name := range names {
		if err := checkName(name); err != nil {
			bad = fmt.Errorf("following %q: %w", cutText(name, 40), err)
			continue
		}
		f.names[name] = struct{}{}
		f.s.watches.followLocked(f, name)
	}
	f.s.flushLocked()
	return bad
}

// Remove ends the following of names. What was not taken of them is dropped.
func (f *Follower) Remove(names ...string) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	for _, name := range names {
		delete(f.names, name)
		delete(f.latest, name)
		f.s.watches.unfollowLocked(f, name)
	}
}

// Look reads followed names once more, without touching their watches: the way to see
// their queues. The answers come through Next. It does not block, and does not pace: that
// is the caller's part.
func (f *Follower) Look(names ...string) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	for _, name := range names {
		if _, ok := f.names[name]; !ok || f.closed {
			continue
		}
		r := newDescribe(name)
		r.then = func() {
			if sight, err := f.s.sightLocked(r); err == nil {
				f.tellLocked(sight)
			}
		}
		f.s.addLocked(r)
	}
}

// Next blocks until there is a state that was not taken yet, and returns it. The error is
// that of ctx, or why the session ended, or coord.ErrClosed.
func (f *Follower) Next(ctx context.Context) (Sight, error) {
	for {
		if sight, ok, err := f.take(); ok || err != nil {
			return sight, err
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
			return Sight{}, ctx.Err()
		}
	}
}

func (f *Follower) take() (Sight, bool, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	switch {
	case f.s.err != nil:
		f.wakeUp() // for others who wait, too
		return Sight{}, false, f.s.err
	case f.closed:
		f.wakeUp()
		return Sight{}, false, fmt.Errorf("following: %w", coord.ErrClosed)
	}
	for len(f.ready) > 0 {
		name := f.ready[0]
		f.ready = f.ready[1:]
		if sight, ok := f.latest[name]; ok {
			delete(f.latest, name)
			if len(f.ready) > 0 {
				f.wakeUp()
			}
			return sight, true, nil
		}
	}
	return Sight{}, false, nil
}

// Close ends the following. A Next that waits returns.
func (f *Follower) Close() {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.closed = true
	delete(f.s.watches.followers, f)
	for name := range f.names {
		f.s.watches.unfollowLocked(f, name)
	}
	clear(f.names)
	clear(f.latest)
	f.wakeUp()
}

// tellLocked keeps a sight to be taken, unless a newer one waits already or the name is
// not followed any more.
func (f *Follower) tellLocked(sight Sight) {
	if _, ok := f.names[sight.Name]; !ok {
		return
	}
	old, waits := f.latest[sight.Name]
	if waits && old.request > sight.request {
		return
	}
	f.latest[sight.Name] = sight
	if !waits {
		f.ready = append(f.ready, sight.Name)
	}
	f.wakeUp()
}

func (f *Follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Watch implements coord.Watcher. While there is no connection nothing is yielded: what
// was yielded last may be old. A semaphore or election that does not exist is yielded as
// absent, and followed on.
func (s *Session) Watch(ctx context.Context, kind coord.Kind, name string) iter.Seq2[coord.Description, error] {
	return func(yield func(coord.Description, error) bool) {
		f := s.Follow()
		defer f.Close()
		if err := f.Add(name); err != nil {
			yield(coord.Description{}, fmt.Errorf("watching: %w", err))
			return
		}
		var last *coord.Description
		for {
			sight, err := f.Next(ctx)
			switch {
			case err != nil:
				return // ctx or the session is over
			case sight.Err != nil:
				yield(coord.Description{}, fmt.Errorf("watching: %w", sight.Err))
				return
			}
			d := s.qualified(sight.describe(kind))
			if last != nil && reflect.DeepEqual(*last, d) {
				continue
			}
			last = &d
			if !yield(d, nil) {
				return
			}
		}
	}
}
