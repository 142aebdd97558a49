package operate

import (
	"context"
	"errors"
	"slices"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// run is one action. Its embedded Run is guarded by Operator.mu; the rest belongs to the
// goroutine of the run.
type run struct {
	action.Run
	op     *Operator
	ctx    context.Context // ends on CallOff, when writing ends before the run is done, and when the Operator closes
	cancel context.CancelCauseFunc

	sub      *sources.Subscription // to the events since the run began
	record   Record                // its first line
	sent     time.Time             // when the request was sent
	owners   []sources.Owner       // on our watch just before sent
	answered time.Duration         // how long the service took to answer
	ending   bool                  // the end of the run is being written; guarded by Operator.mu
}

// runLocked makes a run. The caller must add it to the list and write its first line.
func (o *Operator) runLocked(r action.Request) *run {
	o.last++
	now := o.options.Now()
	n := &run{op: o, Run: action.Run{ID: o.last, Request: r, Started: now, Changed: now}}
	n.ctx, n.cancel = context.WithCancelCause(o.life)
	return n
}

// ask sends the request of a run, and measures how long the service takes to answer.
func (n *run) ask(request func() error) error {
	if row, _ := n.op.view.row(n.Request.Target.Ref); row != nil {
		n.owners = row.Owners
	}
	n.sent = time.Now()
	err := request()
	n.answered = time.Since(n.sent)
	return err
}

// watched ends a run. seen reports whether our watch showed the effect in time; did describes what was done.
func (n *run) watched(seen bool, did string, after sources.OwnerRef) {
	if seen {
		n.finish(action.Seen, did, after)
		return
	}
	n.finish(action.Unseen, did+", and no change on our watch after "+format.Left(n.op.options.Patience), after)
}

// reach sets a phase of a run that is not its last one.
func (n *run) reach(p action.Phase, text string) {
	n.op.mu.Lock()
	defer n.op.mu.Unlock()
	n.reachLocked(p, text)
}

func (n *run) reachLocked(p action.Phase, text string) {
	if n.ending {
		return
	}
	if n.Phase != p {
		n.Phase, n.Changed = p, n.op.options.Now()
	}
	n.Text = text
	n.op.publishLocked()
}

// The reasons why an action was called off, for people.
var (
	errCalledOff = errors.New("called off")
	errDisarmed  = errors.New("writing was switched off")
	errOver      = errors.New("the time for writing is over")
)

// CallOff ends an action that is not over; a lease that the action has already won is given back. It does nothing if
// the action is over or unknown.
func (o *Operator) CallOff(id uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.runs {
		if n.ID == id && !n.ending {
			n.cancel(errCalledOff)
		}
	}
}

// callOffUnarmedLocked calls off the unfinished actions on sources that are not armed any more: waiting claims, and
// requests that are on their way. It does not touch leases that we hold, or actions that give up a lease.
func (o *Operator) callOffUnarmedLocked(why error) {
	for _, n := range o.runs {
		if n.Phase < action.Sent && !n.ending && !action.Of(n.Request.Verb).GivesUp && n.unarmedLocked() {
			n.cancel(why)
		}
	}
}

// unarmedLocked reports whether writing is not armed for the source of a run.
func (n *run) unarmedLocked() bool {
	source := n.Request.Target.Ref.Source
	b := n.op.options.Backends[source]
	return n.op.writing.refuses(source, &b) != nil
}

// whyCalledOff returns why a run whose context has ended was called off; nil if the reason is that the Operator closes.
func whyCalledOff(n *run) error {
	if why := context.Cause(n.ctx); slices.Contains([]error{errCalledOff, errDisarmed, errOver}, why) {
		return why
	}
	return nil
}

// calledOff returns the reason why a run was called off, or text if it was not.
func calledOff(n *run, text string) string {
	if why := whyCalledOff(n); why != nil {
		return why.Error()
	}
	return text
}
