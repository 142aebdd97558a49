package operate

import (
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
)

// crash is the goroutine of a run that ends the owner's process, in the demo.
func (n *run) crash(b *Backend) {
	t := n.Request.Target
	if why := whyCalledOff(n); why != nil {
		n.finish(action.Dropped, why.Error()+": nothing was sent", sources.OwnerRef{})
		return
	}
	end := sources.Ending{Ref: t.Ref, Owner: t.Owner, Cause: sources.CauseEvicted}
	n.op.view.Expect(end, n.op.options.Patience+n.op.leaseLeft(t))
	if err := n.ask(func() error { return b.Crash(t.Ref, sources.OwnerRef{ID: t.Owner, Label: t.Label, Fence: t.Fence}) }); err != nil {
		n.op.view.Expect(end, 0)
		n.finish(action.Failed, clean(err.Error()), sources.OwnerRef{})
		return
	}
	n.reach(action.Sent, "its process is gone; what it owns runs out")
	n.watchDeparture(n.op.options.Patience+n.op.leaseLeft(t), 0, t.Owner, "its process crashed")
}

// leaseLeft is how long a dead owner of a target stays one, as far as its row tells.
func (o *Operator) leaseLeft(t action.Target) time.Duration {
	row, _ := o.view.row(t.Ref)
	w := owns(row, t.Owner)
	if w == nil {
		return 0
	}
	return max(w.Lease, w.Expires.At.Sub(o.options.Now()), 0)
}
