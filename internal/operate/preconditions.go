package operate

import (
	"cmp"
	"fmt"

	"coordtop/internal/action"
	"coordtop/sources"
)

// decision is a request together with the state that its guards check.
type decision struct {
	action.Request
	b       *Backend
	writing *writing
	row     *sources.Row // nil: our watch does not have it
	state   *sources.State
	ours    *action.Holding // nil: we hold nothing of the row
}

// guards are all guards of a request, in the order in which their refusals are reported.
var guards = [...]func(*decision) error{
	guardAllowed, guardUnchanged, guardPossible, guardOwners, guardOurs, guardTyped, guardLimit, guardData, guardSession,
}

// guard returns the reason why the request must not be sent; nil if it may be sent.
func (d *decision) guard() error {
	for _, g := range guards {
		if err := g(d); err != nil {
			return err
		}
	}
	return nil
}

func notPossible(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotPossible, fmt.Sprintf(format, args...))
}

// guardAllowed checks that the config allows writing, that a reason is given and that writing is armed. Giving up a
// lease of ours needs neither a reason nor arming.
func guardAllowed(d *decision) error {
	switch source := d.Target.Ref.Source; {
	case d.b.ReadOnly:
		return fmt.Errorf("%w: the config says read_only for %s", ErrReadOnly, source)
	case action.Of(d.Verb).GivesUp:
		return nil
	case d.b.Protect && d.Reason == "":
		return fmt.Errorf("%w: %s is protected: give a reason", ErrUnconfirmed, source)
	default:
		return d.writing.refuses(source, d.b)
	}
}

// guardUnchanged checks that the row has not changed since the person decided. A lease of ours can be given up even
// without a row. This guard passes a stale row and an owner without a guard, which cannot be compared: the next guard
// refuses them with a better reason.
func guardUnchanged(d *decision) error {
	switch {
	case aboutNode(&d.Request):
		return guardNode(d)
	case d.row == nil && (d.Verb != action.Resign || d.ours == nil):
		return notPossible("%s is not on our watch", clean(d.Target.Ref.Name))
	case d.row == nil || !d.row.Fresh(d.state):
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
	row := d.row
	if d.Ephemeral && row.Absent && !row.NoSpace { // the claim creates it
		claimed, exists := *row, *row.Primitive
		exists.Absent, exists.Note = false, ""
		claimed.Primitive = &exists
		row = &claimed
	}
	if not := cmp.Or(d.b.notRow(d.Verb, row, d.state, d.ours), d.b.notTarget(d.Request, d.row, d.ours)); not != "" {
		return notPossible("%s", not)
	}
	return nil
}

func guardOwners(d *decision) error {
	if d.row == nil || d.Force {
		return nil
	}
	switch not := d.b.notOwners(d.Verb, d.row, d.ours); {
	case not == "":
		return nil
	case d.Verb == action.Try:
		return fmt.Errorf("%w: %s", ErrTaken, not)
	default:
		return notPossible("%s", not)
	}
}

// guardOurs refuses an action on our own lease if the person decided about another owner, who is gone.
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
	switch claims := d.b.LimitInClaims && !action.Of(d.Verb).GivesUp; {
	case claims && semaphore && d.Limit == 0 && !known:
		return notPossible("its limit is not known, since nobody uses it, and each claim names it: use --limit")
	case claims && known && d.Limit != 0 && d.Limit != d.row.Limit,
		semaphore && d.row != nil && !d.row.Absent && d.row.Limit > 0 && d.Permits > d.row.Limit:
		return notPossible("its limit is %d", d.row.Limit)
	}
	return nil
}

// guardData checks the data, the mode and the numbers of the request.
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
