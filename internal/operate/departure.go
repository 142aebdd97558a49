package operate

import (
	"context"
	"slices"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// view adds methods to View that find rows and their owners.
type view struct{ View }

// watch calls done after each wake-up, until done returns true, patience has run out or ctx ends. row is nil if our
// watch does not show it or if it is stale; events are those of the row since the last call.
func (n *run) watch(ctx context.Context, patience time.Duration, done func(row *sources.Row, events []sources.Event) bool) bool {
	ref := n.Request.Target.Ref
	n.op.view.Refresh(ref.Source)
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		events, _ := n.sub.Events(0)
		events = slices.DeleteFunc(events, func(e sources.Event) bool { return e.Ref != ref })
		row, s := n.op.view.row(ref)
		if row != nil && !row.Fresh(s) {
			row = nil
		}
		if done(row, events) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-enough.C:
			return false
		case <-n.sub.Wake():
		}
	}
}

// departure follows a row after a request to end the ownership of one owner.
type departure struct {
	old  string    // ID of the owner
	sent time.Time // of the request; a row that was read before it shows earlier owners
	with []string  // IDs of the owners at that time, none of which is the next one
	kept int       // how many of them still own it
	gone bool
	next sources.OwnerRef
	gap  sources.Interval

	program sources.Program // of the owner whose ownership the request ends
	again   bool            // the next owner is the same program
}

// departure returns a departure of the owner with the ID old after the last request.
func (n *run) departure(old string) departure {
	d := departure{old: old, sent: n.sent}
	for i := range n.owners {
		d.with = append(d.with, n.owners[i].ID)
	}
	return d
}

// update evaluates what our watch shows, and reports whether a new owner is known.
func (d *departure) update(row *sources.Row, events []sources.Event) bool {
	for i := range events {
		e := &events[i]
		if e.Kind.EndsOwner() && e.Previous.ID == d.old {
			d.gone = true
		}
		if e.Kind.BeginsOwner() && e.Owner.ID != d.old && e.Owner != (sources.OwnerRef{}) && d.gone && !slices.Contains(d.with, e.Owner.ID) {
			d.next, d.gap = e.Owner, e.Gap
		}
	}
	if row != nil && row.At.After(d.sent) && row.OwnersHow != sources.Unknown && owns(row, d.old) == nil {
		d.gone, d.kept = true, 0
		for i := range row.Owners {
			w := &row.Owners[i]
			if slices.Contains(d.with, w.ID) {
				d.kept++
			} else if d.next == (sources.OwnerRef{}) {
				d.next = sources.OwnerRef{ID: w.ID, Label: w.Label, Fence: w.Fence}
			}
		}
	}
	if w := owns(row, d.next.ID); w != nil && d.program != 0 {
		d.again = w.Program == d.program
	}
	return d.next != (sources.OwnerRef{})
}

// settled reports whether it is known who comes next: a new owner or, if others still own it, nobody. For a semaphore,
// other owners do not settle it.
func (d *departure) settled(kind sources.Kind) bool {
	return d.next != (sources.OwnerRef{}) || d.kept > 0 && kind != sources.KindSemaphore
}

// text describes for people who owns it now.
func (d *departure) text(kind sources.Kind) string {
	if d.again {
		return d.nextText(kind) + "; it is the same program"
	}
	return d.nextText(kind)
}

func (d *departure) nextText(kind sources.Kind) string {
	does, without := "owns", " without an owner"
	if kind == sources.KindElection {
		does, without = "leads", " without a leader"
	}
	now := action.OwnerText(d.next.Label, d.next.ID) + " " + does + " now"
	switch {
	case d.next == (sources.OwnerRef{}) && d.kept > 0:
		return sources.KeptText(d.kept)
	case d.next == (sources.OwnerRef{}):
		return "nobody " + does + " it now"
	case d.gap == (sources.Interval{}):
		return now
	}
	return now + ", after " + d.gap.Bounds() + without + d.gap.Looks()
}

// watchDeparture ends a run whose request ended the ownership of old. It waits for that end on our watch for patience.
// After it, it watches a mutex for linger to see who takes it next, and an election until patience is over.
func (n *run) watchDeparture(patience, linger time.Duration, old, did string) {
	kind := n.Request.Target.Kind
	d := n.departure(old)
	if row, _ := n.op.view.row(n.Request.Target.Ref); owns(row, old) != nil {
		d.program = owns(row, old).Program
	}
	n.watch(n.ctx, patience, func(row *sources.Row, events []sources.Event) bool {
		was := d.gone
		followed := d.update(row, events)
		if d.gone && !was && !followed {
			n.reach(action.Sent, did+": "+d.text(kind)+"; looking who comes next")
		}
		// A mutex may stay without an owner, but people want to know when an election has a leader again.
		return followed || d.gone && kind != sources.KindElection
	})
	if linger > 0 && d.gone && !d.settled(kind) && n.ctx.Err() == nil {
		n.watch(n.ctx, linger, func(row *sources.Row, events []sources.Event) bool {
			d.update(row, events)
			return d.settled(kind)
		})
	}
	switch {
	case d.gone:
		n.finish(action.Seen, did+": "+d.text(kind), d.next)
	case n.ctx.Err() != nil:
		n.finish(action.Unseen, did+"; its end was not waited for", sources.OwnerRef{})
	default:
		n.finish(action.Unseen, did+", and no change on our watch after "+format.Left(patience), sources.OwnerRef{})
	}
}

// watchHeld watches the row of a lease of ours until the lease ends or the run is called off. If our watch shows the
// row without us, watchHeld asks the service at once. Only the service's answer ends the lease, because the watch may
// be older than our grant, or wrong. shown means that the watch has shown us as the owner.
func (n *run) watchHeld(lease *coord.Lease, shown bool) {
	us, ref := lease.Owner(), n.Request.Target.Ref
	alone := n.Request.Target.Kind != sources.KindSemaphore && n.Request.Mode != sources.Shared
	for {
		events, _ := n.sub.Events(0) // they come before the state that has them
		for i := range events {
			e := &events[i]
			ends := e.Kind.EndsOwner() && e.Previous.ID == us
			follows := alone && e.Kind.BeginsOwner() && e.Owner.ID != us && e.Owner != (sources.OwnerRef{})
			if e.Ref == ref && (ends || follows) {
				lease.Confirm()
			}
		}
		row, s := n.op.view.row(ref)
		switch {
		case row == nil || !row.Fresh(s) || row.OwnersHow == sources.Unknown:
		case owns(row, us) != nil:
			shown = true
		case shown:
			lease.Confirm()
		}
		select {
		case <-lease.Context().Done():
			return
		case <-n.ctx.Done():
			return
		case <-n.sub.Wake():
		}
	}
}
