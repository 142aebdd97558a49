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

// Claim opens the box that claims a row by its name, wherever the cursor is.
func (a *Acting) Claim(v action.Verb, name string) tea.Cmd {
	rows := sources.NamedRows(a.feed.State().Rows, name, true)
	cannot := "this backend cannot do that: " + a.Keys.KeyOf(keys.Actions) + " on the row shows what it can"
	switch {
	case a.op == nil:
		a.host.Say(screen.ReadOnlyText)
	case name == "":
		a.host.Say("which one? write its name, or SOURCE/NAME; tab completes")
	case len(rows) == 0:
		hint := a.Keys.KeyOf(keys.Filter) + " looks for parts of names"
		if near := nearName(a, name); near != "" {
			hint = "did you mean " + paint.Clean(near) + "?"
		}
		a.host.Say("there is no row " + paint.Clean(name) + ": " + hint)
	case len(rows) > 1:
		first, second := paint.Clean(rows[0].FullName()), paint.Clean(rows[1].FullName())
		a.host.Say(paint.Count(len(rows), "row") + " have that name; write " + first + " or " + second)
	case a.possible(v, rows[0], cannot):
		return a.OpenBox(action.Request{Verb: v, Target: a.targetOf(rows[0])})
	}
	return nil
}

// possible reports whether a verb can be carried out on a row now. If not, it shows why: never is the
// message for a verb that the row does not offer at all.
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

// nearName returns the name of the row that the person probably meant; "": none is close enough.
func nearName(a *Acting, name string) string {
	if len(name) < 3 {
		return "" // too short to guess
	}
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
	return address.Near(name, names...)
}
