package spawn

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// ErrPanic is wrapped by the errors that Call returns for panics.
var ErrPanic = errors.New("a defect in coordtop")

// Panic is a panic that was caught. As an error it names the line of the panic and wraps ErrPanic.
type Panic struct {
	Value any
	Line  string // file.go:12, where it happened
	Stack []byte // of the goroutine, as the runtime prints it
}

// Error returns one sentence, without the stack.
func (p *Panic) Error() string { return fmt.Sprintf("%v: %v, at %s", ErrPanic, p.Value, p.Line) }

// Unwrap returns ErrPanic.
func (p *Panic) Unwrap() error { return ErrPanic }

// key is the key of the handler in a context.
type key struct{}

// With returns a context under which panics are handled by handle instead of the handler of ctx. handle is called on
// the goroutine that panicked, possibly on several at the same time. It must not block for long, because those who join
// the goroutine wait for it.
func With(ctx context.Context, handle func(*Panic)) context.Context {
	return context.WithValue(ctx, key{}, handle)
}

// Go starts f in a goroutine. running, if not nil, counts the goroutine until f has returned or the handler has handled
// its panic. If it is nil, the caller must have another way to wait.
func Go(ctx context.Context, running *sync.WaitGroup, f func()) {
	body := guarded(ctx, f)
	if running == nil {
		go body()
		return
	}
	running.Go(body)
}

// After calls f in a goroutine of its own after d, see time.AfterFunc. ctx only supplies the handler of panics: its end
// does not stop the timer.
func After(ctx context.Context, d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, guarded(ctx, f))
}

// OnDone calls f in a goroutine of its own when ctx has ended, see context.AfterFunc.
func OnDone(ctx context.Context, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, guarded(ctx, f))
}

// Call calls f on this goroutine. If f panics, Call passes the panic to the handler and returns it as a *Panic. Without
// a handler it does not catch the panic.
func Call(ctx context.Context, f func() error) (err error) {
	handle := handler(ctx)
	if handle == nil {
		return f()
	}
	defer func() {
		if v := recover(); v != nil {
			p := &Panic{Value: v, Line: line(), Stack: debug.Stack()}
			handle(p)
			err = p
		}
	}()
	return f()
}

// Within calls f in a goroutine and returns what it returns. When ctx ends, it waits for f for at most grace longer and
// then returns the error of ctx; the goroutine runs until f returns, which may be never. If f panics, the error is
// ErrPanic alone; only the handler receives the value.
func Within[T any](ctx context.Context, grace time.Duration, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	Go(ctx, nil, func() { // received below
		r := result{err: ErrPanic}
		defer func() { done <- r }()
		value, err := f()
		r = result{value, err}
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-late.C:
		var none T
		return none, ctx.Err()
	}
}

func handler(ctx context.Context) func(*Panic) {
	handle, _ := ctx.Value(key{}).(func(*Panic))
	return handle
}

// guarded returns f with its panics caught, for a goroutine or a timer.
func guarded(ctx context.Context, f func()) func() {
	if handler(ctx) == nil {
		return f // the stack of a crash then shows only the caller's functions
	}
	return func() {
		_ = Call(ctx, func() error { f(); return nil }) // the only error is a panic, which the handler has received
	}
}

// line returns file and line of the panic that its caller recovers from.
func line() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)]) // from the panic on
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "a line that is not known"
		}
	}
}

// Wake wakes the receiver of c, whose capacity is 1: several wake-ups may merge into one. It does not block.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
