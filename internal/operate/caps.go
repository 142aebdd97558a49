package operate

import (
	"maps"
	"slices"
	"strings"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
)

// Caps lists the actions that are possible for each source, sorted by name. It asks no server, so a server to which
// nothing has connected yet may be able to do less.
func (o *Operator) Caps() []action.Ability {
	list := make([]action.Ability, 0, len(o.options.Backends))
	for _, name := range slices.Sorted(maps.Keys(o.options.Backends)) {
		b := o.options.Backends[name]
		a := action.Ability{Source: name, Type: b.Type, ReadOnly: b.ReadOnly, Protect: b.Protect}
		for _, d := range action.Verbs() {
			if d.Verb == action.Crash && b.Crash == nil || d.Verb == action.CancelWait && b.never(d.Verb) != "" {
				continue // only the demo or one backend has this verb
			}
			a.Choices = append(a.Choices, action.Choice{Verb: d.Verb, Not: b.never(d.Verb)})
		}
		if !b.ReadOnly {
			a.Lines = b.manner()
		}
		list = append(list, a)
	}
	return list
}

// never returns the reason why a verb is possible for no row of the source; "" if it may be possible for some.
func (b *Backend) never(v action.Verb) string {
	switch {
	case b.ReadOnly:
		return readOnlyText
	case v == action.Acquire && !b.Caps.Mutex && !b.Caps.Semaphore:
		return b.Type + " has no mutex and no semaphore that coordtop could take"
	case v == action.Campaign && !b.Caps.Election:
		return b.Type + " has no election that coordtop could take"
	case v == action.Proclaim && (!b.Caps.Election || b.Caps.MaxData == 0):
		return "leaders carry no data on " + b.Type
	case v == action.Crash && b.Crash == nil:
		return "only in the demo"
	case v == action.Release && b.Force == nil:
		return "coordtop has no way to end what another owns on " + b.Type
	case v == action.CancelWait && b.Force != nil && b.Force.NoCancel != "":
		return b.Force.NoCancel
	case v == action.CancelWait && (b.Force == nil || b.Force.Cancel == ""):
		return "coordtop has no way to end another's wait on " + b.Type
	case action.Of(v).Group == action.Provisions && (!b.Provisions || action.Of(v).Space && b.Nodes == nil):
		return NotProvided(b.Type)
	}
	return ""
}

// NotProvided returns the reason why nothing can be created, updated or deleted on a type of backend.
func NotProvided(typ string) string { return typ + " has nothing that exists without being owned" }

// manner describes for people how the source executes its actions.
func (b *Backend) manner() []string {
	var kinds []string
	switch {
	case b.Caps.Mutex && b.Caps.Shared:
		kinds = append(kinds, "mutexes, alone or shared")
	case b.Caps.Mutex:
		kinds = append(kinds, "mutexes")
	}
	if b.Caps.Semaphore {
		kinds = append(kinds, "semaphores")
	}
	if b.Caps.Election {
		kinds = append(kinds, "elections")
	}
	data := "no data"
	if b.Caps.MaxData > 0 {
		data = "at most " + format.Count(b.Caps.MaxData) + " bytes of data"
	}
	lines := []string{"Takes " + strings.Join(kinds, "; ") + ". Others see " + data + " beside us."}
	if b.Caps.FIFO {
		lines = append(lines, "Who waits stands in the server's queue.")
	} else {
		lines = append(lines, "There is no queue: who waits asks again and again, and any other may be first.")
	}
	return append(lines, keeping(b, b.Lease))
}
