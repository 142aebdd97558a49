package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// resign runs in the goroutine of a run, and gives up a lease of ours, or our place in a queue.
func (n *run) resign(h *holding, b *Backend) {
	n.op.mu.Lock()
	lease, waiting, already := h.lease, h.waiting, h.resigning == h.run
	if !waiting && !already {
		h.resigning = n
	}
	n.op.mu.Unlock()
	if already {
		<-h.ended
		n.finish(action.Dropped, "it was being given back already", sources.OwnerRef{})
		return
	}
	if waiting {
		h.run.cancel(nil) // it gives back a lease that it may have just won
		<-h.ended
		n.finish(action.Seen, "left the queue", sources.OwnerRef{})
		return
	}
	old := lease.Owner()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.ctx), farewell)
	defer cancel()
	end := sources.Ending{Ref: h.ref, Owner: old, Cause: sources.CauseReleased}
	n.op.view.Expect(end, farewell+n.op.options.Patience)
	err := n.ask(func() error { return lease.Release(ctx) })
	if cause := context.Cause(lease.Context()); !errors.Is(cause, coord.ErrReleased) {
		n.op.mu.Lock()
		n.Lost = true
		n.op.mu.Unlock()
		n.op.view.Expect(end, 0)
		n.finish(action.Failed, "it was not ours any more: "+clean(cause.Error()), sources.OwnerRef{})
		return
	}
	if err != nil {
		n.op.view.Expect(end, 0) // if giving it up failed, it expires
		n.finish(action.Failed, "given up here, but not confirmed: "+clean(err.Error())+"; it runs out there within "+format.Left(b.lease(h.run.Request)), sources.OwnerRef{})
		return
	}
	<-h.ended
	n.reach(action.Sent, "given up")
	n.watchDeparture(n.op.options.Patience, 0, old, "given up")
}

// giveBack resigns a lease that was called off, or that is held while the Operator closes. The audit has this as a
// separate action. Giving back is safe, so it happens even if the audit cannot be written, see Unwritten.
func (n *run) giveBack(h *holding, lease *coord.Lease) {
	n.op.mu.Lock()
	closing, abandon := n.op.closed, n.op.closed && n.op.runOut && h.runsOut
	n.op.mu.Unlock()
	why, text := errCalledOff.Error(), "given back"
	if closing {
		why, text = "coordtop ended", "coordtop ended"
	} else if ended := whyCalledOff(n); ended != nil && ended != errCalledOff {
		why = ended.Error()
		text = why + ": granted just then, and given back"
	}
	n.finish(action.Dropped, text, sources.OwnerRef{})
	b := n.op.options.Backends[h.ref.Source]
	r := action.Request{Verb: action.Resign, Target: n.Request.Target, Mode: n.Request.Mode, Reason: why}
	r.Target.Owner, r.Target.Label, r.Target.Fence = lease.Owner(), n.op.view.labelOf(h.ref, lease.Owner()), lease.Fence()
	n.op.mu.Lock()
	l := n.op.runLocked(r)
	n.op.mu.Unlock()
	defer l.cancel(nil)
	call := b.call(r)
	if abandon {
		call = "none: it is left to run out"
	}
	if l.begin(&b, call) != nil {
		_ = n.op.record(l.record) // the lease is given back nevertheless
	}
	if abandon {
		_ = n.op.leaveSession(h.session, h) // abandons the lease
		l.finish(action.Dropped, "it runs out at "+lease.TrustedUntil().UTC().Format(time.RFC3339), sources.OwnerRef{})
		return
	}
	end := sources.Ending{Ref: h.ref, Owner: lease.Owner(), Cause: sources.CauseReleased}
	n.op.view.Expect(end, farewell+n.op.options.Patience)
	err := l.ask(func() error {
		if closing {
			return n.op.leaveSession(h.session, h) // bounded for all holdings together
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(n.op.life), farewell)
		defer cancel()
		return lease.Release(ctx)
	})
	if err != nil {
		n.op.view.Expect(end, 0)
		l.finish(action.Failed, clean(err.Error())+"; it runs out there", sources.OwnerRef{})
		return
	}
	l.finish(action.Sent, "", sources.OwnerRef{})
}

// labelOf returns the label of an owner on our watch; "" if there is no such owner.
func (v view) labelOf(ref sources.Ref, id string) string {
	row, _ := v.row(ref)
	if w := owns(row, id); w != nil {
		return w.Label
	}
	return ""
}

// lost reports a lease that ended without our wish. Its run fails; if that run was already over, a new run is added
// that has failed.
func (n *run) lost(h *holding, cause error) {
	text := fmt.Sprintf("lost after %s: %s", format.Age(n.op.options.Now().Sub(h.since)), clean(cause.Error()))
	n.op.mu.Lock()
	l, again := n, n.ending
	if again {
		l = n.op.runLocked(n.Request)
		l.record = n.record
		n.op.runs = append(n.op.runs, l)
	}
	l.Lost, l.Text = true, text
	n.op.dropLocked(h) // at once and with the reason, because writing the line may take seconds
	n.op.mu.Unlock()
	if !again {
		n.finish(action.Failed, text, sources.OwnerRef{})
		return
	}
	defer l.cancel(nil)
	l.record.At, l.record.ID, l.record.Action, l.record.Call, l.record.LatencyMillis = time.Now().UTC(), n.op.options.Audit.id(), "lost", "", nil
	l.record.OwnerBefore, l.record.LabelBefore, l.record.FenceBefore = h.owner(), n.op.view.labelOf(h.ref, h.owner()), fence(h.lease.Fence())
	after := n.op.view.ownerNow(h.ref)
	if after.ID == h.owner() { // our watch does not show the end yet
		after = sources.OwnerRef{}
	}
	l.finish(action.Failed, text, after)
}
