package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/internal/lifetime"
	"coordtop/internal/ground/spawn"
)

// session has the connections, grants and leftovers of a client's presence. Redis knows no sessions, so that only Close
// and Abandon end one.
type session struct {
	*lifetime.Session[*grant]
	driver *Driver
	client redis.UniversalClient
	ttl    time.Duration

	retryDelay time.Duration // the longest pause between two tries of a waiting claim

	// cut ends when the connections are cut; after that nothing is sent or dialled.
	cut   context.Context
	sever context.CancelFunc

	asking sync.WaitGroup // requests under way, see ask

	connections *connections // that the session has made

	mu        sync.Mutex
	leftovers []leftover
}

var _ coord.Describer = (*session)(nil)

// Info implements coord.DriverSession.
func (s *session) Info() coord.SessionInfo {
	return coord.SessionInfo{Caps: s.driver.options.Caps()}
}

// Caps returns the abilities of a driver with these options.
func (o Options) Caps() coord.Caps {
	return coord.Caps{Mutex: true, Election: true, MaxData: maxData}
}

// errSessionOver is the cause with which every session ends.
var errSessionOver = fmt.Errorf("the session was closed: %w", coord.ErrClosed)

// Close implements coord.DriverSession.
func (s *session) Close(ctx context.Context) error {
	grants, first := s.Shut(errSessionOver) // claims that wait clean up after themselves
	if !first {
		return nil
	}
	grants = slices.DeleteFunc(grants, func(g *grant) bool { return !g.End(errSessionOver) })
	idle := make(chan struct{})
	spawn.Go(s.Open(), nil, func() { // ends with the calls in flight, which over ends; joined below
		defer close(idle)
		s.Wait()
	})
	var errs []error
	for _, g := range grants {
		errs = append(errs, g.giveBack(ctx))
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
	errs = append(errs, s.releaseLeftoversAtClose(ctx))
	s.over()
	<-idle
	return errors.Join(errs...)
}

// releaseLeftoversAtClose releases, while the session closes, the keys that may be ours without our knowing. If a try
// may still arrive, it repeats the release until the server has ended our connections, or ctx ends.
func (s *session) releaseLeftoversAtClose(ctx context.Context) error {
	pause := retryPolicy.Start()
	for {
		err := s.releaseLeftovers(ctx, func(leftover) bool { return true })
		late := s.leftoversWhere(func(d leftover) bool { return d.late })
		if err == nil || len(late) == 0 {
			return err
		}
		if errors.Is(err, coord.ErrRefused) || s.hidden() || pause.Wait(ctx) != nil {
			return uncertain(late[0].ttl, err)
		}
	}
}

// Abandon implements coord.DriverSession. It closes the client, so that calls in flight return, even a Close.
func (s *session) Abandon() {
	grants, first := s.Shut(errSessionOver)
	if !first {
		s.disconnect()
		<-s.Done()
		return
	}
	for _, g := range grants {
		g.End(errSessionOver)
	}
	s.over()
}

// over cuts the connections and waits for every call. After the calls nothing is added to asking, so that waiting for
// it is safe.
func (s *session) over() {
	s.disconnect()
	s.Wait()
	s.asking.Wait()
	s.Finish(errSessionOver)
}

// disconnect makes every call in flight return, even one that still dials.
func (s *session) disconnect() {
	s.sever()
	_ = s.client.Close() // an error that it was closed or broken already is ignored
}

// unfinished is the error of a request whose caller stopped waiting. The command may still be executed.
type unfinished struct {
	cause error
	done  <-chan struct{} // closed when the library has the answer or has given up
}

// Error implements error.
func (u *unfinished) Error() string { return fmt.Sprintf("no answer yet: %v", u.cause) }

// Unwrap returns the reason why the caller stopped waiting.
func (u *unfinished) Unwrap() error { return u.cause }

// ask runs do, which sends commands, for at most timeout. It returns as soon as ctx ends, although the library notices
// its end only between two commands. Then the error is an *unfinished and do continues in a goroutine that the session
// joins when it is over.
func ask[T any](ctx context.Context, s *session, timeout time.Duration, do func(context.Context) (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	done := make(chan struct{})
	spawn.Go(ctx, &s.asking, func() {
		defer close(done)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		defer spawn.OnDone(s.cut, cancel)() // because closing the client does not end a dial
		var value T
		err := spawn.Call(bounded, func() (err error) {
			value, err = do(bounded)
			return err
		})
		replies <- reply{value, err}
	})
	select {
	case r := <-replies:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, &unfinished{context.Cause(ctx), done}
	}
}

// script runs a script about a key by ask.
func (s *session) script(ctx context.Context, bound time.Duration, what *redis.Script, key string, args ...any) (int64, error) {
	return ask(ctx, s, bound, func(ctx context.Context) (int64, error) {
		return run(ctx, s.client, what, []string{key}, args...)
	})
}
