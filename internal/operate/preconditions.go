package operate

import (
	"cmp"
	"fmt"

	"coordtop/internal/action"
	"coordtop/sources"
)

// decision is a request with what its guards compare it with.
type decision struct {
	action.Request
	b       *Backend
	writing *writing
	row     *sources.Row // nil: not on our watch
	state   *sources.State
	ours    *action.Holding // nil: we have none of it
}

// guards are all guards of a request, in the order in which a person reads of them.
var guards = [...]func(*decision) error{
	guardReadOnly, guardReason, guardArmed, guardWatched, guardUnchanged, guardPossible, guardOwners,
	guardOurs, guardTyped, guardLimit, guardData,
}

// guard returns why nothing may be sent; nil: it may.
func (d *decision) guard() error {
	for _, g := range guards {
		if err := g(d); err != nil {
			return err
		}
	}
	return nil
}

// givesUp reports whether the request only gives back what is ours: being safer needs no permission.
func (d *decision) givesUp() bool { return action.Of(d.Verb).GivesUp }

func notPossible(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotPossible, fmt.Sprintf(format, args...))
}

func guardReadOnly(d *decision) error {
	if d.b.ReadOnly {
		return fmt.Errorf("%w: the config says read_only for %s", ErrReadOnly, d.Target.Ref.Source)
	}
	return nil
}

func guardReason(d *decision) error {
	if d.b.Protect && d.Reason == "" && !d.givesUp() {
		return fmt.Errorf("%w: %s is protected: give a reason", ErrUnconfirmed, d.Target.Ref.Source)
	}
	return nil
}

func guardArmed(d *decision) error {
	if d.givesUp() {
		return nil
	}
	return d.writing.refuses(d.Target.Ref.Source, d.b)
}

// guardWatched lets what is ours be given up also where nothing is seen of it.
func guardWatched(d *decision) error {
	if d.row == nil && (d.Verb != action.Resign || d.ours == nil) {
		return notPossible("%s is not on our watch", clean(d.Target.Ref.Name))
	}
	return nil
}

// guardUnchanged asks for the row that the person decided about. One that is stale is refused by
// the next guard. Without a guard of the owner nothing can be compared, and the reason of that
// is what a person needs.
func guardUnchanged(d *decision) error {
	if d.row == nil || !d.row.Fresh(d.state) {
		return nil
	}
	w := owns(d.row, d.Target.Owner)
	if d.Verb == action.Release && d.Target.Guard == "" && w != nil && w.Guard == "" {
		return nil
	}
	if what := d.Target.Changed(d.row, d.Pin(d.row.Limit)); what != "" {
		return changed(what)
	}
	return nil
}

func guardPossible(d *decision) error {
	if d.row == nil {
		return nil
	}
	if not := cmp.Or(d.b.notRow(d.Verb, d.row, d.state, d.ours), d.b.notTarget(d.Request, d.row, d.ours)); not != "" {
		return notPossible("%s", not)
	}
	return nil
}

func guardOwners(d *decision) error {
	if d.row == nil {
		return nil
	}
	not := d.b.notOwners(d.Verb, d.row, d.ours)
	if not != "" && d.Verb == action.Try {
		return fmt.Errorf("%w: %s", ErrTaken, not)
	} else if not != "" {
		return notPossible("%s", not)
	}
	return nil
}

// guardOurs asks what the person meant: whatever is done to our own is fenced to it, but another's
// may be what was on screen.
func guardOurs(d *decision) error {
	t := &d.Target
	if action.Of(d.Verb).Group == action.OwnLease && d.ours != nil && !d.ours.Waiting &&
		t.Owner != "" && t.Owner != d.ours.Owner && owns(d.row, t.Owner) == nil {
		return changed(t.Changed(d.row, action.PinOwner))
	}
	return nil
}

func guardTyped(d *decision) error {
	if name := nameFor(d.b, d.Request); name != "" && !d.Target.GoesBy(d.Typed, name) {
		return fmt.Errorf("%w: type %s", ErrUnconfirmed, name)
	}
	return nil
}

func guardLimit(d *decision) error {
	semaphore, known := d.Target.Kind == sources.KindSemaphore, d.row != nil && d.row.Limited()
	switch claims := d.b.LimitInClaims && !d.givesUp(); {
	case claims && semaphore && d.Limit == 0 && !known:
		return notPossible("its limit is not known, since nobody uses it, and each claim names it: use --limit")
	case claims && known && d.Limit != 0 && d.Limit != d.row.Limit,
		semaphore && d.row != nil && !d.row.Absent && d.row.Limit > 0 && d.Permits > d.row.Limit:
		return notPossible("its limit is %d", d.row.Limit)
	}
	return nil
}

// guardData checks what the request brings along.
func guardData(d *decision) error {
	kind, typ := d.Target.Kind, d.b.Type
	switch data := d.b.data(d.Request); {
	case len(data) > d.b.Caps.MaxData:
		return notPossible("the data has %d bytes, %s carries %d", len(data), typ, d.b.Caps.MaxData)
	case d.Mode == sources.Shared && d.Verb != action.Resign && !d.b.shares(kind):
		return notPossible("%s cannot share this", typ)
	case d.Limit > 1 && kind == sources.KindElection:
		return notPossible("an election has a limit of 1")
	case d.Limit > 0 && action.Of(d.Verb).Group != action.Provisions && (!d.b.LimitInClaims || kind != sources.KindSemaphore):
		return notPossible("no claim of it takes a limit")
	case d.Permits > 1 && kind != sources.KindSemaphore:
		return notPossible("only a semaphore has several permits")
	case d.Wait < 0:
		return notPossible("a negative time to wait")
	}
	return nil
}

func changed(what string) error { return fmt.Errorf("%w: %s; nothing was sent", ErrChanged, what) }
