package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Force describes how a backend ends the ownership of somebody else; its driver does it (coord.ForceReleaser). The
// functions use only their arguments, and return at once.
type Force struct {
	// Refuses returns the reason why that owner's ownership cannot be ended, or when it ends by itself; "" if it can be
	// ended.
	Refuses func(row *sources.Row, w *sources.Owner) string
	// RefusesWaiter returns the reason why that waiter's wait cannot be ended; "" if it can be ended. Nil: every wait
	// can be ended.
	RefusesWaiter func(w *sources.Waiter) string
	// Effect describes for the person, in sentences, what happens to the owner and to others.
	Effect func(row *sources.Row, w *sources.Owner) []string
	// WholeSession reports whether the owner's session loses everything that it owns and waits for.
	WholeSession bool
	// AllOwners reports whether all owners lose it and all waiters must claim it again, whichever owner
	// was chosen.
	AllOwners bool
	// Cancel describes for the person, in a sentence, what happens to a waiter whose wait is ended. "": no wait can be
	// ended.
	Cancel string
	// NoCancel is the reason why no wait can be ended. "": waits can be ended, or the backend has no request for that.
	NoCancel string
}

// NotEnded returns the reason why an owner's ownership, or a waiter's wait, cannot be ended by force; "" if it can. It
// does not check whether writing is armed.
func (o *Operator) NotEnded(row *sources.Row, t action.Target) string {
	b, r := o.options.Backends[row.Source], action.Request{Verb: action.Release, Target: t}
	if t.Waiting {
		r.Verb = action.CancelWait
	}
	o.mu.Lock()
	ours := o.oursLocked(row.Ref)
	o.mu.Unlock()
	return cmp.Or(b.notRow(r.Verb, row, o.view.State(), ours), b.notTarget(r, row, ours))
}

// notReleased returns the reason why the ownership of one owner cannot be ended; "" if it can.
func (b *Backend) notReleased(row *sources.Row, w *sources.Owner, ours *action.Holding) string {
	if not := b.never(action.Release); not != "" {
		return not
	}
	if ours != nil && !ours.Waiting && ours.Owner == w.ID {
		return "ours: resign gives it up"
	}
	if b.Force.Refuses != nil {
		if why := b.Force.Refuses(row, w); why != "" {
			return format.Clean(why, 2000) // it may contain a whole statement to paste
		}
	}
	if w.Guard == "" {
		return "nothing is known of " + action.OwnerText(w.Label, w.ID) + " by which the server could tell it from the next owner"
	}
	return ""
}

// notCancelled returns the reason why the wait of the waiter with that ID cannot be ended; "" if it can.
func (b *Backend) notCancelled(row *sources.Row, waiter string) string {
	if b.Force == nil || b.Force.RefusesWaiter == nil {
		return ""
	}
	for i := range row.Queue.Waiters {
		if w := &row.Queue.Waiters[i]; w.ID == waiter {
			return clean(b.Force.RefusesWaiter(w))
		}
	}
	return ""
}

// notTarget returns the reason why the ownership or the wait that a request names cannot be ended; "" if it can.
func (b *Backend) notTarget(r action.Request, row *sources.Row, ours *action.Holding) string {
	switch {
	case r.Verb != action.Release && r.Verb != action.CancelWait:
		return ""
	case r.Target.Waiting != (r.Verb == action.CancelWait):
		return "release is for one that owns, cancel for one that waits"
	case r.Target.Waiting:
		return b.notCancelled(row, r.Target.Owner)
	}
	for i := range row.Owners {
		if w := &row.Owners[i]; w.ID == r.Target.Owner && w.Guard == r.Target.Guard {
			return b.notReleased(row, w, ours)
		}
	}
	return "choose one of its owners"
}

// describeForce describes what a forced end of an ownership or a wait would do.
func (o *Operator) describeForce(e *action.Effect, b *Backend, row *sources.Row, r action.Request) {
	who := action.OwnerText(r.Target.Label, r.Target.Owner)
	e.Danger = true
	if r.Verb == action.CancelWait {
		e.Lines = []string{"Ends the wait of " + who + ", if it still waits just then."}
		if b.Force != nil {
			e.Lines = append(e.Lines, b.Force.Cancel)
		}
		return
	}
	e.Lines = []string{"Ends the ownership of " + who + ", if it is still the owner just then."}
	w := owns(row, r.Target.Owner)
	if w == nil || b.Force == nil {
		return
	}
	if b.Force.Effect != nil {
		e.Lines = append(e.Lines, b.Force.Effect(row, w)...)
	}
	s := o.view.State()
	if b.Force.WholeSession {
		e.Lines = append(e.Lines, fallsWith(s, row, w)...)
	}
	if b.Force.AllOwners {
		e.Next = "whoever asks first: the queue is lost"
	} else {
		leaves := func(id, session string) bool {
			return id == w.ID || b.Force.WholeSession && session == w.Session && session != ""
		}
		left := func(o sources.Owner) bool { return leaves(o.ID, o.Session) }
		if kept := slices.DeleteFunc(slices.Clone(row.Owners), left); len(kept) > 0 {
			e.Lines = append(e.Lines, sources.KeptText(len(kept))+".")
		}
		e.Next = nextText(row, leaves)
	}
	if gaps := row.Gaps(s, s.At, time.Hour); gaps.Count > 0 {
		e.Lines = append(e.Lines, gapsText(&gaps))
	}
}

// gapsText describes how long nobody owned it in the last hour.
func gapsText(gaps *sources.GapStats) string {
	times := "once"
	if gaps.Count > 1 {
		times = fmt.Sprintf("%d times", gaps.Count)
	}
	return "In the last hour nobody owned it " + times + ", for up to " + format.Precise(gaps.Longest.Max) + "."
}

// fallsWith lists what else the session of an owner owns or waits for.
func fallsWith(s *sources.State, row *sources.Row, w *sources.Owner) []string {
	if w.Session == "" {
		return nil
	}
	var owned, awaited []string
	waiters := 0
	for _, other := range s.Rows {
		if other == nil || other.Ref == row.Ref || other.Source != row.Source {
			continue
		}
		if slices.ContainsFunc(other.Owners, func(o sources.Owner) bool { return o.Session == w.Session }) {
			owned = append(owned, rowText(other))
			waiters += other.Queue.Len
		}
		if slices.ContainsFunc(other.Queue.Waiters, func(o sources.Waiter) bool { return o.Session == w.Session }) {
			awaited = append(awaited, rowText(other))
		}
	}
	var lines []string
	if len(owned) > 0 {
		text := "Its session ends, so these fall too: " + format.Some(owned, 5)
		if waiters > 0 {
			text += fmt.Sprintf(" (%d wait for them)", waiters)
		}
		lines = append(lines, text+".")
	}
	if len(awaited) > 0 {
		lines = append(lines, "It stops waiting for "+format.Some(awaited, 5)+".")
	}
	return lines
}

func rowText(row *sources.Row) string { return clean(strings.TrimSpace(row.Alias + " " + row.Name)) }

// A mutex without waiters is watched for retakenWithin after a force-release: its old owner may take it again.
const retakenWithin = 2 * time.Second

// force runs in the goroutine of a run, and ends somebody else's ownership or wait.
func (n *run) force(b *Backend) {
	t := n.Request.Target
	did, not := "released by force", "nothing was released"
	if t.Waiting {
		did, not = "its wait was ended", "no wait was ended"
	}
	err := n.sendForce(b)
	switch {
	case err == nil:
		n.reach(action.Sent, did)
	case failure.IsAny(err, coord.ErrChanged, ErrChanged):
		n.finish(action.Changed, "it changed just before, "+not+": "+clean(err.Error()), n.op.view.ownerNow(t.Ref))
		return
	case !errors.Is(err, coord.ErrUncertain):
		n.notDone(b, err)
		return
	default:
		did = "sent; whether it was done is not known"
		n.reach(action.Sent, did)
	}
	if t.Waiting {
		n.watchWaiter(did, err)
		return
	}
	n.watchForced(did, err)
}

// notDone ends a run that changed nothing.
func (n *run) notDone(b *Backend, err error) {
	if why := whyCalledOff(n); why != nil {
		n.finish(action.Dropped, why.Error()+": nothing was sent", sources.OwnerRef{})
		return
	}
	text, p := err.Error(), b.refusal(err)
	if p != nil {
		text = p.Text
	}
	n.op.mu.Lock()
	n.Refused = p != nil && p.Login
	n.NotPossible = !n.Refused && failure.IsAny(err, coord.ErrRefused, coord.ErrUnsupported, coord.ErrInvalid)
	n.op.mu.Unlock()
	n.finish(action.Failed, clean(text), sources.OwnerRef{})
}

// sendForce opens the driver, checks the guards again, because opening may have taken long, and then sends the request
// at once.
func (n *run) sendForce(b *Backend) error {
	t := n.Request.Target
	opening, cancel := context.WithTimeout(n.ctx, openWithin)
	defer cancel()
	d, err := n.op.drivers.of(opening, t.Ref)
	if err != nil {
		return err
	}
	f, ok := d.(coord.ForceReleaser)
	if !ok {
		return fmt.Errorf("%w: %s has no way to do this", coord.ErrUnsupported, b.Type)
	}
	n.op.mu.Lock()
	err = n.op.passesLocked(n.Request, b)
	n.op.mu.Unlock()
	if err != nil {
		return err
	}
	if err := n.ctx.Err(); err != nil {
		return err
	}
	n.expectForced(sources.Inferred, replyIn+n.op.options.Patience)
	// It waits for the answer even if the person cancels the action.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.ctx), replyIn)
	defer cancel()
	err = n.ask(func() error {
		return f.ForceRelease(ctx, coord.Foreign{
			Kind: t.Kind, Name: t.Ref.Name, Owner: t.Owner, Fence: t.Fence,
			Mode: t.Mode, Permits: t.Permits, Guard: t.Guard, Waiting: t.Waiting,
		})
	})
	switch {
	case err == nil:
		n.expectForced(sources.Told, n.op.options.Patience)
	case !errors.Is(err, coord.ErrUncertain):
		n.expectForced(sources.Inferred, 0) // a later end is not caused by our request
	}
	return err
}

// expectForced announces to our watch that our request is about to end the ownership. A server may push the end before
// it answers, so an end before the answer also counts as evicted, but only as inferred. This is wrong if the owner
// itself ended it at that instant; then the answer is that it changed, but the event has evicted.
func (n *run) expectForced(how sources.Known, within time.Duration) {
	if t := n.Request.Target; !t.Waiting {
		n.op.view.Expect(sources.Ending{Ref: t.Ref, Owner: t.Owner, Cause: sources.CauseEvicted, How: how}, within)
	}
}

// watchForced watches what happens to the owner. err is nil if the request succeeded; otherwise it is the reason why
// that is not known.
func (n *run) watchForced(did string, err error) {
	if err == nil {
		linger := retakenWithin
		if row, _ := n.op.view.row(n.Request.Target.Ref); row != nil && row.Queue.Len > 0 {
			linger = n.op.options.Patience
		}
		n.watchDeparture(n.op.options.Patience, linger, n.Request.Target.Owner, did)
		return
	}
	d := n.departure(n.Request.Target.Owner)
	gone := n.watch(n.ctx, n.op.options.Patience, func(row *sources.Row, events []sources.Event) bool {
		d.update(row, events)
		return d.gone
	})
	if gone {
		n.finish(action.Seen, did+", but "+action.OwnerText(n.Request.Target.Label, n.Request.Target.Owner)+" is gone: "+d.text(n.Request.Target.Kind), d.next)
		return
	}
	n.expectForced(sources.Inferred, 0)
	n.finish(action.Unknown, did+" ("+clean(err.Error())+"), and no change on our watch after "+format.Left(n.op.options.Patience), sources.OwnerRef{})
}

// watchWaiter watches whether the waiter leaves the queue.
func (n *run) watchWaiter(did string, err error) {
	t := n.Request.Target
	seen := n.watch(n.ctx, n.op.options.Patience, func(row *sources.Row, _ []sources.Event) bool {
		return row != nil && t.Changed(row, action.PinGuard) != ""
	})
	if !seen && err != nil {
		n.finish(action.Unknown, did+" ("+clean(err.Error())+")", sources.OwnerRef{})
		return
	}
	n.watched(seen, did, sources.OwnerRef{})
}

// crash runs in the goroutine of a run, and kills the owner's process in the demo.
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

// leaseLeft returns for how long a dead owner would still own a target, as far as the row shows.
func (o *Operator) leaseLeft(t action.Target) time.Duration {
	row, _ := o.view.row(t.Ref)
	w := owns(row, t.Owner)
	if w == nil {
		return 0
	}
	return max(w.Lease, w.Expires.At.Sub(o.options.Now()), 0)
}
