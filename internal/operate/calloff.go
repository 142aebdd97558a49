package operate

import (
	"context"
	"errors"
	"slices"

	"coordtop/internal/action"
)

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
