package foreground

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
)

// serve executes lines until the lease is not ours any more.
func (k *keeper) serve(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return k.givingUp(k.leave)
		}
		if lost, text := k.lost(); lost {
			return k.over(text)
		}
		select {
		case <-ctx.Done():
			return k.givingUp(k.leave)
		case line, more := <-k.Lines:
			word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			var err error
			switch {
			case !more, word == "resign" && text == "":
				return k.givingUp(func() error { return k.resign(ctx) })
			case word == "":
			case word == "proclaim":
				err = k.proclaim(ctx, text)
			case word == "notify" && k.Notify != nil:
				err = k.notify(ctx, text)
			default:
				err = k.say("refused", "none of: proclaim TEXT, notify CHANNEL TEXT, resign")
			}
			if err != nil {
				return err
			}
		case n := <-k.Notices:
			if err := k.write(headless.Held{Event: "notification", Notice: n}); err != nil {
				return err
			}
		case <-k.Operator.Wake():
		}
	}
}

// lost reports whether our lease was lost, and why. It updates last.
func (k *keeper) lost() (bool, string) {
	s := k.Operator.Status()
	for _, h := range s.Holdings {
		if h.Ref == k.Row.Ref {
			k.last = h
			return false, ""
		}
	}
	text, _ := k.loss()
	return true, cmp.Or(text, "why is not kept any more")
}

// loss returns why our lease was lost; ok is false if it was not.
func (k *keeper) loss() (text string, ok bool) {
	for _, run := range slices.Backward(k.Operator.Status().Runs) {
		if run.Lost && run.ID >= k.claim && run.Request.Target.Ref == k.Row.Ref {
			return run.Text, true
		}
	}
	return "", false
}

// over writes the line about the loss of our lease, and returns the error about it.
func (k *keeper) over(text string) error {
	k.last.Until = time.Time{}
	return errors.Join(failure.Sentence(text, ErrLost), k.say("lost", text))
}

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
	k.lost() // updates the data in last
	return k.say("proclaimed", "")
}

// notify sends a notification, and waits for the service's answer. line is the channel and, after a blank, the payload.
func (k *keeper) notify(ctx context.Context, line string) error {
	channel, payload, _ := strings.Cut(line, " ")
	if err := k.Notify(ctx, channel, payload); err != nil {
		return k.say("refused", err.Error())
	}
	return k.say("notified", "")
}

// sayWithin is the longest time for which a slow reader of Out can delay giving up our lease, or one of Err anything.
const sayWithin = 200 * time.Millisecond

// givingUp writes the line "resigning" before it gives the lease up, because somebody else may own it, and report that,
// before the service's answer arrives.
func (k *keeper) givingUp(give func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), sayWithin)
	defer cancel()
	if lost, _ := k.lost(); lost || !k.last.Until.IsZero() && !time.Now().Before(k.last.Until) {
		return give() // nothing is left to give up
	}
	now := *k // a copy, because the line may be written later
	_, err := spawn.Within(ctx, 0, func() (struct{}, error) { return struct{}{}, now.say("resigning", "") })
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the next line waits for the reader
	}
	return errors.Join(give(), err)
}

// resign gives the lease up, and writes the line when the service has answered. It waits a little longer for the result
// that the audit records.
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
	enough, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	await(enough, k.Operator, id, action.Seen)
	return nil
}

// leave resigns because the process must end. It does not wait for our watch.
func (k *keeper) leave() error {
	err := k.Operator.Close()
	if text, ok := k.loss(); ok {
		return k.over(text)
	}
	k.last.Until = time.Time{}
	if err != nil {
		return errors.Join(err, k.say("resigned", "not confirmed, it runs out by itself: "+err.Error()))
	}
	return k.say("resigned", "")
}

// answered waits until the service has answered a run, or the run is over.
func (k *keeper) answered(ctx context.Context, id uint64) action.Run {
	run := await(ctx, k.Operator, id, action.Sent)
	if run.Phase < action.Sent {
		run.Text = "ended before the service answered"
	}
	return run
}
