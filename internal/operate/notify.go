package operate

import (
	"context"
	"fmt"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// notifyAction is the action of Notify in the audit.
const notifyAction = "notify"

// notifier is implemented by a driver whose service carries notifications to all who listen to a channel.
type notifier interface {
	Notify(ctx context.Context, channel, payload string) error
}

// Notify sends a payload to all who listen to a channel of a source, after the guards of a claim that are not about a
// row. Like Start it writes a line of the audit before and one after; it waits for the disk and the service, at most
// ten seconds. The error wraps one of this package's errors if nothing was sent.
func (o *Operator) Notify(ctx context.Context, source, channel, payload, reason string) error {
	b, ok := o.options.Backends[source]
	switch {
	case !ok:
		return notPossible("nothing can be sent to this source")
	case b.ReadOnly:
		return fmt.Errorf("%w: the config says read_only for %s", ErrReadOnly, source)
	case b.Protect && reason == "":
		return fmt.Errorf("%w: %s is protected: give a reason", ErrUnconfirmed, source)
	case o.options.Audit == nil:
		return fmt.Errorf("%w: there is nowhere to write it, nothing was sent", ErrNoAudit)
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	driver, err := o.drivers.of(ctx, sources.Ref{Source: source})
	if err != nil {
		return err
	}
	n, ok := driver.(notifier)
	if !ok {
		return notPossible("%s has no channels", b.Type)
	}
	r := Record{
		At: time.Now().UTC(), ID: o.options.Audit.id(), Stage: Before, Action: notifyAction, Login: b.Login, Address: b.Address, Source: source,
		Reason: reason, Call: format.Clean(fmt.Sprintf("notify %q, %d bytes", channel, len(payload)), 2000),
	}
	if err := o.options.Audit.Write(o.life, r); err != nil {
		return fmt.Errorf("%w: nothing was sent", err)
	}
	err = n.Notify(ctx, channel, payload)
	r.At, r.Stage, r.Result = time.Now().UTC(), After, action.Sent.String()
	if err != nil {
		r.Result, r.Detail = action.Failed.String(), clean(err.Error())
	}
	_ = o.record(r) // Unwritten has it
	if failure.IsAny(err, coord.ErrInvalid, coord.ErrDataTooLong) {
		return notPossible("%v", err)
	}
	return err
}
