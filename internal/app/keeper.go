package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/headless"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// Ends of a hold that have an exit code of their own.
var (
	errMissed = errors.New("not acquired")
	errLost   = errors.New("lost")
)

// keeper is one acquire or campaign.
type keeper struct {
	p        *program
	op       *operate.Operator
	hub      *sources.Hub
	row      *sources.Row // as it was found
	leads    bool
	identity string // how others see us
	reason   string // for the audit
	lines    <-chan string
	last     action.Holding // as it was seen last
	told     string         // on standard error, of the wait
}

func (k *keeper) wrongVerb() error {
	if k.leads {
		return fmt.Errorf("%w: it is an election: coordtop campaign leads it", operate.ErrNotPossible)
	}
	return fmt.Errorf("%w: it is no election: coordtop acquire owns it", operate.ErrNotPossible)
}

// run takes it, and serves lines while it is ours.
func (k *keeper) run(ctx context.Context, verb action.Verb, s config.Source, o holdOptions) error {
	if k.reason = o.reason; k.reason == "" {
		k.reason = "standard input" // which is where what is done from here on comes from
	}
	if s.Protect {
		if err := k.op.Arm(s.Name, s.Name); err != nil {
			return err
		}
	}
	k.last.Mode, k.last.Permits = modeOf(o.shared), o.permits // until there is something to be seen
	id, err := k.start(ctx, action.Request{
		Verb: verb, Mode: modeOf(o.shared), Permits: o.permits, Wait: o.wait, Data: []byte(o.data), Reason: o.reason,
	})
	if err != nil {
		return err
	}
	if err := k.won(ctx, id); errors.Is(err, errCalledOff) {
		return nil
	} else if err != nil {
		return err
	}
	if err := k.say("acquired", ""); err != nil {
		return err
	}
	return k.serve(ctx)
}

func modeOf(shared bool) sources.Mode {
	if shared {
		return sources.Shared
	}
	return sources.Exclusive
}

// start asks for an action on the row as it is now. Naming it on the command line was
// typing its name.
func (k *keeper) start(ctx context.Context, r action.Request) (uint64, error) {
	row := k.now()
	r.Target = action.Target{Ref: row.Ref, Kind: row.Kind}
	if len(row.Owners) > 0 {
		w := &row.Owners[0]
		r.Target.Owner, r.Target.Label, r.Target.Fence, r.Target.Guard = w.ID, w.Label, w.Fence, w.Guard
	}
	effect, err := k.op.Describe(context.WithoutCancel(ctx), r)
	if err != nil {
		return 0, err
	}
	r.Typed = effect.NeedsName
	return k.op.Start(r)
}

// won waits until it is ours. The error wraps errCalledOff where a line said so.
func (k *keeper) won(ctx context.Context, id uint64) error {
	for {
		run, s := runOf(k.op, id)
		for _, h := range s.Holdings {
			if h.Ref == k.row.Ref && !h.Waiting {
				k.last = h
				return nil
			}
		}
		switch run.Phase {
		case action.Missed:
			return fmt.Errorf("%w: %s", errMissed, run.Text)
		case action.Failed, action.Dropped:
			return fmt.Errorf("%v: %s", run.Request.Verb, run.Text)
		}
		k.tell(run)
		select {
		case <-ctx.Done():
			return errors.New("ended before it was ours")
		case line, more := <-k.lines:
			switch line = strings.TrimSpace(line); {
			case !more:
				return errors.New("standard input ended before it was ours: it is not waited for any more")
			case line == "resign":
				return k.callOff(id)
			case line == "":
				continue
			}
			if err := k.say("refused", "it is not ours yet; resign, the end of input, or SIGINT, ends the wait"); err != nil {
				return err
			}
		case <-k.op.Wake():
		}
	}
}

// serve obeys lines until it is not ours any more.
func (k *keeper) serve(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return k.leave()
		}
		if lost, text := k.lost(); lost {
			return k.over(text)
		}
		select {
		case <-ctx.Done():
			return k.leave()
		case line, more := <-k.lines:
			word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			var err error
			switch {
			case !more, word == "resign" && text == "":
				return k.resign(ctx)
			case word == "":
			case word == "proclaim":
				err = k.proclaim(ctx, text)
			default:
				err = k.say("refused", "neither proclaim TEXT nor resign")
			}
			if err != nil {
				return err
			}
		case <-k.op.Wake():
		}
	}
}

// lost says whether it is not ours any more, and why.
func (k *keeper) lost() (bool, string) {
	s := k.op.Status()
	for _, h := range s.Holdings {
		if h.Ref == k.row.Ref {
			k.last = h
			return false, ""
		}
	}
	if text, ok := k.loss(); ok {
		return true, text
	}
	return true, "why is not kept any more"
}

// loss returns why it was lost; !ok where it was not.
func (k *keeper) loss() (text string, ok bool) {
	for _, run := range slices.Backward(k.op.Status().Runs) {
		if run.Lost && run.Request.Target.Ref == k.row.Ref {
			return run.Text, true
		}
	}
	return "", false
}

// over says that it was lost, and why.
func (k *keeper) over(text string) error {
	k.last.Until = time.Time{}
	return errors.Join(lossError{text}, k.say("lost", text))
}

// lossError is an errLost whose text says so by itself.
type lossError struct{ text string }

// Error says why.
func (l lossError) Error() string { return l.text }

// Unwrap makes it an errLost.
func (l lossError) Unwrap() error { return errLost }

// proclaim replaces the data, and waits for the service's answer.
func (k *keeper) proclaim(ctx context.Context, text string) error {
	id, err := k.start(ctx, action.Request{Verb: action.Proclaim, Data: []byte(text), Reason: k.reason})
	if err != nil {
		return k.say("refused", err.Error())
	}
	run := k.answered(ctx, id)
	if run.Phase == action.Failed || run.Phase == action.Dropped || run.Phase < action.Sent {
		return k.say("refused", run.Text)
	}
	k.lost() // for the data
	return k.say("proclaimed", "")
}

// resign gives it up, and says so when the service has. What comes of it is waited for a
// moment more, for the audit.
func (k *keeper) resign(ctx context.Context) error {
	id, err := k.start(ctx, action.Request{Verb: action.Resign, Reason: k.reason})
	if err != nil {
		if lost, text := k.lost(); lost {
			return k.over(text)
		}
		return k.leave()
	}
	run := k.answered(ctx, id)
	switch {
	case run.Lost:
		return k.over(run.Text)
	case run.Phase == action.Failed:
		return errors.Join(errors.New(run.Text), k.say("resigned", run.Text))
	}
	k.last.Until = time.Time{}
	if err := k.say("resigned", ""); err != nil {
		return err
	}
	enough := time.NewTimer(2 * time.Second)
	defer enough.Stop()
	for run, _ := runOf(k.op, id); !run.Phase.Over(); run, _ = runOf(k.op, id) {
		select {
		case <-ctx.Done():
			return nil
		case <-enough.C:
			return nil
		case <-k.op.Wake():
		}
	}
	return nil
}

// leave resigns because the process has to end: at once, without waiting for what comes
// of it.
func (k *keeper) leave() error {
	err := k.op.Close(context.Background())
	if text, ok := k.loss(); ok {
		return k.over(text)
	}
	k.last.Until = time.Time{}
	if err != nil {
		return errors.Join(err, k.say("resigned", "not confirmed, it runs out by itself: "+err.Error()))
	}
	return k.say("resigned", "")
}

// answered waits until the service has answered a run, or it is over.
func (k *keeper) answered(ctx context.Context, id uint64) action.Run {
	for {
		run, _ := runOf(k.op, id)
		if run.Phase >= action.Sent {
			return run
		}
		select {
		case <-ctx.Done():
			run.Text = "ended before the service answered"
			return run
		case <-k.op.Wake():
		}
	}
}

func runOf(op *operate.Operator, id uint64) (action.Run, *action.Status) {
	s := op.Status()
	for _, run := range s.Runs {
		if run.ID == id {
			return run, s
		}
	}
	return action.Run{}, s
}

// say writes a line about what we hold, as it was seen last.
func (k *keeper) say(event, detail string) error {
	h, us := k.last, sources.OwnerRef{}
	if h.Owner != "" { // else it is not ours yet
		us = sources.OwnerRef{ID: h.Owner, Label: k.identity, Fence: h.Fence}
	}
	return headless.WriteHeld(k.p.env.Stdout, headless.Held{
		Event: event, Ref: k.row.Ref, Kind: k.row.Kind, Owner: us,
		Mode: h.Mode, Permits: h.Permits, Data: h.Data, Until: h.Until, Detail: detail,
	})
}
