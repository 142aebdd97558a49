package operate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// begin writes the first line of a run. After an error nothing may be sent.
func (n *run) begin(b *Backend, call string) error {
	if n.op.options.Audit == nil {
		return fmt.Errorf("%w: there is nowhere to write it, nothing was sent", ErrNoAudit)
	}
	n.record = b.record(n.op.options.Audit.id(), n.Request, call)
	if err := n.op.options.Audit.Write(n.op.life, n.record); err != nil {
		return fmt.Errorf("%w: nothing was sent", err)
	}
	return nil
}

// record returns the first line of a request. call describes what is sent.
func (b *Backend) record(id string, r action.Request, call string) Record {
	t := r.Target
	record := Record{
		At: time.Now().UTC(), ID: id, Stage: Before, Action: r.Verb.String(), Login: b.Login,
		Address: b.Address, Source: t.Ref.Source, Space: t.Ref.Space, Kind: t.Kind.String(), Name: t.Ref.Name, Alias: t.Alias,
		OwnerBefore: t.Owner, LabelBefore: t.Label, FenceBefore: fence(t.Fence),
		Reason: r.Reason, Call: format.Clean(call, 2000),
	}
	if r.Mode == sources.Shared {
		record.Mode = r.Mode.String()
	}
	return record
}

func fence(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// Exercise writes the first line of the audit about what the program does to candidates of its own, which is the
// caller's work and no action of an Operator. what is the word for it, and call says how it is done. end writes the
// second line, and adds the event to the Hub.
func (o *Operator) Exercise(row *sources.Row, what, reason, call string) (end func(result action.Phase, detail string) error, err error) {
	if o.options.Audit == nil {
		return nil, fmt.Errorf("%w: there is nowhere to write it, nothing was done", ErrNoAudit)
	}
	b, t := o.options.Backends[row.Source], action.TargetOf(row, nil)
	before := Record{
		At: time.Now().UTC(), ID: o.options.Audit.id(), Stage: Before, Action: what, Login: b.Login, Address: b.Address,
		Source: t.Ref.Source, Space: t.Ref.Space, Kind: t.Kind.String(), Name: t.Ref.Name, Alias: t.Alias, Reason: reason, Call: format.Clean(call, 2000),
	}
	if err := o.options.Audit.Write(o.life, before); err != nil {
		return nil, fmt.Errorf("%w: nothing was done", err)
	}
	return func(result action.Phase, detail string) error {
		after := before
		after.At, after.Stage, after.Result, after.Detail = time.Now().UTC(), After, result.String(), clean(detail)
		err := o.record(after)
		o.tell(before, after)
		return err
	}, nil
}

// finish ends a run, once: it writes the second line and adds the event to the Hub.
func (n *run) finish(p action.Phase, text string, after sources.OwnerRef) {
	n.op.mu.Lock()
	if n.ending {
		n.op.mu.Unlock()
		return
	}
	n.ending = true
	n.op.mu.Unlock()
	before := n.record
	n.record.At = time.Now().UTC()
	n.record.Stage, n.record.Result, n.record.Detail = After, p.String(), text
	n.record.OwnerAfter, n.record.LabelAfter, n.record.FenceAfter = after.ID, after.Label, fence(after.Fence)
	if n.answered > 0 {
		n.record.LatencyMillis = millis(n.answered)
	}
	if err := n.op.record(n.record); err != nil {
		text += fmt.Sprintf(" (the audit has no line of this end: %v)", err)
	}
	n.record.Detail = text
	n.op.tell(before, n.record)
	n.op.mu.Lock()
	defer n.op.mu.Unlock()
	n.Phase, n.Changed, n.Text = p, n.op.options.Now(), text
	n.op.publishLocked()
}

// tell makes the event of an action from its two lines, and adds it to the Hub.
func (o *Operator) tell(before, after Record) {
	actor := &o.options.Audit.actor
	before.User, before.Host, before.SSH = actor.User, actor.Host, actor.SSH
	entry := before.entry()
	after.addEnd(&entry)
	if e, ok := entry.Event(); ok {
		o.view.AddEvent(e)
	}
}

// record writes the second line of an action. A line that cannot be written is kept for Unwritten.
func (o *Operator) record(r Record) error {
	err := o.options.Audit.Write(o.life, r)
	if err == nil {
		return nil
	}
	line, broken := o.options.Audit.line(r)
	if broken != nil {
		return errors.Join(err, broken)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.unwritten) < mostRuns {
		o.unwritten = append(o.unwritten, strings.TrimSpace(string(line)))
	}
	return err
}

// Unwritten returns the second lines that could not be written to the audit, at most the oldest 200. A disk that did
// not respond in time may still write some of them.
func (o *Operator) Unwritten() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.unwritten)
}
