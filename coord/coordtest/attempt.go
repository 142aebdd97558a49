package coordtest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// attempt is one run of a case. It does not report its result to the test, because the result proves nothing about the
// driver if the process was late during the run; then the case is run again.
type attempt struct {
	testing.TB
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	failures []string // the messages of Error and Fatal
	failed   bool
	skipped  string // the reason; "" if the case was not skipped
	cleanups []func()
	stalled  time.Duration // how late this process was within one TTL, at most
}

// try runs f and its clean-up functions, and returns the attempt.
func try(t testing.TB, f func(*attempt)) *attempt {
	a := &attempt{TB: t}
	a.ctx, a.cancel = context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer a.clean()
		f(a)
	}()
	<-done
	return a
}

func (a *attempt) clean() {
	a.cancel()
	for {
		a.mu.Lock()
		n := len(a.cleanups)
		if n == 0 {
			a.mu.Unlock()
			return
		}
		last := a.cleanups[n-1]
		a.cleanups = a.cleanups[:n-1]
		a.mu.Unlock()
		func() {
			defer func() {
				if a.Failed() { // a clean-up function may have ended this goroutine: run the others
					a.clean()
				}
			}()
			last()
		}()
	}
}

// late notes that the test's own process was late.
func (a *attempt) late(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stalled = max(a.stalled, by)
}

func (a *attempt) note(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = true
	a.failures = append(a.failures, text)
}

// The methods of testing.TB that report a result.

func (a *attempt) Context() context.Context { return a.ctx }

func (a *attempt) Cleanup(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cleanups = append(a.cleanups, f)
}

func (a *attempt) Fail()                             { a.note("failed") }
func (a *attempt) FailNow()                          { a.note("failed"); runtime.Goexit() }
func (a *attempt) Error(args ...any)                 { a.note(fmt.Sprint(args...)) }
func (a *attempt) Errorf(format string, args ...any) { a.note(fmt.Sprintf(format, args...)) }
func (a *attempt) Fatal(args ...any)                 { a.note(fmt.Sprint(args...)); runtime.Goexit() }
func (a *attempt) Fatalf(format string, args ...any) { a.Errorf(format, args...); runtime.Goexit() }

func (a *attempt) Failed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

func (a *attempt) Skip(args ...any) {
	a.mu.Lock()
	a.skipped = fmt.Sprint(args...)
	a.mu.Unlock()
	runtime.Goexit()
}

func (a *attempt) Skipf(format string, args ...any) { a.Skip(fmt.Sprintf(format, args...)) }
func (a *attempt) SkipNow()                         { a.Skip("skipped") }

func (a *attempt) Skipped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.skipped != ""
}
