package dialog

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/address"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// Claim opens the box that takes a row by its name, wherever the cursor is.
func (a *Acting) Claim(v action.Verb, name string) tea.Cmd {
	if a.op == nil {
		a.host.Say(screen.ReadOnlyText)
		return nil
	}
	rows := sources.NamedRows(a.feed.State().Rows, name, true)
	switch {
	case name == "":
		a.host.Say("which one? write its name, or SOURCE/NAME; tab completes")
		return nil
	case len(rows) == 0:
		if near := nearName(a, name); near != "" {
			a.host.Say("there is no row " + paint.Clean(name) + ": did you mean " + paint.Clean(near) + "?")
			return nil
		}
		a.host.Say("there is no row " + paint.Clean(name) + ": " + a.Keys.KeyOf(keys.Filter) + " looks for parts of names")
		return nil
	case len(rows) > 1:
		a.host.Say(paint.Count(len(rows), "row") + " have that name; write " + paint.Clean(rows[0].FullName()) + " or " + paint.Clean(rows[1].FullName()))
		return nil
	}
	if !a.possible(v, rows[0], "this backend cannot do that: "+a.Keys.KeyOf(keys.Actions)+" on the row shows what it can") {
		return nil
	}
	return a.OpenBox(action.Request{Verb: v, Target: a.targetOf(rows[0])})
}

// possible reports whether a verb can be carried out on a row now, else it says why not: never, where
// that is no choice of the row at all.
func (a *Acting) possible(v action.Verb, row *sources.Row, never string) bool {
	choices := a.op.Choices(row)
	i := slices.IndexFunc(choices, func(c action.Choice) bool { return c.Verb == v })
	switch {
	case i < 0:
		a.host.Say(never)
	case choices[i].Not != "":
		a.host.Say("not possible: " + paint.Clean(choices[i].Not))
	case !a.CanWrite():
		a.host.Say(writingOff + ": " + a.Keys.KeyOf(keys.Arm) + " makes it possible")
	default:
		return true
	}
	return false
}

// nearName is the name of a row that a person probably meant; "": none is near.
func nearName(a *Acting, name string) string {
	var names []string
	for _, r := range a.feed.State().Rows {
		if r == nil {
			continue
		}
		names = append(names, r.Name, r.Source+"/"+r.Name)
		if alias := sources.AliasName(r.Alias, r.AliasHow); alias != "" {
			names = append(names, alias)
		}
	}
	if len(name) < 3 {
		return "" // of so little anything may have been meant
	}
	return address.Near(name, names...)
}
