package operate

import (
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
)

// crash is the goroutine of a run that ends the owner's process, in the demo.
func (o *Operator) crash(n *run, b *Backend) {
	defer n.cancel(nil)
	sub := o.subscribe()
	defer sub.Close()
	t := n.Request.Target
	if why := whyCalledOff(n); why != nil {
		o.finish(n, action.Dropped, why.Error()+": nothing was sent", sources.OwnerRef{})
		return
	}
	o.o.View.Expect(sources.Ending{Ref: t.Ref, Owner: t.Owner, Cause: sources.CauseEvicted}, o.o.Patience+o.leaseLeft(t))
	sent := time.Now()
	err := b.Crash(t.Ref, sources.OwnerRef{ID: t.Owner, Label: t.Label, Fence: t.Fence})
	n.answered = time.Since(sent)
	if err != nil {
		o.finish(n, action.Failed, clean(err.Error()), sources.OwnerRef{})
		return
	}
	o.reach(n, action.Sent, "its process is gone; what it owns runs out")
	o.watchDeparture(n, o.o.Patience+o.leaseLeft(t), sub, t.Owner, sent, "its process was ended")
}

// leaseLeft is how long a dead owner of a target stays one, as far as its row tells.
func (o *Operator) leaseLeft(t action.Target) time.Duration {
	row, _ := o.row(t.Ref)
	w := owns(row, t.Owner)
	if w == nil {
		return 0
	}
	return max(w.Lease, w.Expires.At.Sub(o.o.Now()), 0)
}
