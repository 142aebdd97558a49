package operate

import (
	"cmp"
	"fmt"

	"coordtop/internal/action"
	"coordtop/sources"
)

// Start checks every guard, writes the audit's first line and begins; what becomes of it
// is in Status under the number returned. It waits for the disk, five seconds at most and
// while Close runs one, and for other calls of Start, but never for a server. What changes
// while it waits for the disk is refused as well, in a second line. The error wraps one of
// this package's, and its text is for the person.
func (o *Operator) Start(r action.Request) (id uint64, err error) {
	b, ok := o.options.Backends[r.Target.Ref.Source]
	if !ok {
		return 0, fmt.Errorf("%w: nothing can be sent to this source", ErrNotPossible)
	}
	o.starting.Lock()
	defer o.starting.Unlock()
	n, err := o.admit(r, &b)
	if err != nil {
		return 0, err
	}
	defer o.running.Done()
	if err := n.begin(&b); err != nil {
		n.cancel(nil)
		return 0, err
	}
	if err := n.launch(&b); err != nil {
		n.cancel(nil)
		n.record.Stage, n.record.Result, n.record.Detail = After, action.Failed.String(), clean(err.Error())
		_ = o.record(n.record) // what matters is told to the person, and nothing was sent
		return 0, err
	}
	return n.ID, nil
}

// admit makes the run of a request that all guards let pass, and counts this call of Start
// among what Close joins.
func (o *Operator) admit(r action.Request, b *Backend) (*run, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.passesLocked(r, b); err != nil {
		return nil, err
	}
	row, _ := o.view.row(r.Target.Ref)
	r.Limit = b.limit(r, row)
	o.running.Add(1)
	return o.runLocked(o.asHeldLocked(r)), nil
}

// launch begins a run whose first line is written, if the guards still let it pass: the
// disk may have taken seconds.
func (n *run) launch(b *Backend) error {
	n.op.mu.Lock()
	defer n.op.mu.Unlock()
	if err := n.op.passesLocked(n.Request, b); err != nil {
		return err
	}
	body := n.bodyLocked(b)
	if body == nil {
		return fmt.Errorf("%w: coordtop has no way to do this", ErrNotPossible)
	}
	n.op.runs = append(n.op.runs, n)
	n.op.start(body)
	n.op.publishLocked()
	return nil
}

// passesLocked is everything that must be so before anything is sent.
func (o *Operator) passesLocked(r action.Request, b *Backend) error {
	if o.closed {
		return fmt.Errorf("%w: nothing was sent", ErrClosed)
	}
	row, s := o.view.row(r.Target.Ref)
	return o.guardLocked(b, r, row, s)
}

// bodyLocked is what a run does, in a goroutine of its own; nil: nothing does such a verb.
func (n *run) bodyLocked(b *Backend) func() {
	h := n.op.holdingLocked(n.Request.Target.Ref)
	switch n.Request.Verb {
	case action.Resign:
		return func() { n.resign(h, b) }
	case action.Proclaim:
		return func() { n.proclaim(h, b) }
	case action.Release, action.CancelWait:
		return func() { n.force(b) }
	case action.Crash:
		return func() { n.crash(b) }
	case action.Create, action.Update, action.Delete, action.CreateNode:
		return func() { n.provision(b) }
	case action.Acquire, action.Try, action.Campaign:
		h = newHolding(n, n.op.options.Now())
		n.op.held = append(n.op.held, h)
		return func() { n.take(h, b) }
	}
	return nil
}

// guardLocked is what must be so for a request on its row.
func (o *Operator) guardLocked(b *Backend, r action.Request, row *sources.Row, s *sources.State) error {
	t := r.Target
	giving := action.Of(r.Verb).GivesUp // being safer needs no permission
	switch {
	case b.ReadOnly:
		return fmt.Errorf("%w: the config says read_only for %s", ErrReadOnly, t.Ref.Source)
	case b.Protect && r.Reason == "" && !giving:
		return fmt.Errorf("%w: %s is protected: give a reason", ErrUnconfirmed, t.Ref.Source)
	}
	if err := o.writing.refuses(t.Ref.Source, b); err != nil && !giving {
		return err
	}
	ours := o.oursLocked(t.Ref)
	if row == nil {
		// What is ours can be given up also where nothing is seen of it.
		if r.Verb != action.Resign || ours == nil {
			return fmt.Errorf("%w: %s is not on our watch", ErrNotPossible, clean(t.Ref.Name))
		}
	} else {
		if row.Fresh(s) { // a stale row says so below
			// Without a guard nothing can be compared, and the reason of that is what a person needs.
			w := owns(row, t.Owner)
			unguarded := r.Verb == action.Release && t.Guard == "" && w != nil && w.Guard == ""
			if what := t.Changed(row, r.Pin(row.Limit)); what != "" && !unguarded {
				return changed(what)
			}
		}
		if not := cmp.Or(b.notRow(r.Verb, row, s, ours), b.notTarget(r, row, ours)); not != "" {
			return fmt.Errorf("%w: %s", ErrNotPossible, not)
		}
		if not := b.notOwners(r.Verb, row, ours); not != "" && r.Verb == action.Try {
			return fmt.Errorf("%w: %s", ErrTaken, not)
		} else if not != "" {
			return fmt.Errorf("%w: %s", ErrNotPossible, not)
		}
	}
	// Whatever is done to our own is fenced to it; but the person may have meant another's.
	if action.Of(r.Verb).Group == action.OwnLease && ours != nil && !ours.Waiting && t.Owner != "" && t.Owner != ours.Owner && owns(row, t.Owner) == nil {
		return changed(t.Changed(row, action.PinOwner))
	}
	if name := nameFor(b, r); name != r.Typed && name != "" {
		return fmt.Errorf("%w: type %s", ErrUnconfirmed, name)
	}
	if b.LimitInClaims && r.Target.Kind == sources.KindSemaphore && !giving && r.Limit == 0 && (row == nil || !row.Limited()) {
		return fmt.Errorf("%w: its limit is not known, since nobody uses it, and each claim names it: use --limit", ErrNotPossible)
	}
	if b.LimitInClaims && !giving && r.Limit != 0 && row != nil && row.Limited() && r.Limit != row.Limit {
		return fmt.Errorf("%w: its limit is %d", ErrNotPossible, row.Limit)
	}
	if r.Target.Kind == sources.KindSemaphore && row != nil && !row.Absent && row.Limit > 0 && r.Permits > row.Limit {
		return fmt.Errorf("%w: its limit is %d", ErrNotPossible, row.Limit)
	}
	return fits(b, r)
}

// fits checks what the request brings along.
func fits(b *Backend, r action.Request) error {
	switch data := b.data(r); {
	case len(data) > b.Caps.MaxData:
		return fmt.Errorf("%w: the data has %d bytes, %s carries %d", ErrNotPossible, len(data), b.Type, b.Caps.MaxData)
	case r.Mode == sources.Shared && r.Verb != action.Resign && !b.shares(r.Target.Kind):
		return fmt.Errorf("%w: %s cannot share this", ErrNotPossible, b.Type)
	case r.Limit > 1 && r.Target.Kind == sources.KindElection:
		return fmt.Errorf("%w: an election has a limit of 1", ErrNotPossible)
	case r.Limit > 0 && action.Of(r.Verb).Group != action.Provisions && (!b.LimitInClaims || r.Target.Kind != sources.KindSemaphore):
		return fmt.Errorf("%w: no claim of it takes a limit", ErrNotPossible)
	case r.Permits > 1 && r.Target.Kind != sources.KindSemaphore:
		return fmt.Errorf("%w: only a semaphore has several permits", ErrNotPossible)
	case r.Wait < 0:
		return fmt.Errorf("%w: a negative time to wait", ErrNotPossible)
	}
	return nil
}

func changed(what string) error { return fmt.Errorf("%w: %s; nothing was sent", ErrChanged, what) }
