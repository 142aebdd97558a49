package operate

import (
	"fmt"

	"coordtop/internal/action"
	"coordtop/sources"
)

// Start checks every guard, writes the audit's first line and begins; what becomes of it
// is in Status under the number returned. It waits for the disk, never for a server. The
// error wraps one of this package's, and its text is for the person.
func (o *Operator) Start(r action.Request) (id uint64, err error) {
	b, ok := o.o.Backends[r.Target.Ref.Source]
	if !ok {
		return 0, fmt.Errorf("%w: nothing can be sent to this source", ErrNotPossible)
	}
	row, s := o.row(r.Target.Ref)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return 0, fmt.Errorf("%w: nothing was sent", ErrClosed)
	}
	if err := o.guardLocked(&b, r, row, s); err != nil {
		return 0, err
	}
	n := o.runLocked(o.asHeldLocked(r))
	if err := o.begin(n, &b); err != nil {
		n.cancel()
		o.last--
		return 0, err
	}
	o.runs = append(o.runs, n)
	o.goLocked(n, &b)
	o.publishLocked()
	return n.ID, nil
}

// goLocked starts the goroutine of a run, which Close joins.
func (o *Operator) goLocked(n *run, b *Backend) {
	h := o.holdingLocked(n.Request.Target.Ref)
	switch n.Request.Verb {
	case action.Resign:
		o.start(func() { o.resign(n, h, b) })
	case action.Proclaim:
		o.start(func() { o.proclaim(n, h) })
	case action.Crash:
		o.start(func() { o.crash(n, b) })
	case action.Create, action.Update, action.Delete, action.CreateNode:
		o.start(func() { o.provision(n, b) })
	default:
		h = newHolding(n, o.o.Now())
		o.held = append(o.held, h)
		o.start(func() { o.take(n, h, b) })
	}
}

// guardLocked is everything that must be so before anything is sent.
func (o *Operator) guardLocked(b *Backend, r action.Request, row *sources.Row, s *sources.State) error {
	t := r.Target
	switch {
	case b.ReadOnly:
		return fmt.Errorf("%w: the config says read_only for %s", ErrReadOnly, t.Ref.Source)
	case b.Protect && r.Reason == "":
		return fmt.Errorf("%w: %s is protected: give a reason", ErrUnconfirmed, t.Ref.Source)
	}
	if err := o.armedLocked(t.Ref.Source, b); err != nil {
		return err
	}
	ours := o.holdingLocked(t.Ref)
	if row == nil {
		// What is ours can be given up also where nothing is seen of it.
		if r.Verb != action.Resign || ours == nil {
			return fmt.Errorf("%w: %s is not on our watch", ErrNotPossible, clean(t.Ref.Name))
		}
	} else {
		if ours == nil && row.Fresh(s) && r.AboutOwner(row.Limit) { // a stale row says so below
			if err := unchanged(row, t); err != nil {
				return err
			}
		}
		not := o.notLocked(r.Verb, row, s)
		if not != "" && r.Verb == action.Try && not == notTried(b, row) {
			return fmt.Errorf("%w: %s", ErrTaken, not)
		}
		if not != "" {
			return fmt.Errorf("%w: %s", ErrNotPossible, not)
		}
	}
	// Whatever is done to our own is fenced to it; but the person may have meant another's.
	if ours != nil && !ours.waiting && t.Owner != "" && t.Owner != ours.owner() && owns(row, t.Owner) == nil {
		return changed(row)
	}
	if name := nameFor(b, r); name != r.Typed && name != "" {
		return fmt.Errorf("%w: type %s", ErrUnconfirmed, name)
	}
	if r.Target.Kind == sources.KindSemaphore && row != nil && !row.Absent && row.Limit > 0 && r.Permits > row.Limit {
		return fmt.Errorf("%w: its limit is %d", ErrNotPossible, row.Limit)
	}
	return fits(b, r)
}

// fits checks what the request brings along.
func fits(b *Backend, r action.Request) error {
	switch {
	case len(r.Data) > b.Caps.MaxData:
		return fmt.Errorf("%w: the data has %d bytes, %s carries %d", ErrNotPossible, len(r.Data), b.Type, b.Caps.MaxData)
	case r.Mode == sources.Shared && r.Verb != action.Resign && !b.shares(r.Target.Kind):
		return fmt.Errorf("%w: %s cannot share this", ErrNotPossible, b.Type)
	case r.Limit > 1 && r.Target.Kind == sources.KindElection:
		return fmt.Errorf("%w: an election has a limit of 1", ErrNotPossible)
	case r.Permits > 1 && r.Target.Kind != sources.KindSemaphore:
		return fmt.Errorf("%w: only a semaphore has several permits", ErrNotPossible)
	case r.Wait < 0:
		return fmt.Errorf("%w: a negative time to wait", ErrNotPossible)
	}
	return nil
}

// unchanged is nil where the row shows what the person decided about, else ErrChanged.
func unchanged(row *sources.Row, t action.Target) error {
	if t.Owner == "" && len(row.Owners) == 0 {
		return nil
	}
	for i := range row.Owners {
		w := &row.Owners[i]
		if w.ID == t.Owner && (w.Fence == t.Fence || w.Fence == 0 || t.Fence == 0) && (t.Guard == "" || t.Guard == w.Guard) {
			return nil
		}
	}
	return changed(row)
}

func changed(row *sources.Row) error {
	if row == nil || len(row.Owners) == 0 {
		return fmt.Errorf("%w: nobody owns it now, nothing was sent", ErrChanged)
	}
	return fmt.Errorf("%w: now owned by %s, nothing was sent", ErrChanged, ownerText(row.Owners[0].Label, row.Owners[0].ID))
}
