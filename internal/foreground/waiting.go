package foreground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// sayAgain is the least time between two reports of the same trouble.
const sayAgain = time.Minute

// errCalledOff reports that the person ended the wait.
var errCalledOff = errors.New("called off before it was ours")

// queued is the state of a claim that takes a place in the queue and waits there later.
type queued struct {
	proceed chan struct{} // closed to make the claim wait; nil: it waits from the start
	waits   bool          // proceed is closed
	said    bool          // the line "enqueued" was written
}

// sayEnqueued writes the line about our place in the queue.
func (k *keeper) sayEnqueued(run action.Run, own *action.Holding) error {
	text := "the service has queued it, or granted it already: the line `wait` waits for it"
	if row := k.now(); run.Place > 0 && len(row.Owners) > 0 {
		text = waitingText(row, run, own)
	}
	return k.write(headless.Held{Event: "enqueued", Place: run.Place, Detail: text})
}

// won waits until the claim is granted, and prints to Err how long that took if it said what it waits for. The error
// wraps errCalledOff if a line ended the wait.
func (k *keeper) won(ctx context.Context, id uint64) error {
	began := time.Now()
	for {
		run, s := runOf(k.Operator, id)
		var own action.Holding
		for _, h := range s.Holdings {
			if h.Ref == k.Row.Ref && !h.Waiting {
				if k.last = h; k.told != "" {
					k.inform("it is ours after " + format.Age(time.Since(began)))
				}
				return nil
			} else if h.Ref == k.Row.Ref {
				own = h
			}
		}
		switch run.Phase {
		case action.Missed, action.Unknown, action.Failed, action.Dropped:
			return problem(run)
		}
		if own.Enqueued && !k.queued.said {
			k.queued.said = true
			if err := k.sayEnqueued(run, &own); err != nil {
				return err
			}
		}
		k.tell(run, &own)
		select {
		case <-ctx.Done():
			return k.ended(id)
		case line, more := <-k.Lines:
			end, err := k.ends(line, more)
			if err != nil {
				return err
			}
			if end {
				return k.callOff(id)
			}
		case <-k.Operator.Wake():
		}
	}
}

// ends reports whether a line ends the wait, and answers any other. The error reports that the lines ended, or that Out
// failed.
func (k *keeper) ends(line string, more bool) (bool, error) {
	switch line = strings.TrimSpace(line); {
	case !more:
		return false, errors.New("standard input ended before it was ours: it is not waited for any more")
	case line == "resign":
		return true, nil
	case line == "":
		return false, nil
	case line == "wait" && k.queued.proceed != nil && !k.queued.waits:
		k.queued.waits = true
		close(k.queued.proceed)
		return false, nil
	}
	return false, k.say("refused", "it is not ours yet; resign, the end of input, or SIGINT, ends the wait")
}

// ended calls the wait off because the process must end, and returns the error about that.
func (k *keeper) ended(id uint64) error {
	_ = k.Operator.Close() // the caller's own Close returns the same error
	if run, _ := runOf(k.Operator, id); run.Phase == action.Unknown {
		return problem(run)
	}
	return errors.New("ended before it was ours")
}

// tell prints to Err the owner that we wait for, or why the wait makes no progress, whenever that changes. own is our
// holding.
func (k *keeper) tell(run action.Run, own *action.Holding) {
	if run.Phase != action.Waiting || k.queued.proceed != nil && !k.queued.waits {
		return // it may be ours already: only a wait receives the grant
	}
	text, row := run.Text, k.now()
	if k.queued.proceed != nil && slices.ContainsFunc(row.Owners, func(o sources.Owner) bool { return own.Owns(&o) }) {
		return // the wait was asked for just now
	}
	if text == "" && len(row.Owners) > 0 && row.Fresh(k.View.State()) {
		text = waitingText(row, run, own)
	}
	if text == "" || text == k.told || run.Text != "" && time.Since(k.said[text]) < sayAgain {
		return
	}
	k.told = text
	if run.Text != "" {
		k.said[text] = time.Now()
	}
	k.inform(text)
}

// inform prints a sentence to Err. It waits a bounded time for a reader: the claim may be granted meanwhile.
func (k *keeper) inform(text string) {
	ctx, cancel := context.WithTimeout(context.Background(), sayWithin)
	defer cancel()
	_, _ = spawn.Within(ctx, 0, func() (int, error) { return fmt.Fprintf(k.Err, "coordtop: %s\n", text) })
}

// WaitingText describes for people the owners that a claim waits for. place is our place in the queue, 0 if it is not
// known; with atMost it is only the upper bound.
func WaitingText(row *sources.Row, place int, atMost bool) string {
	return waitingText(row, action.Run{Place: place, AtMost: atMost}, &action.Holding{})
}

func waitingText(row *sources.Row, run action.Run, own *action.Holding) string {
	does := "owned"
	if row.Kind == sources.KindElection {
		does = "led"
	}
	name := format.Clean(row.Name, 200)
	if row.Alias != "" {
		name += " (" + format.Clean(row.Alias, 200) + ")"
	}
	text := fmt.Sprintf("waiting for %s/%s: %s by %s", row.Source, name, does, action.OwnersText(row.Owners))
	switch {
	case slices.ContainsFunc(row.Owners, func(o sources.Owner) bool { return own.Owns(&o) }):
		text = fmt.Sprintf("waiting for %s/%s: the service shows us as the owner, its answer to us did not arrive: it is asked again", row.Source, name)
	case row.Queue.How == sources.Unknown:
		text += "; there is no queue to be seen, any other may be first"
	case run.AtMost:
		text += fmt.Sprintf("; the queue has %d, and we are number %d or before", max(row.Queue.Len, run.Place), run.Place)
	case run.Place > 0:
		text += fmt.Sprintf("; we are number %d of %d in the queue", run.Place, max(row.Queue.Len, run.Place))
		if row.Queue.How == sources.Inferred {
			text += ", whose order is inferred"
		}
		text += behind(row.Queue.Waiters, run.Place-1)
	case row.Queue.Len > 0 && len(row.Queue.Waiters) == 0:
		text += fmt.Sprintf("; the queue has %d", row.Queue.Len)
	}
	return text
}

// behind names the waiters before us; "": none is before us, or not known by name.
func behind(waiters []sources.Waiter, ahead int) string {
	var names []string
	for i := range waiters[:min(len(waiters), ahead)] {
		names = append(names, action.OwnerText(waiters[i].Label, waiters[i].ID))
	}
	if len(names) == 0 {
		return ""
	}
	return ", behind " + format.SomeOf(names, 3, ahead)
}

// callOff ends the wait and returns errCalledOff. A lease that is won at that moment is given back.
func (k *keeper) callOff(id uint64) error {
	k.Operator.CallOff(id)
	run := await(context.Background(), k.Operator, id, action.Seen) // the run bounds its own end
	if run.Phase == action.Unknown {
		return errors.Join(problem(run), k.say("resigned", run.Text))
	}
	if err := k.say("resigned", errCalledOff.Error()); err != nil {
		return err
	}
	return errCalledOff
}

// Release lets op execute r, which ends what somebody else owns, and prints the result as one line of JSON to out, as
// soon as our watch shows it. It returns nil only after our watch has shown the end. Otherwise the error wraps an error
// of Start, ErrChanged, ErrNotPossible or ErrRefused. The end of ctx stops only the watching, not a request that was
// sent.
func Release(ctx context.Context, op Operator, view View, r action.Request, out io.Writer) error {
	run, err := done(ctx, op, r)
	if err != nil {
		return err
	}
	h := headless.Released{
		Result: run.Phase.String(), Ref: r.Target.Ref, Kind: r.Target.Kind, Alias: r.Target.Alias, Detail: run.Text,
		Previous: sources.OwnerRef{ID: r.Target.Owner, Label: r.Target.Label, Fence: r.Target.Fence},
	}
	if row := view.Row(view.State(), r.Target.Ref); row != nil {
		h.Owners = row.Owners
	}
	return errors.Join(problem(run), headless.WriteReleased(out, h))
}

// done executes a request and waits for its end. If ctx ends first, it only waits for an answer that is on its way.
func done(ctx context.Context, op Operator, r action.Request) (action.Run, error) {
	id, err := op.Start(r)
	if err != nil {
		return action.Run{}, err
	}
	run := await(ctx, op, id, action.Seen)
	if !run.Phase.Over() {
		_ = op.Close() // the caller's own Close returns the same error; every run is over then
		run, _ = runOf(op, id)
	}
	return run, nil
}

// Provision does the same as Release for a request that creates, changes or deletes a primitive itself.
func Provision(ctx context.Context, op Operator, view View, r action.Request, out io.Writer) error {
	run, err := done(ctx, op, r)
	if err != nil {
		return err
	}
	p := headless.Provisioned{Action: r.Verb.String(), Result: run.Phase.String(), Ref: r.Target.Ref, Kind: r.Target.Kind, Detail: run.Text}
	if r.Verb != action.Delete || run.Phase != action.Seen {
		p.Row = view.Row(view.State(), r.Target.Ref)
	}
	return errors.Join(problem(run), headless.WriteProvisioned(out, p))
}
