package operate

import (
	"cmp"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// SessionOptions returns the options of a session with the wishes w. If the backend cannot keep one of them, the error
// wraps ErrNotPossible.
func (b *Backend) SessionOptions(w action.Session) (coord.SessionOptions, error) {
	o := coord.SessionOptions{
		Description: cmp.Or(w.Description, b.Identity), TTL: w.Lease, RenewEvery: cmp.Or(w.RenewEvery, b.Renew),
		StartTimeout: w.StartTimeout, Retry: retries(w),
	}
	if w.RenewEvery == 0 && w.Lease > 0 {
		o.RenewEvery = min(b.Renew, w.Lease/3) // so that a second try fits
	}
	switch {
	case w.Recovers && !b.Caps.OneFate:
		return o, notPossible("%s has no recovery window, because a session does not outlive its connection there: the length of a lease is what can be chosen", b.Type)
	case w.Description != "" && b.Undescribed:
		return o, notPossible("%s keeps no description of a session", b.Type)
	}
	if w.Lease > 0 && b.CheckLease != nil {
		if err := b.CheckLease(w.Lease); err != nil {
			return o, notPossible("%s cannot keep this lease: %v", b.Type, err)
		}
	}
	fits := o
	fits.TTL = cmp.Or(w.Lease, b.Lease)
	if err := fits.Check(); err != nil {
		return o, notPossible("%v", err)
	}
	return o, nil
}

// lease returns the length of the lease that a request asks for.
func (b *Backend) lease(r action.Request) time.Duration { return cmp.Or(r.Session.Lease, b.Lease) }

// Label returns our label for others in a session with the wishes w.
func (b *Backend) Label(w action.Session) string {
	if b.Nameless { // others know us by our data
		return b.Identity
	}
	return cmp.Or(w.Description, b.Identity)
}

// retries paces the tries to open a session and to claim in it.
func retries(w action.Session) coord.Backoff {
	return coord.Backoff{Min: w.RetryDelay, Max: w.RetryDelay}
}

// guardSession checks the wishes of a claim for its session.
func guardSession(d *decision) error {
	if action.Of(d.Verb).Group != action.Claims {
		return nil
	}
	switch {
	case d.Ephemeral && d.Target.Kind != sources.KindSemaphore:
		return notPossible("only a semaphore can be claimed as ephemeral")
	case d.Ephemeral && !d.b.Caps.Ephemeral:
		return notPossible("%s keeps nothing that nobody owns, so that every claim is ephemeral there", d.b.Type)
	case d.Ephemeral && d.row != nil && !d.row.Absent && !d.row.Ephemeral:
		return notPossible("it is a lasting semaphore, which no claim makes ephemeral")
	}
	switch {
	case d.Proceed == nil || d.b.Enqueues:
	case d.b.Caps.FIFO:
		return notPossible("only a claim that waits stands in the queue of %s", d.b.Type)
	default:
		return notPossible("%s keeps no queue", d.b.Type)
	}
	_, err := d.b.SessionOptions(d.Session)
	return err
}
