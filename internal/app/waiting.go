package app

import (
	"errors"
	"fmt"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/sources"
)

// errCalledOff says that the person ended the wait.
var errCalledOff = errors.New("called off before it was ours")

// now is the row as our watch shows it; as it was found, where it does not any more.
func (k *keeper) now() *sources.Row {
	slot, _ := k.hub.Slot(k.row.Ref) // where there is none, RowAt finds another's row
	if row := k.hub.State().RowAt(slot, k.row.Ref); row != nil {
		return row
	}
	return k.row
}

// tell says on standard error for whom we wait, when the wait begins and when that changes:
// standard output is for programs.
func (k *keeper) tell(run action.Run) {
	row := k.now()
	if run.Phase != action.Waiting || len(row.Owners) == 0 || !row.Fresh(k.hub.State()) {
		return
	}
	text := waitingText(row, run.Place)
	if text == k.told {
		return
	}
	k.told = text
	fmt.Fprintf(k.p.env.Stderr, "coordtop: %s\n", text)
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
	k.op.CallOff(id)
	for run, _ := runOf(k.op, id); !run.Phase.Over(); run, _ = runOf(k.op, id) {
		<-k.op.Wake() // what is called off ends soon, by its own bounds
	}
	if err := k.say("resigned", errCalledOff.Error()); err != nil {
		return err
	}
	return errCalledOff
}
