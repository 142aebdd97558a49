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

// take runs in the goroutine of a run. It claims a primitive and then holds the lease.
func (n *run) take(h *holding, b *Backend) {
	defer close(h.ended)
	w := &wait{o: n.op, n: n, h: h, b: b, said: map[string]time.Time{}}
	defer w.leave() // after a panic; otherwise it was called already
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

// leaveSession ends a session. While Close runs, it must end within the time of Close, and the session is abandoned if
// LetRunOut was called. A second call waits for the first and returns its error.
func (o *Operator) leaveSession(s *coord.Session, h *holding) error {
	o.mu.Lock()
	bye, abandon, within := o.bye, o.runOut && h.runsOut && h.lease != nil, cleanWithin
	if h.lease == nil {
		within = settleWithin // somebody may be waiting for the result
	}
	o.mu.Unlock()
	if bye == nil {
		// A service that hangs may execute our requests when it continues, and they must be undone then. If Close
		// begins during the wait, its own time is added.
		ctx, cancel := context.WithTimeout(o.life, within)
		defer cancel()
		bye = ctx
	} else if abandon {
		s.Abandon()
		return nil
	}
	return s.Close(bye)
}

// complain stores an error for Close to return. While Close runs, it stores each error about a lease that could not be
// given back. Before that, it stores only the last error about a lease that may still be ours.
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

// missed ends a run that got no lease. A nil err means that a try missed. doubt is the reason why the lease may still
// be ours at the service; "" if it is not ours.
func (n *run) missed(err error, doubt string) {
	owner := func() sources.OwnerRef { return n.op.view.ownerNow(n.Request.Target.Ref) }
	switch {
	case doubt != "":
		n.finish(action.Unknown, doubt, sources.OwnerRef{})
	case err == nil:
		n.finish(action.Missed, "it is taken", owner())
	case n.ctx.Err() != nil:
		text := "no longer waiting"
		if why := whyCalledOff(n); why != nil && why != errCalledOff { // the phase already shows that one
			text = why.Error()
		}
		n.finish(action.Dropped, text, sources.OwnerRef{})
	case errors.Is(err, coord.ErrUncertain):
		n.finish(action.Missed, "no answer came in time; nothing of it is left at the service", owner())
	case errors.Is(err, coord.ErrNotAcquired):
		text := "gave up waiting after " + strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(n.Request.Wait.String()) // in the form in which a person types it
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

// ownerNow returns the first owner of a row on our watch; zero without an owner.
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
	called := n.ctx.Err() != nil // called off: give it back at once, whatever our watch shows
	if !called {
		n.reachLocked(action.Sent, "ours; not on our watch yet")
	}
	n.op.mu.Unlock()
	seen := make(chan struct{})
	if called {
		close(seen)
	} else {
		n.op.start(func() { // ends with the watch, which ends with the lease at the latest
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

// ending is the way in which a lease ends for us.
type ending uint8

const (
	endCalledOff ending = iota // still ours: we give it back now
	endResigned                // another run has released it
	endLost                    // the lease ended without our wish; the cause explains why
)

// endingOf returns how a lease ends. It waits for a resignation that is on its way. A resignation that begins after it
// has returned endCalledOff does nothing.
func (n *run) endingOf(h *holding, lease *coord.Lease) (ending, error) {
	n.op.mu.Lock()
	over := lease.Check() != nil // the context may lag behind after this process was suspended
	byOther := h.resigning != nil
	if !byOther && !over && n.ctx.Err() != nil {
		h.resigning = n
		n.op.mu.Unlock()
		return endCalledOff, nil
	}
	n.op.mu.Unlock()
	if byOther { // the other run's release ends the context
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
