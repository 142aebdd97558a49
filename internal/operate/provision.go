package operate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// errOther reports that somebody else has changed the data or the owners while the person decided, so that nothing was
// overwritten or deleted.
var (
	errOther       = errors.New("nothing was sent")
	errOtherData   = fmt.Errorf("its data is another by now: %w", errOther)
	errOtherOwners = fmt.Errorf("its owners are others by now: %w", errOther)
)

// notProvisioned returns the reason why a primitive cannot be created, updated or deleted, apart from its use (see
// inUse); "" if it can.
func notProvisioned(v action.Verb, row *sources.Row) string {
	switch {
	case v == action.CreateNode && !row.NoSpace:
		return clean(row.Space) + " exists"
	case v == action.CreateNode:
		return ""
	case row.NoSpace:
		return clean(row.Note)
	case row.Kind == sources.KindMutex:
		return "a mutex is there while somebody uses it"
	case v == action.Create && !row.Absent:
		return "it exists"
	case v == action.Create:
		return ""
	case row.Absent:
		return "it does not exist"
	case row.Note != "":
		return clean(row.Note)
	case v == action.Update:
		return ""
	case row.Ephemeral:
		return "it is ephemeral: it ends with its last owner"
	}
	return ""
}

// inUse returns who owns or awaits a row; "" for nobody.
func inUse(row *sources.Row) string {
	switch {
	case len(row.Owners) > 0:
		return "owned by " + action.OwnersText(row.Owners)
	case row.Queue.Len > 0:
		return fmt.Sprintf("%d wait for it", row.Queue.Len)
	}
	return ""
}

// describeProvision describes what creating, updating or deleting would do.
func describeProvision(e *action.Effect, b *Backend, row *sources.Row, r action.Request) {
	name := clean(r.Target.Ref.Name)
	e.Danger = !b.Demo && (r.Verb == action.Update || r.Verb == action.Delete)
	switch r.Verb {
	case action.Create:
		e.Lines = []string{"Creates " + name + " with a limit of permits, which nobody can change later.", "Programs that wait for it to appear go on."}
		if r.Target.Kind == sources.KindElection {
			e.Lines[0] = "Creates " + name + " with a limit of 1, so that one can lead."
		} else if e.TakesLimit = true; r.Limit > 0 {
			e.Lines[0] = fmt.Sprintf("Creates %s with a limit of %d, which nobody can change later.", name, sources.Permits(r.Limit))
		}
		e.TakesData, e.DataMax = true, b.Caps.MaxData
	case action.Update:
		e.Lines = []string{
			"Replaces the data of " + name + " itself, whoever owns it. Owners and waiters stay.",
			"Programs that follow it act on it at once. Read once more just before writing; a write in that instant is lost.",
		}
		e.TakesData, e.DataMax = true, b.Caps.MaxData
	case action.Delete:
		if r.Force {
			e.Lines = forcedLines(name, row)
			return
		}
		e.Lines = []string{
			"Deletes " + name + ", which nobody owns and nobody waits for. The service refuses if somebody does by then.",
			"Programs that acquire it later fail until it is created again.",
		}
		if row != nil && row.Data.Len > 0 {
			e.Lines = append(e.Lines, "Its data is lost: "+format.Count(row.Data.Len)+" bytes.")
		}
	case action.CreateNode:
		with := "the service's own settings"
		if s := SettingsText(r.Settings); s != "" {
			with = s
		}
		e.Lines = []string{"Creates " + clean(r.Target.Ref.Space) + ", and the directories before it, with " + with + "."}
	}
}

// forcedLines describes what deleting a primitive that is in use would do.
func forcedLines(name string, row *sources.Row) []string {
	lines := []string{
		"Deletes " + name + " for all its owners and waiters. The server tells owners nothing: they go on working until they ask.",
		"Programs that acquire it later fail until it is created again.",
	}
	if row == nil {
		return lines
	}
	var owners, waiters []string
	for i := range row.Owners {
		owners = append(owners, action.OwnerText(row.Owners[i].Label, row.Owners[i].ID))
	}
	for i := range row.Queue.Waiters {
		waiters = append(waiters, action.OwnerText(row.Queue.Waiters[i].Label, row.Queue.Waiters[i].ID))
	}
	if len(owners) > 0 {
		lines = append(lines, fmt.Sprintf("These lose it (%d): %s.", len(owners), format.Some(owners, 10)))
	}
	if row.Queue.Len > 0 {
		lines = append(lines, fmt.Sprintf("These stop waiting (%d): %s.", row.Queue.Len, format.SomeOf(waiters, 10, row.Queue.Len)))
	}
	return append(lines, "The owners are read once more just before; who comes in that instant loses it too.")
}

// provision runs in the goroutine of a run, and creates, updates or deletes a primitive.
func (n *run) provision(b *Backend) {
	ctx, cancel := context.WithTimeout(n.ctx, openWithin)
	defer cancel()
	if err := n.ask(func() error { return n.send(ctx, b) }); err != nil {
		text := clean(err.Error())
		if why := whyCalledOff(n); why != nil && errors.Is(err, errNotSent) {
			n.finish(action.Dropped, why.Error()+": nothing was sent", sources.OwnerRef{})
			return
		}
		switch {
		case errors.Is(err, errOther):
			n.finish(action.Changed, text, sources.OwnerRef{})
		case decided(err):
			n.notDone(b, err)
		default:
			n.finish(action.Failed, calledOff(n, text)+"; whether it was done is not known", sources.OwnerRef{})
		}
		return
	}
	did := map[action.Verb]string{action.Create: "created", action.Update: "updated", action.Delete: "deleted",
		action.CreateNode: "created", action.AlterNode: "altered", action.DropNode: "dropped"}[n.Request.Verb]
	n.reach(action.Sent, did)
	seen := n.watch(n.ctx, n.op.options.Patience, func(row *sources.Row, events []sources.Event) bool {
		if aboutNode(&n.Request) {
			return showsNode(n.Request, n.op.view.State())
		}
		return shows(n.Request, row, events)
	})
	n.watched(seen, did, sources.OwnerRef{})
}

// send sends the one request, in a session that ends with it.
func (n *run) send(ctx context.Context, b *Backend) error {
	r := n.Request
	switch r.Verb {
	case action.CreateNode:
		return b.Nodes.Create(ctx, r.Target.Ref.Space, r.Settings)
	case action.AlterNode:
		return b.Nodes.Alter(ctx, r.Target.Ref.Space, r.Settings)
	}
	session, err := n.session(b, openWithin, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	defer func() { _ = n.op.leaveSession(session, &holding{}) }() // it owns nothing, so an error does not matter
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", errNotSent, ctx.Err())
	}
	m := session.Semaphore(r.Target.Ref.Name, coord.SemaphoreOptions{})
	switch r.Verb {
	case action.Create:
		return m.Create(ctx, max(r.Limit, 1), r.Data)
	case action.Delete:
		if r.Force {
			if err := checkUse(ctx, session, r, r.Target.Ref.Name); err != nil {
				return err
			}
		}
		return m.Delete(ctx, r.Force)
	case action.Update:
		return update(ctx, m, r)
	case action.DropNode:
		if err := checkUse(ctx, session, r, namesIn(n.op.view.State(), r.Target.Ref)...); err != nil {
			return err
		}
		return b.Nodes.Drop(ctx, r.Target.Ref.Space)
	}
	return fmt.Errorf("%w: coordtop has no way to do this", errNotSent)
}

// update replaces the data if it has not changed since the person decided.
func update(ctx context.Context, m *coord.Semaphore, r action.Request) error {
	d, err := m.Describe(ctx)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	if sources.NewBlob(d.Data, len(d.Data)).Sum != r.Target.Sum || r.Was != "" && r.Was != SHA256(d.Data) {
		return errOtherData
	}
	return m.Update(ctx, r.Data)
}

// SHA256 returns the form of Request.Was for data.
func SHA256(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// Read reads a primitive itself, with all its data, in a session that ends with it.
func (o *Operator) Read(ctx context.Context, row *sources.Row) (coord.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	driver, err := o.drivers.of(ctx, row.Ref)
	if err != nil {
		return coord.Description{}, err
	}
	session, err := coord.Open(ctx, driver, coord.SessionOptions{Description: o.options.Backends[row.Source].Identity})
	if err != nil {
		return coord.Description{}, err
	}
	defer func() { _ = o.leaveSession(session, &holding{}) }() // it owns nothing, so an error does not matter
	return session.Semaphore(row.Name, coord.SemaphoreOptions{}).Describe(ctx)
}

// errNotSent reports that an error occurred before the request was sent.
var errNotSent = errors.New("nothing was sent")

// decided reports whether it is clear from an error what the service did with the request.
func decided(err error) bool {
	return failure.IsAny(err, errNotSent, errOther, coord.ErrRefused, coord.ErrNotFound, coord.ErrInvalid, coord.ErrUnsupported, coord.ErrDataTooLong)
}

// shows reports whether our watch shows the effect of a request.
func shows(r action.Request, row *sources.Row, events []sources.Event) bool {
	gone := slices.ContainsFunc(events, func(e sources.Event) bool { return e.Kind == sources.EventDeleted })
	switch {
	case r.Verb == action.Delete:
		return gone || row != nil && row.Absent
	case row == nil:
		return false
	case r.Verb == action.Update:
		return row.Data.Shows(r.Data)
	case r.Verb == action.CreateNode:
		return !row.NoSpace
	}
	return !row.Absent
}
