package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/address"
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
	rows := namedRows(a, name)
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
		a.host.Say(paint.Count(len(rows), "row") + " have that name; write " + longName(rows[0]) + " or " + longName(rows[1]))
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

// namedRows finds the rows that go by a name, after their source or their source and space
// if there are several; an alias counts where nothing has it for a name.
func namedRows(a *Acting, name string) []*sources.Row {
	var named, called []*sources.Row
	for _, r := range a.feed.State().Rows {
		switch {
		case r == nil:
		case name == r.Name, name == r.Source+"/"+r.Name, name == longName(r):
			named = append(named, r)
		case r.Alias == "":
		case name == r.Alias, name == r.Source+"/"+r.Alias:
			called = append(called, r)
		}
	}
	if len(named) > 0 {
		return named
	}
	return called
}

// nearName is the name of a row that a person probably meant; "": none is near.
func nearName(a *Acting, name string) string {
	var names []string
	for _, r := range a.feed.State().Rows {
		if r == nil {
			continue
		}
		names = append(names, r.Name, r.Source+"/"+r.Name)
		if r.Alias != "" {
			names = append(names, r.Alias)
		}
	}
	if len(name) < 3 {
		return "" // of so little anything may have been meant
	}
	return address.Near(name, names...)
}

// longName is a name that only one row has.
func longName(r *sources.Row) string {
	if r.Space == "" {
		return paint.Clean(r.Source + "/" + r.Name)
	}
	return paint.Clean(r.Source + "/" + strings.TrimPrefix(r.Space, "/") + "/" + r.Name)
}
