package ui

import (
	"context"
	"sync"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
)

// testOperator is an operator that does what a test has written down. The fields are set
// before it is used; the methods are safe for concurrent use.
type testOperator struct {
	Offer       []action.Choice   // for every row
	Kept        map[string]string // owners that cannot be released by force, with the reason
	Able        []action.Ability
	Effect      action.Effect // of every request
	DescribeErr error
	Refuse      error         // what Start returns; nil: it begins
	Protected   string        // the name that Arm demands; "": none
	ArmErr      error         // what Arm returns where the name is not given
	Hold        chan struct{} // if set, Describe waits until it is closed, or for its context

	mu     sync.Mutex
	status *action.Status
	wake   chan struct{}
	begun  []action.Request
	called []string // what else was asked for, in order
}

// newTestOperator returns an operator that can write without an end, and holds nothing.
func newTestOperator() *testOperator {
	return &testOperator{status: &action.Status{Always: true}, wake: make(chan struct{}, 1)}
}

// Caps returns Able.
func (o *testOperator) Caps() []action.Ability { return o.Able }

// Choices returns Offer.
func (o *testOperator) Choices(*sources.Row) []action.Choice { return o.Offer }

// NotEnded returns the reason in Kept.
func (o *testOperator) NotEnded(_ *sources.Row, t action.Target) string { return o.Kept[t.Owner] }

// Describe returns Effect and DescribeErr.
func (o *testOperator) Describe(ctx context.Context, _ action.Request) (action.Effect, error) {
	if o.Hold != nil {
		select {
		case <-o.Hold:
		case <-ctx.Done():
			return action.Effect{}, ctx.Err()
		}
	}
	return o.Effect, o.DescribeErr
}

// Start notes the request, which is then being sent.
func (o *testOperator) Start(r action.Request) (uint64, error) {
	if o.Refuse != nil {
		return 0, o.Refuse
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = append(o.begun, r)
	s := *o.status
	s.Runs = append(append([]action.Run(nil), s.Runs...), action.Run{ID: uint64(len(o.begun)), Request: r})
	o.status = &s
	return uint64(len(o.begun)), nil
}

// CallOff notes it.
func (o *testOperator) CallOff(uint64) { o.note("call off") }

// Disarm makes writing impossible.
func (o *testOperator) Disarm() {
	o.note("disarm")
	o.Change(func(s *action.Status) { s.Always, s.Armed = false, time.Time{} })
}

// LetRunOut notes it.
func (o *testOperator) LetRunOut() { o.note("let run out") }

// Arm makes writing possible without an end, if the name is Protected.
func (o *testOperator) Arm(source, typed string) error {
	o.note("arm " + source + " " + typed)
	if o.ArmErr != nil && (o.Protected == "" || typed != o.Protected) {
		return o.ArmErr
	}
	o.Change(func(s *action.Status) { s.Always = true })
	return nil
}

// Status returns what Change has made last.
func (o *testOperator) Status() *action.Status {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status
}

// Wake receives after Change.
func (o *testOperator) Wake() <-chan struct{} { return o.wake }

// Change puts another status in place.
func (o *testOperator) Change(change func(*action.Status)) {
	o.mu.Lock()
	s := *o.status
	change(&s)
	o.status = &s
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Begun returns the requests that were started.
func (o *testOperator) Begun() []action.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.begun
}

// Called returns what else was asked for, in order.
func (o *testOperator) Called() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.called
}

func (o *testOperator) note(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.called = append(o.called, what)
}
