package operate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// Describe returns what a request would do, from our watch and the audit. It asks no server, so its lines promise
// nothing that only a server knows. It waits for the disk for at most a second.
func (o *Operator) Describe(ctx context.Context, r action.Request) (action.Effect, error) {
	b, ok := o.options.Backends[r.Target.Ref.Source]
	if !ok {
		return action.Effect{}, notPossible("nothing can be sent to this source")
	}
	row, _ := o.view.row(r.Target.Ref)
	o.mu.Lock()
	r = o.asHeldLocked(r)
	o.mu.Unlock()
	r.Limit = b.limit(r, row)
	e := action.Effect{
		Call: format.Clean(b.call(r), 2000), NeedsReason: b.Protect && !action.Of(r.Verb).GivesUp, NeedsName: nameFor(&b, r),
	}
	switch r.Verb {
	case action.Acquire, action.Campaign, action.Try:
		describeTaking(&e, &b, row, r)
	case action.Proclaim:
		e.Lines = []string{"Replaces the data that others see beside us. Sent only while we lead."}
		e.TakesData, e.DataMax = true, b.dataMax()
	case action.Resign:
		describeResigning(&e, o, row, r)
	case action.Release, action.CancelWait:
		o.describeForce(&e, &b, row, r)
	case action.Crash:
		e.Lines = []string{
			"Ends the process of " + action.OwnerText(r.Target.Label, r.Target.Owner) + " with SIGKILL: it cannot say goodbye.",
			"Others take over when its lease has run out, or at once where the connection was the lease.",
		}
		e.Danger = true
	case action.AlterNode, action.DropNode:
		describeNode(&e, o.view.State(), r)
	case action.Create, action.Update, action.Delete, action.CreateNode:
		describeProvision(&e, &b, row, r)
	default:
		return action.Effect{}, notPossible("coordtop has no way to do this")
	}
	if group := action.Of(r.Verb).Group; group == action.Claims || group == action.Ends {
		e.Lines = append(e.Lines, o.peers(ctx, row)...)
	}
	return e, nil
}

// nameFor returns the name that must be typed to confirm a request; "" if none is required.
func nameFor(b *Backend, r action.Request) string {
	switch {
	case !action.Of(r.Verb).Named || b.Demo:
		return ""
	case aboutNode(&r):
		return typable(r.Target.Ref.Space)
	}
	return typable(r.Target.Ref.Name)
}

// typable returns a text that a person can type for a name, and that stands for no other name: the name
// itself, if it can be typed; in quotes, if it has blanks at its ends or invisible characters; a hash, if it
// is too long to be typed or shown in full.
func typable(name string) string {
	const maxPlain, maxQuoted, hashed = 200, 24, "sha256:" // of the input field of a box; of its label
	quoted := strconv.QuoteToASCII(name)
	switch plain := name != "" && strings.TrimSpace(name) == name && format.Clean(name, 0) == name && name[0] != '"' && !strings.HasPrefix(name, hashed); {
	case plain && len(name) <= maxPlain:
		return name
	case !plain && len(quoted) <= maxQuoted:
		return quoted
	}
	return hashed + fmt.Sprintf("%.6x", sha256.Sum256([]byte(name)))
}

func describeTaking(e *action.Effect, b *Backend, row *sources.Row, r action.Request) {
	e.TakesData, e.DataMax, e.Danger = b.Caps.MaxData > 0, b.dataMax(), !b.Demo
	name := clean(r.Target.Ref.Name)
	if r.Target.Kind == sources.KindElection {
		e.Lines = append(e.Lines, "You will lead "+name+". coordtop does none of the leader's work.")
	} else {
		e.TakesMode = b.shares(r.Target.Kind)
		e.Lines = append(e.Lines, owning(name, row, r))
	}
	taken := row != nil && len(row.Owners) > 0
	if free, known := freePermits(row); known {
		taken = free < max(r.Permits, 1) || row.Queue.Len > 0
	}
	now := takenText(row)
	switch {
	case taken && r.Mode == sources.Shared && notExclusive(row.Owners) && row.Queue.How != sources.Unknown && row.Queue.Len == 0:
		e.Lines = append(e.Lines, "Shared by "+action.OwnersText(row.Owners)+" now: you own it beside them at once.")
	case taken && r.Verb == action.Try:
		e.Lines = append(e.Lines, now+": the try will miss unless it becomes free first.")
	case taken && b.Caps.FIFO && row.Queue.How != sources.Unknown && row.Queue.Len == 0:
		e.Lines = append(e.Lines, now+": you wait in the server's queue and come next. Those who come later wait for you.")
	case taken && b.Caps.FIFO && row.Queue.How != sources.Unknown:
		e.Lines = append(e.Lines, fmt.Sprintf("%s: you wait in the server's queue, behind %d. Those who come later wait for you.", now, row.Queue.Len))
	case taken && b.Caps.FIFO:
		e.Lines = append(e.Lines, now+": you wait in the server's queue. Those who come later wait for you.")
	case taken:
		e.Lines = append(e.Lines, now+", and "+b.Type+" keeps no queue: coordtop asks again and again, and any other may be first.")
	}
	e.Lines = append(e.Lines, keeping(b, b.lease(r)))
	if b.Nameless && !strings.HasPrefix(string(r.Data), "{") {
		e.Lines = append(e.Lines, "Others see you as "+clean(b.Identity)+".")
	}
}

// owning describes what our ownership of a mutex or of permits means for others.
func owning(name string, row *sources.Row, r action.Request) string {
	if r.Mode == sources.Shared {
		return "You will share " + name + ": others may own it too, none exclusively. Exclusive claims wait until you release it."
	}
	if r.Target.Kind != sources.KindSemaphore {
		return "You will hold " + name + ". Programs that need it wait until you release it."
	}
	permits := "1 permit"
	if r.Permits > 1 {
		permits = fmt.Sprintf("%d permits", sources.Permits(r.Permits))
	}
	free, known := freePermits(row)
	if !known {
		return "You will take " + permits + " of " + name + ". That leaves fewer for the others."
	}
	wants := max(r.Permits, 1)
	text := fmt.Sprintf("You will take %d of %d permits of %s.", sources.Permits(wants), row.Limit, name)
	if wants <= free {
		text += fmt.Sprintf(" That leaves %d free.", free-wants)
	}
	return text
}

// takenText describes who owns a row now, or how many permits are free.
func takenText(row *sources.Row) string {
	if row == nil || len(row.Owners) == 0 {
		return "Taken now"
	}
	if free, known := freePermits(row); known {
		return fmt.Sprintf("%d of %d permits are free now", free, row.Limit)
	}
	if len(row.Owners) > 1 {
		return action.OwnersText(row.Owners) + " own it now"
	}
	return action.OwnersText(row.Owners) + " owns it now"
}

// freePermits returns how many permits of a semaphore are free, if that is known.
func freePermits(row *sources.Row) (n uint64, known bool) {
	if row == nil || row.Absent || !row.Limited() {
		return 0, false
	}
	return row.Limit - min(row.Taken, row.Limit), true
}

// asHeldLocked returns r; if r resigns a lease, it sets the mode in which we hold the lease.
func (o *Operator) asHeldLocked(r action.Request) action.Request {
	if h := o.holdingLocked(r.Target.Ref); h != nil && r.Verb == action.Resign {
		r.Mode = h.run.Request.Mode
	}
	return r
}

// keeping describes how a lease of ours with that length ends.
func keeping(b *Backend, lease time.Duration) string {
	const until = "Kept until you resign or coordtop ends, "
	if b.RunsOut {
		return until + "or up to " + format.Left(lease) + " longer if it dies without a word."
	}
	return until + "or its connection does; a cut link is noticed within " + format.Left(lease) + "."
}

func describeResigning(e *action.Effect, o *Operator, row *sources.Row, r action.Request) {
	o.mu.Lock()
	h := o.holdingLocked(r.Target.Ref)
	waiting, us := h != nil && h.waiting, h.owner()
	o.mu.Unlock()
	if waiting {
		e.Lines = []string{"You leave the queue. The owner notices nothing."}
		return
	}
	e.Lines = []string{"You give it up. Only this one: what else you hold stays yours."}
	if row != nil {
		e.Next = nextText(row, func(id, session string) bool { return us != "" && (id == us || session == us) })
	}
}

// nextText describes who would own a row next, as far as is known, after the owners and waiters are gone for which
// leaves returns true.
func nextText(row *sources.Row, leaves func(id, session string) bool) string {
	next := row.NextText(leaves, func(w *sources.Waiter) string { return action.OwnerText(w.Label, w.ID) })
	switch {
	case next != "":
		return next
	case row.Queue.How == sources.Unknown:
		return "whoever asks first: there is no queue that we could see"
	case row.Queue.Len == 0:
		return "nobody waits in the queue"
	}
	return fmt.Sprintf("one of the %d in the queue, who are not told", row.Queue.Len)
}

// An action of another coordtop is shown for justNow to a person who is about to act on the same row.
// Reading it from the audit may take readWithin.
const justNow, readWithin = time.Minute, time.Second

// peers describes, from the audit, the present and recent actions of other coordtops on a row.
func (o *Operator) peers(ctx context.Context, row *sources.Row) []string {
	if row == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	entries, err := spawn.Within(ctx, 0, o.options.Audit.Entries)
	if err != nil {
		return []string{"The audit cannot be read (" + clean(err.Error()) + "): what another coordtop just did is not known."}
	}
	var lines []string
	now := o.options.Now()
	took := map[string]bool{} // owners, in the form of the audit
	for i := len(entries) - 1; i >= 0 && len(lines) < 2; i-- {
		e := &entries[i]
		if e.Ours || e.Ref != row.Ref {
			continue
		}
		after := e.After.Name()
		owns := e.Result == action.Seen.String() && after != "" && ownedBy(row, after) && (e.Action == action.Acquire.String() ||
			e.Action == action.Campaign.String() || e.Action == action.Try.String())
		ago := now.Sub(e.At)
		switch how := "with another coordtop " + format.Age(ago) + " ago"; {
		case owns && !took[after]:
			took[after] = true
			lines = append(lines, fmt.Sprintf("Its owner %s is %s, who took it %s.", clean(after), clean(e.Who), how))
		case e.Result == "" && (e.Runs || ago < justNow):
			lines = append(lines, fmt.Sprintf("%s began %s %s: %s.", clean(e.Who), clean(e.Action), how, clean(e.Unfinished())))
		case e.Result != "" && ago < justNow:
			lines = append(lines, fmt.Sprintf("%s did %s %s: %s.", clean(e.Who), clean(e.Action), how, clean(e.Result)))
		}
	}
	return lines
}

// ownedBy reports whether one of the owners of a row has that label or ID.
func ownedBy(row *sources.Row, who string) bool {
	return slices.ContainsFunc(row.Owners, func(w sources.Owner) bool { return w.Label == who || w.ID == who })
}
