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

// take is the goroutine of a run that claims something and then holds it.
func (n *run) take(h *holding, b *Backend) {
	defer close(h.ended)
	w := &wait{o: n.op, n: n, h: h, b: b, said: map[string]time.Time{}}
	defer w.leave() // after a panic; else it was called already
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

// leaveSession ends a session. While Close runs, the session ends within the time of Close, and is abandoned
// where LetRunOut was called. A second call waits for the first and returns its error.
func (o *Operator) leaveSession(s *coord.Session, h *holding) error {
	o.mu.Lock()
	bye, abandon, within := o.bye, o.runOut && h.runsOut && h.lease != nil, cleanWithin
	if h.lease == nil {
		within = settleWithin // somebody may be waiting for the result
	}
	o.mu.Unlock()
	if bye == nil {
		// A service that stands still may carry out our requests when it goes on, and they must be undone
		// then. When Close begins, its own time comes on top.
		ctx, cancel := context.WithTimeout(o.life, within)
		defer cancel()
		bye = ctx
	} else if abandon {
		s.Abandon()
		return nil
	}
	return s.Close(bye)
}

// complain keeps an error for Close to return: each about a lease that could not be given back while Close
// runs, and before that the last about a lease that may still be ours.
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

// missed ends a run that got no lease; without an error a try missed. doubt says why the lease may be ours
// at the service nevertheless; "": it is not.
func (n *run) missed(err error, doubt string) {
	owner := func() sources.OwnerRef { return n.op.view.ownerNow(n.Request.Target.Ref) }
	switch {
	case doubt != "":
		n.finish(action.Unknown, doubt, sources.OwnerRef{})
	case err == nil:
		n.finish(action.Missed, "it is taken", owner())
	case n.ctx.Err() != nil:
		text := "no longer waiting"
		if why := whyCalledOff(n); why != nil && why != errCalledOff { // the phase tells this one
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

// ownerNow returns the first owner of a row on our watch; zero: none.
func (v view) ownerNow(ref sources.Ref) sources.OwnerRef {
	row, _ := v.row(ref)
	if row == nil || len(row.Owners) == 0 {
		return sources.OwnerRef{}
	}
	w := &row.Owners[0]
	return sources.OwnerRef{ID: w.ID, Label: w.Label, Fence: w.Fence}
}

// drop removes a holding from the list.
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
	if n.unarmedLocked() { // refresh has not noticed it yet
		n.cancel(errOver)
	}
	called := n.ctx.Err() != nil // called off: given back at once, whatever our watch shows
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

// ending tells how a lease that we do not keep any more ends.
type ending uint8

const (
	endCalledOff ending = iota // still ours: we give it back now
	endResigned                // another run has released it
	endLost                    // it ended without our wish; the cause explains why
)

// endingOf decides how a lease ends. It waits for a resignation that is on its way; one that begins after
// endCalledOff has nothing left to do.
func (n *run) endingOf(h *holding, lease *coord.Lease) (ending, error) {
	n.op.mu.Lock()
	over := lease.Check() != nil // after this process was stopped, the context may not have ended yet
	byOther := h.resigning != nil
	if !byOther && !over && n.ctx.Err() != nil {
		h.resigning = n
		n.op.mu.Unlock()
		return endCalledOff, nil
	}
	n.op.mu.Unlock()
	if byOther { // its release ends the context
		<-lease.Context().Done()
	}
	cause := context.Cause(lease.Context())
	if byOther && errors.Is(cause, coord.ErrReleased) {
		return endResigned, cause
	}
	return endLost, cause
}

// watchWin waits until our own watch shows us as the owner, and reports whether it did in time.
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
