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

// view is what an Operator sees of the rows.
type view struct{ View }

// watch looks at the row of a run after each wake-up until done reports the end of the wait, or
// patience has run out. row is nil where it is not on our watch or cannot be believed; events are
// those of the row since the last call.
func (n *run) watch(ctx context.Context, patience time.Duration, done func(row *sources.Row, events []sources.Event) bool) bool {
	ref := n.Request.Target.Ref
	n.op.view.Refresh(ref.Source)
	enough := time.NewTimer(patience)
	defer enough.Stop()
	for {
		events, _ := n.sub.Events(0)
		var own []sources.Event
		for _, e := range events {
			if e.Ref == ref {
				own = append(own, e)
			}
		}
		row, s := n.op.view.row(ref)
		if row != nil && !row.Fresh(s) {
			row = nil
		}
		if done(row, own) {
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

// departure follows what becomes of a row after its owner was to go.
type departure struct {
	old  string    // ID of the owner
	sent time.Time // when it was to go: a row that was read before shows who came before it, not after
	with []string  // IDs of those who owned it then: none of them comes next
	kept int       // how many of them own it still
	gone bool
	next sources.OwnerRef
	gap  sources.Interval

	program sources.Program // of the owner that was to go
	again   bool            // the next one is of the same program
}

// departure is that of old, by the last request.
func (n *run) departure(old string) departure {
	d := departure{old: old, sent: n.sent}
	for i := range n.owners {
		d.with = append(d.with, n.owners[i].ID)
	}
	return d
}

// update stores what was seen. It reports whether there is a new owner.
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

// settled reports whether it is known who comes next: a new owner, or nobody, because others keep it.
// Permits that others keep are no reason for that.
func (d *departure) settled(kind sources.Kind) bool {
	return d.next != (sources.OwnerRef{}) || d.kept > 0 && kind != sources.KindSemaphore
}

// text says it to people.
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

// watchDeparture ends a run whose request should have ended the ownership of old, or
// will within patience. After that it looks for linger who comes next to a mutex; to an
// election it always does, until patience is over.
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
		// Nobody need come next to a mutex; an election without a leader is what people
		// want to hear the end of.
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

// watchHeld looks at what we hold until the lease ends or the run is called off. Where our
// watch shows it without us, the service is asked at once whether that is so: the watch may
// be older than our grant, or wrong, so only the service's answer ends the lease. shown
// reports whether the watch has shown us as the owner.
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
