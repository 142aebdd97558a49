package operate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/sources"
)

// ofNode is a decision about the space of allowed, in which one semaphore is free.
func ofNode(v action.Verb) *decision {
	d := allowed(action.Update)
	d.row.Source, d.row.Space = "s", "/n"
	d.state.Scopes[0].Source, d.state.Scopes[0].Name, d.state.Scopes[0].Synced = "s", "/n", true
	d.state.Scopes[0].About.Absent = v == action.CreateNode
	d.state.Rows, d.row = []*sources.Row{d.row}, nil
	d.decideOnNode(v)
	return d
}

func (d *decision) decideOnNode(v action.Verb) {
	t, _ := action.TargetOfNode(d.state, "s", "/n")
	d.Request = action.Request{Verb: v, Target: t}
	d.Typed = nameFor(d.b, d.Request)
}

func TestANodeIsCreatedAlteredAndDroppedOnlyAsItWasSeen(t *testing.T) {
	t.Parallel()
	owned := func(d *decision) { d.state.Rows[0].Owners = []sources.Owner{{ID: "a", Label: "host-a\x1b"}} }
	all := []action.Verb{action.CreateNode, action.AlterNode, action.DropNode}
	for name, c := range map[string]struct {
		verbs  []action.Verb
		change func(d *decision)
		want   error // nil: it is let pass
		says   string
	}{
		"nothing":                 {all, func(*decision) {}, nil, ""},
		"read-only":               {all, func(d *decision) { d.b.ReadOnly = true }, ErrReadOnly, "read_only for s"},
		"without a reason":        {all, func(d *decision) { d.b.Protect = true }, ErrUnconfirmed, "give a reason"},
		"no such backend":         {all, func(d *decision) { d.b.Nodes = nil }, ErrNotPossible, "has nothing that exists"},
		"silent":                  {all, func(d *decision) { d.state.Scopes[0].Health = sources.HealthStale }, ErrNotPossible, "silent"},
		"not read in full":        {all, func(d *decision) { d.state.Scopes[0].Synced = false }, ErrNotPossible, "silent"},
		"not watched":             {all, func(d *decision) { d.state.Scopes[0].Name = "/m" }, ErrNotPossible, "silent"},
		"the path is not typed":   {all[1:], func(d *decision) { d.Typed = "" }, ErrUnconfirmed, "type /n"},
		"another path is typed":   {all[1:], func(d *decision) { d.Typed = "/m" }, ErrUnconfirmed, "type /n"},
		"it exists":               {all[:1], func(d *decision) { d.state.Scopes[0].About.Absent = false }, ErrNotPossible, "/n exists"},
		"it does not exist":       {all[1:], func(d *decision) { d.state.Scopes[0].About.Absent = true }, ErrNotPossible, "no such coordination node"},
		"owned":                   {all[2:], owned, ErrNotPossible, "it is in use: app:lock:x owned by host-a"},
		"owned, altered":          {all[1:2], owned, nil, ""},
		"awaited":                 {all[2:], func(d *decision) { d.state.Rows[0].Queue.Len = 2 }, ErrNotPossible, "app:lock:x (2 wait)"},
		"owned elsewhere":         {all[2:], func(d *decision) { owned(d); d.state.Rows[0].Space = "/m" }, nil, ""},
		"owned, with force":       {all[2:], func(d *decision) { owned(d); d.decideOnNode(action.DropNode); d.Force = true }, nil, ""},
		"owned since, with force": {all[2:], func(d *decision) { owned(d); d.Force = true }, ErrChanged, "the owners in it were others"},
		"owned by another by force": {all[2:], func(d *decision) {
			owned(d)
			d.decideOnNode(action.DropNode)
			d.Force = true
			d.state.Rows[0].Owners[0].ID = "b"
		}, ErrChanged, "others"},
		"of a name that it is not of": {all[1:], func(d *decision) { d.Target.Ref.Name = "x" }, ErrNotPossible, "not on our watch"},
	} {
		for _, v := range c.verbs {
			d := ofNode(v)
			c.change(d)
			err := d.guard()
			if !errors.Is(err, c.want) || err == nil != (c.want == nil) || err != nil && !strings.Contains(err.Error(), c.says) || err != nil && strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%s: %v: got %v, want %v with %q", name, v, err, c.want, c.says)
			}
		}
	}
}

func TestDroppingANodeSaysFirstWhatIsInUse(t *testing.T) {
	t.Parallel()
	d := ofNode(action.DropNode)
	d.state.Rows[0].Owners = []sources.Owner{{ID: "a", Label: "host-a"}, {ID: "b", Label: "host-b"}}
	d.state.Rows[0].Queue.Len = 3
	var e action.Effect
	describeNode(&e, d.state, d.Request)
	if !e.Danger || !slices.Contains(e.Lines, "In use now (1): app:lock:x owned by host-a and 1 more (3 wait).") {
		t.Errorf("it would do %q", e.Lines)
	}
	describeNode(&e, d.state, action.Request{Verb: action.AlterNode, Target: d.Target, Settings: []sources.Attr{{Key: "read consistency", Value: "strict"}}})
	if !strings.Contains(e.Lines[0], "of /n to read consistency strict") {
		t.Errorf("altering would do %q", e.Lines)
	}
}
