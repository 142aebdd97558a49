package operate

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/sources"
)

// The methods here are for claims under which the caller does work of its own (lock and elect). They need no Operator:
// no person decides about a row, so nothing is compared and nothing is armed.

// Admits returns why a claim is not possible, as far as the config and the kind of the server tell; nil if it may be.
func (b *Backend) Admits(r action.Request) error {
	row := &sources.Row{Primitive: &sources.Primitive{Ref: r.Target.Ref, Kind: r.Target.Kind}}
	if not := b.notTaken(r.Verb, row); not != "" {
		return notPossible("%s", not)
	}
	if b.LimitInClaims && r.Target.Kind == sources.KindSemaphore && r.Limit == 0 {
		return notPossible("each claim of a semaphore on %s names its limit: use --limit", b.Type)
	}
	d := &decision{Request: r, b: b}
	return cmp.Or(guardData(d), guardSession(d))
}

// Claim claims the target of the request in a session. After a try that missed it returns neither a lease nor an error.
func (b *Backend) Claim(ctx context.Context, s *coord.Session, r action.Request) (*coord.Lease, error) {
	lease, _, err := claim(ctx, s, r, b.data(r))
	return lease, err
}

// Sentence returns an error of the backend's driver for people. refused reports whether the service refuses our login
// or lacks a right of ours.
func (b *Backend) Sentence(err error) (text string, refused bool) {
	if p := b.refusal(err); p != nil {
		return clean(p.Text), true
	}
	ended := failure.IsAny(err, coord.ErrLost, coord.ErrExpired, coord.ErrReleased, coord.ErrClosed)
	var plain interface{ Sentence() string }
	if b.Explain != nil && coord.Passing(err) && !ended && !errors.As(err, &plain) {
		if p, ok := errors.AsType[*sources.Problem](b.Explain(err)); ok {
			return clean(p.Text), false
		}
	}
	return clean(sentence(err)), false
}

// Begin writes the first line of a claim. end writes the second; its result is a phase.
func (l *AuditLog) Begin(ctx context.Context, b *Backend, r action.Request) (end func(result action.Phase, detail string, owner sources.OwnerRef) error, err error) {
	record := b.record(l.id(), r, b.call(r))
	began := func(result action.Phase, detail string, owner sources.OwnerRef) error {
		record.At, record.Stage, record.Result, record.Detail = time.Now().UTC(), After, result.String(), strings.TrimSpace(detail)
		record.OwnerAfter, record.LabelAfter, record.FenceAfter = owner.ID, owner.Label, fence(owner.Fence)
		return l.Write(context.WithoutCancel(ctx), record)
	}
	return began, l.Write(ctx, record)
}
