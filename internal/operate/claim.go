package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// take is the goroutine of a run that takes something, and of what it then holds.
func (n *run) take(h *holding, b *Backend) {
	defer close(h.ended)
	w := &wait{o: n.op, n: n, h: h, b: b, said: map[string]time.Time{}}
	defer w.leave() // for a panic; else it was done
	lease, term, err := w.obtain()
	if lease == nil {
		n.op.drop(h)
		n.missed(err, w.doubt())
		return
	}
	n.keep(h, lease, term)
	n.op.drop(h)
	if err = w.leave(); err == nil {
		return
	}
	if errors.Is(err, coord.ErrUncertain) {
		n.note(clean(sentence(err)))
	}
	n.op.complain(fmt.Errorf("giving back %s/%s: %w", h.ref.Source, clean(h.ref.Name), err))
}

// leaveSession ends a session: within Close, by its time, and in the way that was chosen. A
// second call waits for the first and returns its error.
func (o *Operator) leaveSession(s *coord.Session, h *holding) error {
	o.mu.Lock()
	bye, abandon, within := o.bye, o.runOut && h.runsOut && h.lease != nil, cleanWithin
	if h.lease == nil {
		within = settleWithin // somebody may wait for what came of it
	}
	o.mu.Unlock()
	if bye == nil {
		// What was sent to a service that stands still may yet be done when it goes on, and
		// has to be undone then. When Close begins, it has its time more.
		ctx, cancel := context.WithTimeout(o.life, within)
		defer cancel()
		bye = ctx
	} else if abandon {
		s.Abandon()
		return nil
	}
	return s.Close(bye)
}

// complain keeps what Close is to return: what could not be given back while it closes, and the
// last that may be owned still.
func (o *Operator) complain(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		o.left = append(o.left, err)
	case errors.Is(err, coord.ErrUncertain):
		o.left = []error{err}
	}
}

// missed ends a run that got nothing; without an error it was tried and missed. doubt is why
// it may be ours at the service all the same; "": it is not.
func (n *run) missed(err error, doubt string) {
	owner := func() sources.OwnerRef { return n.op.view.ownerNow(n.Request.Target.Ref) }
	switch {
	case doubt != "":
		n.finish(action.Unknown, doubt, sources.OwnerRef{})
	case err == nil:
		n.finish(action.Missed, "it is taken", owner())
	case n.ctx.Err() != nil:
		text := "no longer waiting"
		if why := whyCalledOff(n); why != nil && why != errCalledOff { // which the phase says
			text = why.Error()
		}
		n.finish(action.Dropped, text, sources.OwnerRef{})
	case errors.Is(err, coord.ErrUncertain):
		n.finish(action.Missed, "no answer came in time; nothing of it is left at the service", owner())
	case errors.Is(err, coord.ErrNotAcquired):
		text := "gave up waiting after " + strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(n.Request.Wait.String()) // as a person types it
		if why, ok := errors.AsType[outage](err); ok {
			text += ": " + clean(sentence(why.error))
		}
		n.finish(action.Missed, text, owner())
	default:
		text := err.Error()
		b := n.op.options.Backends[n.Request.Target.Ref.Source]
		if p := b.refusal(err); p != nil {
			text = p.Text
			n.op.mu.Lock()
			n.Refused = true
			n.op.mu.Unlock()
		}
		n.finish(action.Failed, clean(text), sources.OwnerRef{})
	}
}

// ownerNow is who owns it on our watch.
func (v view) ownerNow(ref sources.Ref) sources.OwnerRef {
	row, _ := v.row(ref)
	if row == nil || len(row.Owners) == 0 {
		return sources.OwnerRef{}
	}
	w := &row.Owners[0]
	return sources.OwnerRef{ID: w.ID, Label: w.Label, Fence: w.Fence}
}

// drop takes a holding off the list.
func (o *Operator) drop(h *holding) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropLocked(h)
}

func (o *Operator) dropLocked(h *holding) {
	h.over = true
	o.held = slices.DeleteFunc(o.held, func(held *holding) bool { return held == h })
	o.publishLocked()
}

// keep holds a lease until it ends, is called off, or the Operator closes.
func (n *run) keep(h *holding, lease *coord.Lease, term *coord.Term) {
	n.op.mu.Lock()
	h.lease, h.term, h.waiting, h.since = lease, term, false, n.op.options.Now()
	if n.unarmedLocked() { // nobody has noticed it yet
		n.cancel(errOver)
	}
	called := n.ctx.Err() != nil // then it is given back at once, whatever our watch shows
	if !called {
		n.reachLocked(action.Sent, "ours; not on our watch yet")
	}
	n.op.mu.Unlock()
	seen := make(chan struct{})
	if called {
		close(seen)
	} else {
		n.op.start(func() { // ends with the watch, at the latest with the lease
			defer close(seen)
			shown := n.watchWin(lease)
			n.watchHeld(lease, shown)
		})
	}
	select {
	case <-lease.Context().Done():
	case <-n.ctx.Done():
	}
	<-seen
	switch end, cause := n.endingOf(h, lease); end {
	case endCalledOff:
		n.giveBack(h, lease)
	case endResigned:
		n.finish(action.Dropped, "resigned before our watch showed it", sources.OwnerRef{})
	case endLost:
		n.lost(h, cause)
	}
}

// ending is how a lease that is not kept any more came to its end.
type ending uint8

const (
	endCalledOff ending = iota // it is still ours, and given back now
	endResigned                // another run has released it
	endLost                    // it ended without our wish, which the cause explains
)

// endingOf decides how a lease ends. A resignation that is on its way is waited for; one that would
// begin after endCalledOff has nothing left to do.
func (n *run) endingOf(h *holding, lease *coord.Lease) (ending, error) {
	n.op.mu.Lock()
	over := lease.Check() != nil // where this process was stopped, nothing has ended the context yet
	byOther := h.resigning != nil
	if !byOther && !over && n.ctx.Err() != nil {
		h.resigning = n
		n.op.mu.Unlock()
		return endCalledOff, nil
	}
	n.op.mu.Unlock()
	if byOther { // whatever else has ended
		<-lease.Context().Done()
	}
	cause := context.Cause(lease.Context())
	if byOther && errors.Is(cause, coord.ErrReleased) {
		return endResigned, cause
	}
	return endLost, cause
}

// watchWin waits until our own watch shows us as the owner; false: it does not in time.
func (n *run) watchWin(lease *coord.Lease) (seen bool) {
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	defer spawn.OnDone(lease.Context(), cancel)()
	after := sources.OwnerRef{ID: lease.Owner(), Fence: lease.Fence()}
	seen = n.watch(ctx, n.op.options.Patience, func(row *sources.Row, events []sources.Event) bool {
		for i := range events { // they come before the state that has them
			if e := &events[i]; e.Kind.BeginsOwner() && e.Owner.ID == after.ID {
				after.Label = e.Owner.Label
				return true
			}
		}
		us := owns(row, after.ID)
		if us != nil {
			after.Label = us.Label
		}
		return us != nil
	})
	did := "ours"
	if n.Request.Target.Kind == sources.KindElection {
		did = "we lead"
	}
	if seen || ctx.Err() == nil {
		n.watched(seen, did, after)
	}
	return seen
}
