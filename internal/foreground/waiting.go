package foreground

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/sources"
)

// errCalledOff says that the person ended the wait.
var errCalledOff = errors.New("called off before it was ours")

// won waits until it is ours. The error wraps errCalledOff where a line said so.
func (k *keeper) won(ctx context.Context, id uint64) error {
	for {
		run, s := runOf(k.Operator, id)
		for _, h := range s.Holdings {
			if h.Ref == k.Row.Ref && !h.Waiting {
				k.last = h
				return nil
			}
		}
		switch run.Phase {
		case action.Missed:
			return fmt.Errorf("%w: %s", ErrMissed, run.Text)
		case action.Failed, action.Dropped:
			return fmt.Errorf("%v: %s", run.Request.Verb, run.Text)
		}
		k.tell(run)
		select {
		case <-ctx.Done():
			return errors.New("ended before it was ours")
		case line, more := <-k.Lines:
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
		case <-k.Operator.Wake():
		}
	}
}

// tell says on Err for whom we wait, when the wait begins and when that changes:
// standard output is for programs.
func (k *keeper) tell(run action.Run) {
	row := k.now()
	if run.Phase != action.Waiting || len(row.Owners) == 0 || !row.Fresh(k.View.State()) {
		return
	}
	text := waitingText(row, run.Place)
	if text == k.told {
		return
	}
	k.told = text
	fmt.Fprintf(k.Err, "coordtop: %s\n", text)
}

func waitingText(row *sources.Row, place int) string {
	owner := row.Owners[0].Label
	if owner == "" {
		owner = row.Owners[0].ID
	}
	does := "owned"
	if row.Kind == sources.KindElection {
		does = "led"
	}
	text := fmt.Sprintf("waiting for %s/%s: %s by %s", row.Source, format.Clean(row.Name, 200), does, format.Clean(owner, 200))
	if more := len(row.Owners) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case row.Queue.How == sources.Unknown:
		text += "; there is no queue to be seen, any other may be first"
	case place > 0:
		text += fmt.Sprintf("; we are number %d of %d in the queue", place, max(row.Queue.Len, place))
	}
	return text
}

// callOff ends the wait and returns errCalledOff. What was won at that very moment is
// given back.
func (k *keeper) callOff(id uint64) error {
	k.Operator.CallOff(id)
	for run, _ := runOf(k.Operator, id); !run.Phase.Over(); run, _ = runOf(k.Operator, id) {
		<-k.Operator.Wake() // what is called off ends soon, by its own bounds
	}
	if err := k.say("resigned", errCalledOff.Error()); err != nil {
		return err
	}
	return errCalledOff
}
