package coordtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/coord"
)

// Verb names one kind of request.
type Verb string

// The verbs. Abandon sends nothing to the service and therefore has none.
const (
	VerbOpen     Verb = "open"
	VerbAcquire  Verb = "acquire" // and each further try of a waiting claim that polls
	VerbRenew    Verb = "renew"
	VerbRelease  Verb = "release"
	VerbPublish  Verb = "publish"
	VerbDescribe Verb = "describe"
	VerbWatch    Verb = "watch" // each read of a watch
	VerbEnqueue  Verb = "enqueue"
	VerbWait     Verb = "wait"  // Place.Wait
	VerbLeave    Verb = "leave" // Place.Leave, and the withdrawal of an uncertain claim
	VerbCreate   Verb = "create"
	VerbUpdate   Verb = "update"
	VerbDelete   Verb = "delete"
	VerbClose    Verb = "close" // of a session
)

// ErrCut is the error of a request that a fault broke.
var ErrCut = errors.New("connection cut by a test")

var errRequestLost = fmt.Errorf("request lost: %w", ErrCut)

// Fault disturbs a request or its answer. The zero Fault disturbs nothing.
type Fault struct {
	name    string
	before  time.Duration         // the request is delayed by this
	expires bool                  // the service ends the grant or session of the request
	dropped bool                  // the request never arrives, which is no error by itself
	after   time.Duration         // the answer is delayed by this
	answer  func(err error) error // what the client receives instead of the answer; nil for the answer itself
}

// held is a delay that lasts until the fault is cleared.
const held time.Duration = -1

// String returns the fault's name, for example "drop", "lose reply".
func (f Fault) String() string { return cmp.Or(f.name, "none") }

// Drop returns a fault in which the request never arrives and has no answer. The call ends with its context, or with
// ErrCut when the fault is cleared.
func Drop() Fault {
	return Fault{name: "drop", before: held, dropped: true, answer: saying(errRequestLost)}
}

// Fail returns a fault in which the request never arrives and the client receives err at once. If err is nil, it
// receives ErrCut.
func Fail(err error) Fault {
	return Fault{name: "fail", dropped: true, answer: saying(fmt.Errorf("request lost: %w", cmp.Or(err, ErrCut)))}
}

// Delay returns a fault in which the request arrives d later, unless its context ends before.
func Delay(d time.Duration) Fault { return Fault{name: "delay", before: d} }

// DelayReply returns a fault in which the request is executed at once and its answer arrives d later. If the context
// ends before, the answer is lost.
func DelayReply(d time.Duration) Fault { return Fault{name: "delay reply", after: d} }

// LoseReply returns a fault in which the request is executed, but the client receives ErrCut.
func LoseReply() Fault {
	return Fault{name: "lose reply", answer: saying(fmt.Errorf("answer lost: %w", ErrCut))}
}

// Hang returns a fault in which the request arrives when the fault is cleared. If the context ends before, it never
// arrives.
func Hang() Fault { return Fault{name: "hang", before: held} }

// HangReply returns a fault in which the request is executed at once and its answer arrives when the fault is cleared.
// If the context ends before, the answer is lost.
func HangReply() Fault { return Fault{name: "hang reply", after: held} }

// Expire returns a fault for a renewal or a publication: the service ends the grant (or the session, if that renews)
// and answers that it is lost. Any other request only receives this answer.
func Expire() Fault {
	return Fault{name: "expire", expires: true, dropped: true, answer: saying(fmt.Errorf("taken away: %w", coord.ErrLost))}
}

func saying(err error) func(error) error { return func(error) error { return err } }

// wait blocks for d, or until the fault is cleared if d is held. It ends early with ctx.
func wait(ctx context.Context, cleared <-chan struct{}, d time.Duration) error {
	var over <-chan time.Time
	switch {
	case d == 0:
		return nil
	case d > 0:
		t := time.NewTimer(d)
		defer t.Stop()
		cleared, over = nil, t.C
	}
	select {
	case <-cleared:
	case <-over:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("no answer: %w", ErrCut), ctx.Err())
	}
	return nil
}

// Faults decides what happens to the requests on the link of a Mem's client. The zero
// value lets everything pass. Its methods are safe for concurrent use.
type Faults struct {
	mu     sync.Mutex
	rules  map[Verb]*rule
	script func(Verb) Fault
	calls  map[Verb]int
	called chan struct{} // closed and replaced at each call; nil while nobody waits
}

type rule struct {
	fault Fault
	left  int // how many more requests it affects; negative: all
	open  chan struct{}
}

// Set makes fault happen to the next requests of a verb, as many as times, or to all until it is cleared or replaced if
// times is 0. Requests that hang in the fault before it are released.
func (f *Faults) Set(v Verb, fault Fault, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clearLocked(v)
	if f.rules == nil {
		f.rules = map[Verb]*rule{}
	}
	f.rules[v] = &rule{fault: fault, left: cmp.Or(times, -1), open: make(chan struct{})}
}

// Clear lets the given verbs pass again and releases the requests that hang in their faults. Without verbs it clears
// all faults and the script.
func (f *Faults) Clear(verbs ...Verb) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(verbs) == 0 {
		f.script = nil
		for v := range f.rules {
			f.clearLocked(v)
		}
	}
	for _, v := range verbs {
		f.clearLocked(v)
	}
}

func (f *Faults) clearLocked(v Verb) {
	if r := f.rules[v]; r != nil {
		close(r.open)
		delete(f.rules, v)
	}
}

// Script sets a function that chooses the fault of every request whose verb has none set. The function must be safe for
// concurrent use; nil removes it. A request that hangs in a fault chosen by it ends only with its context.
func (f *Faults) Script(choose func(Verb) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = choose
}

// Calls returns the number of requests of a verb that have begun, including those that a fault broke.
func (f *Faults) Calls(v Verb) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[v]
}

// Await blocks until n requests of a verb have begun since the Faults were made, and returns nil. If the context ends
// before, it returns the context's error.
func (f *Faults) Await(ctx context.Context, v Verb, n int) error {
	for {
		f.mu.Lock()
		if f.calls[v] >= n {
			f.mu.Unlock()
			return nil
		}
		if f.called == nil {
			f.called = make(chan struct{})
		}
		called := f.called
		f.mu.Unlock()
		select {
		case <-called:
		case <-ctx.Done():
			return fmt.Errorf("awaiting request %d to %s: %w", n, v, context.Cause(ctx))
		}
	}
}

// begin counts a request and returns its fault.
func (f *Faults) begin(v Verb) (Fault, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[Verb]int{}
	}
	f.calls[v]++
	if f.called != nil {
		close(f.called)
		f.called = nil
	}
	r := f.rules[v]
	if r == nil || r.left == 0 {
		if f.script != nil {
			return f.script(v), nil
		}
		return Fault{}, nil
	}
	if r.left > 0 {
		r.left--
	}
	return r.fault, r.open
}

// do makes one request through its fault. run executes it; expire, which may be nil, ends its grant or session if the
// fault is Expire. On nil Faults it only calls run.
func (f *Faults) do(ctx context.Context, v Verb, expire func(), run func(context.Context) error) error {
	if f == nil {
		return run(ctx)
	}
	fault, cleared := f.begin(v)
	if err := wait(ctx, cleared, fault.before); err != nil {
		return err
	}
	if fault.expires && expire != nil {
		expire()
	}
	var err error
	if !fault.dropped {
		err = run(ctx)
	}
	if e := wait(ctx, cleared, fault.after); e != nil {
		return errors.Join(e, err)
	}
	if fault.answer != nil {
		err = fault.answer(err)
	}
	return err
}
