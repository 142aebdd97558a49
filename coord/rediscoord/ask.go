package rediscoord

import (
	"context"
	"fmt"
	"time"

	"coordtop/internal/spawn"
)

// unfinished is the error of a question whose asker stopped waiting: what was sent may
// still be obeyed.
type unfinished struct {
	cause error
	done  <-chan struct{} // closed when the library has given up or got the answer
}

// Error implements error.
func (u *unfinished) Error() string { return fmt.Sprintf("no answer yet: %v", u.cause) }

// Unwrap returns why the asker stopped waiting.
func (u *unfinished) Unwrap() error { return u.cause }

// ask runs do, which talks to the server for timeout at the most, and returns as soon as
// ctx ends, although the library sees a cancel only between two commands. Then the error
// is an *unfinished and do goes on in a goroutine that the session joins when it is over.
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
		defer spawn.OnDone(s.cut, cancel)() // closing the client does not end a dial
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
