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
	for phase, c := range map[action.Phase]struct {
		result string
		err    error
	}{
		action.Seen: {"done", nil}, action.Unseen: {"not seen", foreground.ErrUnseen}, action.Changed: {"missed", foreground.ErrChanged},
		action.Unknown: {"not known", foreground.ErrUnknown}, action.Failed: {"failed", foreground.ErrNotPossible}, action.Dropped: {"called off", nil},
	} {
		op := newScript()
		op.instead[action.Release] = action.Run{Phase: phase, Text: "what happened", NotPossible: phase == action.Failed}
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
			t.Errorf("%v: %v, printed %s", phase, e, out.String())
		}
		if c.err != nil && !errors.Is(err, c.err) || (err == nil) != (phase == action.Seen) {
			t.Errorf("%v: %v, want %v", phase, err, c.err)
		}
	}
}
