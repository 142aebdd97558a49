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

// The verbs. Abandon asks nothing of the service and therefore has none.
const (
	VerbOpen     Verb = "open"
	VerbAcquire  Verb = "acquire" // also each further try of a waiting claim that polls
	VerbRenew    Verb = "renew"
	VerbRelease  Verb = "release"
	VerbPublish  Verb = "publish"
	VerbDescribe Verb = "describe"
	VerbWatch    Verb = "watch" // each read of a watch
	VerbEnqueue  Verb = "enqueue"
	VerbWait     Verb = "wait"  // Place.Wait
	VerbLeave    Verb = "leave" // Place.Leave, and whatever takes back an uncertain claim
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
	before  time.Duration         // the request waits so long on its way
	expires bool                  // what it is about is taken away
	dropped bool                  // it never arrives, which is no error by itself
	after   time.Duration         // its answer waits so long on its way
	answer  func(err error) error // what the client gets instead of the answer; nil: the answer
}

// held as a wait means: until the fault is cleared.
const held time.Duration = -1

// String returns the fault's name: "drop", "lose reply".
func (f Fault) String() string { return cmp.Or(f.name, "none") }

// Drop: the request never arrives and there is no answer. It ends with its context, or
// with ErrCut when the fault is cleared.
func Drop() Fault {
	return Fault{name: "drop", before: held, dropped: true, answer: saying(errRequestLost)}
}

// Fail: the request never arrives and the client gets err at once. Nil: ErrCut.
func Fail(err error) Fault {
	return Fault{name: "fail", dropped: true, answer: saying(fmt.Errorf("request lost: %w", cmp.Or(err, ErrCut)))}
}

// Delay: the request arrives d later, unless its context ends before.
func Delay(d time.Duration) Fault { return Fault{name: "delay", before: d} }

// DelayReply: the request is executed at once, its answer arrives d later. If the
// context ends before, the answer is lost.
func DelayReply(d time.Duration) Fault { return Fault{name: "delay reply", after: d} }

// LoseReply: the request is executed, and instead of the answer comes ErrCut.
func LoseReply() Fault {
	return Fault{name: "lose reply", answer: saying(fmt.Errorf("answer lost: %w", ErrCut))}
}

// Hang: the request waits on its way until the fault is cleared, then arrives. If
// the context ends before, it never does.
func Hang() Fault { return Fault{name: "hang", before: held} }

// HangReply: the request is executed, its answer waits on its way until the fault is
// cleared. If the context ends before, the answer is lost.
func HangReply() Fault { return Fault{name: "hang reply", after: held} }

// Expire: the service takes away what the request is about (of a renewal or a
// publication: the grant, or the session where that renews) and answers that it is
// lost. On any other verb it is the answer alone.
func Expire() Fault {
	return Fault{name: "expire", expires: true, dropped: true, answer: saying(fmt.Errorf("taken away: %w", coord.ErrLost))}
}

func saying(err error) func(error) error { return func(error) error { return err } }

// wait blocks for d, or where it is held until the fault is cleared, and no longer than ctx.
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
	called chan struct{} // closed and replaced at each call; nil: nobody waits
}

type rule struct {
	fault Fault
	left  int // requests it is still for; negative: all
	open  chan struct{}
}

// Set makes fault happen to the next times requests of a verb; 0: to all until it is
// cleared or replaced. Requests that hang in the fault before it are released.
func (f *Faults) Set(v Verb, fault Fault, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clearLocked(v)
	if f.rules == nil {
		f.rules = map[Verb]*rule{}
	}
	f.rules[v] = &rule{fault: fault, left: cmp.Or(times, -1), open: make(chan struct{})}
}

// Clear lets the given verbs pass again and releases the requests that hang in their faults.
// Without verbs it clears all, a script included.
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

// Script is asked for the fault of every request whose verb has none set. It must be
// safe for concurrent use. A request that hangs in a fault that it chose ends with
// its context only. Nil: no script.
func (f *Faults) Script(choose func(Verb) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = choose
}

// Calls returns the number of requests of a verb that began, broken ones included.
func (f *Faults) Calls(v Verb) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[v]
}

// Await blocks until n requests of a verb have begun since the Faults were made, or
// the context ends, which is the error.
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

// begin counts a request and takes the fault that is for it.
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

// do makes one request through its fault. run executes it; expire, which may be nil,
// does the effect of Expire before the answer. Nil Faults break nothing.
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
