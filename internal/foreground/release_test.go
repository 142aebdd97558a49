package foreground_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"coordtop/internal/action"
	"coordtop/internal/foreground"
	"coordtop/sources"
)

// view shows one row.
type view struct{ row *sources.Row }

func (v view) State() *sources.State                        { return &sources.State{} }
func (v view) Row(*sources.State, sources.Ref) *sources.Row { return v.row }

func TestReleasePrintsWhatWasSeenOfIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run    action.Run
		result string
		err    error // of the ends that a caller tells apart; nil: another, or none
	}{
		{action.Run{Phase: action.Seen}, "done", nil}, {action.Run{Phase: action.Unseen}, "not seen", nil},
		{action.Run{Phase: action.Changed}, "missed", foreground.ErrChanged}, {action.Run{Phase: action.Unknown}, "not known", nil},
		{action.Run{Phase: action.Failed, NotPossible: true}, "failed", foreground.ErrNotPossible}, {action.Run{Phase: action.Failed, Refused: true}, "failed", foreground.ErrRefused},
		{action.Run{Phase: action.Failed}, "failed", nil}, {action.Run{Phase: action.Dropped}, "called off", nil},
	} {
		op := newScript()
		c.run.Text = "what happened"
		op.instead[action.Release] = c.run
		row := &sources.Row{Primitive: &sources.Primitive{
			Ref: sources.Ref{Source: "a", Space: "0", Name: "x"}, Kind: sources.KindMutex, Owners: []sources.Owner{{ID: "#2", Label: "next"}},
		}}
		request := action.Request{Verb: action.Release, Target: action.TargetOf(row, &sources.Owner{ID: "#1", Label: "ann", Guard: "g"})}
		var out bytes.Buffer
		err := foreground.Release(t.Context(), op, view{row}, request, &out)
		var line struct {
			Event, Result, Name, Detail string
			Previous                    struct{ Label string }
			Owners                      []struct{ Label string }
		}
		if e := json.Unmarshal(out.Bytes(), &line); e != nil || line.Event != "release" || line.Result != c.result || line.Previous.Label != "ann" ||
			line.Name != "x" || len(line.Owners) != 1 || line.Owners[0].Label != "next" || line.Detail != "what happened" {
			t.Errorf("%v: %v, printed %s", c.run.Phase, e, out.String())
		}
		if (err == nil) != (c.run.Phase == action.Seen) {
			t.Errorf("%v: %v", c.run.Phase, err)
		}
		for _, end := range []error{foreground.ErrChanged, foreground.ErrNotPossible, foreground.ErrRefused, foreground.ErrMissed, foreground.ErrLost} {
			if errors.Is(err, end) != (end == c.err) {
				t.Errorf("%v: %v, want %v", c.run.Phase, err, c.err)
			}
		}
	}
}
