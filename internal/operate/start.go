package operate

import (
	"errors"
	"fmt"

	"coordtop/internal/action"
	"coordtop/sources"
)

// Errors of Start and Arm for callers to branch on, wrapped in sentences for the person. With each of them
// nothing was sent.
var (
	ErrReadOnly    = errors.New("read-only source")
	ErrNotArmed    = errors.New("writing is not armed")
	ErrUnconfirmed = errors.New("not confirmed")      // a name or a reason is missing
	ErrNotPossible = errors.New("not possible")       // for this row, now
	ErrTaken       = errors.New("taken")              // a try would only miss
	ErrChanged     = errors.New("changed")            // since the person decided
	ErrNoAudit     = errors.New("no audit")           // the audit cannot be written
	ErrClosed      = errors.New("coordtop is ending") // Close was called
)

// Start checks every guard, writes the audit's first line and starts the action, whose progress is in Status under id.
// It waits for other calls of Start and for the disk, at most five seconds, or one second while Close runs, but never
// for a server. If the guards refuse the request after the first line was written, a second line records that. The
// error wraps one of this package's errors, and its text is for the person.
func (o *Operator) Start(r action.Request) (id uint64, err error) {
	b, ok := o.options.Backends[r.Target.Ref.Source]
	if !ok {
		return 0, notPossible("nothing can be sent to this source")
	}
	o.starting.Lock()
	defer o.starting.Unlock()
	n, err := o.admit(r, &b)
	if err != nil {
		return 0, err
	}
	defer o.running.Done()
	if err := n.begin(&b, b.call(n.Request)); err != nil {
		n.cancel(nil)
		return 0, err
	}
	if err := n.launch(&b); err != nil {
		n.cancel(nil)
		n.finish(action.Failed, clean(err.Error()), sources.OwnerRef{}) // nothing was sent
		return 0, err
	}
	return n.ID, nil
}

// admit makes a run for a request if all guards let it pass. Close then waits until the caller has called running.Done.
func (o *Operator) admit(r action.Request, b *Backend) (*run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.passesLocked(r, b); err != nil {
		return nil, err
	}
	row, _ := o.view.row(r.Target.Ref)
	r.Limit = b.limit(r, row)
	r.Ephemeral = r.Ephemeral || row != nil && row.Ephemeral && row.Kind == sources.KindSemaphore
	o.running.Add(1)
	return o.runLocked(o.asHeldLocked(r)), nil
}

// launch starts a run whose first line is written, if the guards still let it pass after the disk may have taken
// seconds.
func (n *run) launch(b *Backend) error {
	n.op.mu.Lock()
	defer n.op.mu.Unlock()
	if err := n.op.passesLocked(n.Request, b); err != nil {
		return err
	}
	body := n.bodyLocked(b)
	if body == nil {
		return notPossible("coordtop has no way to do this")
	}
	n.op.runs = append(n.op.runs, n)
	n.op.start(func() {
		defer n.cancel(nil)
		n.sub = n.op.view.Subscribe(n.op.view.State().LastSeq)
		defer n.sub.Close()
		body()
	})
	n.op.publishLocked()
	return nil
}

// passesLocked returns the reason why the guards refuse a request; nil if they let it pass.
func (o *Operator) passesLocked(r action.Request, b *Backend) error {
	if o.closed {
		return fmt.Errorf("%w: nothing was sent", ErrClosed)
	}
	d := decision{Request: r, b: b, ours: o.oursLocked(r.Target.Ref), writing: &o.writing}
	d.row, d.state = o.view.row(r.Target.Ref)
	return d.guard()
}

// bodyLocked returns the function that executes a run in its goroutine; nil if the verb is unknown.
func (n *run) bodyLocked(b *Backend) func() {
	h := n.op.holdingLocked(n.Request.Target.Ref)
	switch n.Request.Verb {
	case action.Resign:
		return func() { n.resign(h, b) }
	case action.Proclaim:
		return func() { n.proclaim(h, b) }
	case action.Release, action.CancelWait:
		return func() { n.force(b) }
	case action.Crash:
		return func() { n.crash(b) }
	case action.Create, action.Update, action.Delete, action.CreateNode, action.AlterNode, action.DropNode:
		return func() { n.provision(b) }
	case action.Acquire, action.Try, action.Campaign:
		h = newHolding(n, n.op.options.Now())
		h.label = b.Label(n.Request.Session)
		n.op.held = append(n.op.held, h)
		return func() { n.take(h, b) }
	}
	return nil
}
