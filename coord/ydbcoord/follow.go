package ydbcoord

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/spawn"
)

// Follower follows any number of semaphores of one session. A semaphore that changes is read at once; the newest state
// of each name is kept for Next or Take, so that a slow reader delays nobody and needs memory for only one state per
// name. A Follower has no goroutine. It ends with Close, or with its session. Its methods are safe for concurrent use.
//
// The service reports changes of the owners and of the data, but not of the waiters. The waiters in a state are those
// at the last other change, or at a Look.
type Follower struct {
	s    *Session
	wake chan struct{} // has room for one element; filled when there is a state to take

	// Guarded by the session's mutex.
	ready  []string
	latest map[string]SemaphoreState
	closed bool
}

// Follow returns a Follower that follows nothing yet.
func (s *Session) Follow() *Follower {
	return &Follower{s: s, wake: make(chan struct{}, 1), latest: map[string]SemaphoreState{}}
}

// Add follows semaphores by name, including ones that do not exist yet. Next returns the state of each as soon as it is
// known, and again after each change and each new attach. A name that is followed already is read once more. If no
// semaphore can have a name, the error wraps coord.ErrInvalid; the other names are added.
func (f *Follower) Add(names ...string) error {
	var bad error
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if f.closed {
		return fmt.Errorf("following: %w", coord.ErrClosed)
	}
	for _, name := range names {
		if err := CheckName(name); err != nil {
			bad = fmt.Errorf("following %q: %w", cutText(name, 40), err)
			continue
		}
		f.s.watches.followLocked(f, name)
	}
	f.s.flushLocked()
	return bad
}

// Remove stops following names, and drops their states that were not taken.
func (f *Follower) Remove(names ...string) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	for _, name := range names {
		delete(f.latest, name)
		f.s.watches.unfollowLocked(f, name)
	}
}

// Look reads followed names once more, including their queues, without touching their watches. Next returns the
// answers. Look does not block. The caller must limit how often it calls Look.
func (f *Follower) Look(names ...string) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	for _, name := range names {
		if !f.s.watches.follows(f, name) {
			continue
		}
		r := newDescribe(verbDescribe, name)
		r.then = func() {
			if state, err := f.s.stateLocked(r); err == nil {
				f.notifyLocked(state)
			}
		}
		f.s.addLocked(r)
	}
}

// Unarmed counts the names whose changes may not be reported, because the service has not answered the request to arm
// their watch for longer than limit.
func (f *Follower) Unarmed(limit time.Duration) int {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.s.watches.unarmedLocked(f, limit)
}

// Next blocks until there is a state that was not taken yet, and returns it. It returns the error of ctx, the reason
// for the session's end, or coord.ErrClosed after Close.
func (f *Follower) Next(ctx context.Context) (SemaphoreState, error) {
	for {
		if state, ok, err := f.Take(); ok || err != nil {
			return state, err
		}
		select {
		case <-f.wake:
		case <-f.s.done:
		case <-ctx.Done():
			return SemaphoreState{}, ctx.Err()
		}
	}
}

// Ready returns a channel that receives when there may be a state to Take, but not when the session ends.
func (f *Follower) Ready() <-chan struct{} { return f.wake }

// Take returns a state that was not taken yet, if there is one. It returns the same errors as Next, except that of ctx.
func (f *Follower) Take() (SemaphoreState, bool, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	switch {
	case f.s.end.err != nil:
		return SemaphoreState{}, false, f.s.end.err
	case f.closed:
		f.wakeUp() // for other calls of Next that wait
		return SemaphoreState{}, false, fmt.Errorf("following: %w", coord.ErrClosed)
	}
	for len(f.ready) > 0 {
		name := f.ready[0]
		f.ready = f.ready[1:]
		if state, ok := f.latest[name]; ok {
			delete(f.latest, name)
			if len(f.ready) > 0 {
				f.wakeUp()
			}
			return state, true, nil
		}
	}
	return SemaphoreState{}, false, nil
}

// Close stops following all names. A waiting Next returns.
func (f *Follower) Close() {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.closed = true
	for name := range f.s.watches.byName {
		f.s.watches.unfollowLocked(f, name)
	}
	clear(f.latest)
	f.wakeUp()
}

// notifyLocked stores a state for Next and Take, unless a newer one is stored already or the name is not followed any
// more.
func (f *Follower) notifyLocked(state SemaphoreState) {
	if !f.s.watches.follows(f, state.Name) {
		return
	}
	old, waits := f.latest[state.Name]
	if waits && old.request > state.request {
		return
	}
	if waits && state.Since.IsZero() {
		state.Since = old.Since // the state that no reader has received
	}
	f.latest[state.Name] = state
	if !waits {
		f.ready = append(f.ready, state.Name)
	}
	f.wakeUp()
}

func (f *Follower) wakeUp() { spawn.Wake(f.wake) }

// Watch implements coord.Watcher. While there is no connection nothing is yielded, so that the last state may be old. A
// semaphore or election that does not exist is yielded as Absent and followed further.
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
			state, err := f.Next(ctx)
			switch {
			case err != nil:
				return // ctx or the session is over
			case state.Err != nil:
				yield(coord.Description{}, fmt.Errorf("watching: %w", state.Err))
				return
			}
			d := state.describe(kind, s.incarnation)
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
