package dialog

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// menu lists the actions for one row. It stays open when the owner of the row changes: the decision
// is made in a box.
type menu struct {
	target action.Target // the row as it is now, or was last
	items  []item
	at     int // the item under the cursor
}

const (
	// notListed is the text for a row that went away under a dialog.
	notListed = "it is not listed any more"
	// writingOff is the reason for actions that only need writing to be armed.
	writingOff = "writing is off"
)

// item is a line of the menu.
type item struct {
	key    string
	intent keys.Intent
	verb   action.Verb
	run    uint64 // the action that it calls off; 0: the item is a verb
	text   string
	not    string // why it is not possible; "": it is
}

func (a *Acting) openMenu() {
	row := a.atHand()
	if row == nil {
		return
	}
	d := &menu{target: a.targetOf(row)}
	d.items = a.items(row)
	a.show(d)
}

// atHand returns the row for actions: the row under the cursor, or the row of the event under the
// cursor as it is now. Without a row it shows a message and returns nil.
func (a *Acting) atHand() *sources.Row {
	if a.Shown != screen.Events {
		row, _ := a.Selected()
		if row == nil {
			a.host.Say("no row is selected")
		}
		return row
	}
	seq, ok := a.EventList.Selected()
	e := a.Events.Find(seq)
	switch {
	case !ok || e == nil:
		a.host.Say("there is no event yet, and so no row: " + a.Keys.KeyOf(keys.Locks) + " lists the rows")
		return nil
	case e.Ref.Name == "":
		a.host.Say("this event is about a source: actions are done to a row, " + a.Keys.KeyOf(keys.Locks) + " lists them")
		return nil
	}
	row := a.live(e.Ref)
	if row == nil {
		a.host.Say(paint.Clean(e.Ref.Name) + " does not exist any more")
		return nil
	}
	a.EventList.Move(0) // the cursor stays on this event from now on
	return row
}

// targetOf pins a row to our own ownership if there is one, else to its first owner.
func (a *Acting) targetOf(row *sources.Row) action.Target {
	var o *sources.Owner
	for i := range row.Owners {
		if o == nil || screen.IsOurs(a.Scene, row.Ref, &row.Owners[i]) {
			o = &row.Owners[i]
		}
	}
	return action.TargetOf(row, o)
}

// items returns the lines of the menu of a row, possible actions first.
func (a *Acting) items(row *sources.Row) []item {
	if a.op == nil {
		return []item{{key: "a", intent: keys.Acquire, verb: action.Acquire, text: "acquire, campaign, proclaim, resign", not: screen.ReadOnlyText}}
	}
	var items []item
	waiting := false
	if r := screen.RunUnder(a.Scene, row.Ref); r != nil {
		waiting = r.Phase == action.Waiting
		text := "call it off: " + screen.RunText(a.Scene, r)
		if waiting {
			text = "leave the queue: " + screen.RunText(a.Scene, r)
		}
		items = append(items, item{key: a.Keys.KeyIn(keys.InMenu, keys.CallOff), intent: keys.CallOff, run: r.ID, text: text})
	}
	choices := a.op.Choices(row)
	acquires := slices.Contains(choices, action.Choice{Verb: action.Acquire})
	campaigns := slices.Contains(choices, action.Choice{Verb: action.Campaign})
	for _, c := range choices {
		i := item{intent: verbIntent(c.Verb), verb: c.Verb, text: action.Of(c.Verb).Text, not: paint.Clean(c.Not)}
		if i.not == "" && !a.CanWrite() && !action.Of(c.Verb).GivesUp {
			i.not = writingOff
		}
		switch {
		case i.intent == "", i.intent == keys.Resign && i.not == "" && waiting: // the first item leaves the queue
			continue
		case i.intent == keys.CreateNode && i.not != "" && i.not != writingOff: // nearly every node exists
			continue
		case i.intent == keys.Campaign && !acquires && c.Not == "":
			i.intent = keys.Acquire
		}
		if i.intent != keys.Acquire || !campaigns || c.Not == "" { // else its key campaigns
			i.key = a.Keys.KeyIn(keys.InMenu, i.intent)
		}
		items = append(items, i)
	}
	slices.SortStableFunc(items, func(a, b item) int { return screen.BoolInt(a.not != "") - screen.BoolInt(b.not != "") })
	return items
}

// verbIntent returns the intent of a verb in the menu, which has the verb's name; "": the verb is in
// no menu.
func verbIntent(v action.Verb) keys.Intent {
	if action.Of(v).Text == "" { // as crash, which has a key of its own, and no box
		return ""
	}
	return keys.Intent(v.String())
}

func (d *menu) keyContext() keys.Context { return keys.InMenu }

func (d *menu) do(a *Acting, i keys.Intent) tea.Cmd {
	switch i {
	case keys.Up:
		d.at = max(d.at-1, 0)
	case keys.Down:
		d.at = max(min(d.at+1, len(d.items)-1), 0)
	case keys.Cancel:
		a.close()
	case keys.Arm:
		return a.arm()
	case keys.Choose:
		if d.at < len(d.items) {
			return d.choose(a, d.items[d.at])
		}
	default:
		for _, item := range d.items {
			if item.intent == i {
				return d.choose(a, item)
			}
		}
	}
	return nil
}

func (d *menu) choose(a *Acting, i item) tea.Cmd {
	switch {
	case i.not == writingOff:
		a.host.Say(writingOff + ": " + a.Keys.KeyOf(keys.Arm) + " makes it possible")
	case i.not != "":
		a.host.Say("not possible: " + i.not)
	case i.run != 0:
		a.op.CallOff(i.run)
		a.close()
		a.Receive()
	default:
		d.update(a)
		if row := a.live(d.target.Ref); row != nil {
			return a.decide(i.verb, row)
		}
		return a.OpenBox(action.Request{Verb: i.verb, Target: d.target})
	}
	return nil
}

// update keeps the row and the reasons up to date. What we own can be given up even if its row is not
// listed.
func (d *menu) update(a *Acting) {
	row := a.live(d.target.Ref)
	if row == nil {
		for i := range d.items {
			if it := &d.items[i]; it.run == 0 && !action.Of(it.verb).GivesUp {
				it.not = notListed
			}
		}
		return
	}
	d.target, d.items = a.targetOf(row), a.items(row)
	d.at = max(min(d.at, len(d.items)-1), 0)
}

func (d *menu) picture(a *Acting, w, h int) screen.Picture {
	var p screen.Picture
	row := a.live(d.target.Ref)
	l := a.Theme.Line(w).Put(a.Theme.Strong, a.Theme.FitName(paint.Clean(d.target.Ref.Name), w/2)).Parts(aliasOf(a, row)...).Put(a.Theme.Dim, " in ")
	p.Add(l.Parts(a.place(d.target.Ref.Source)...))
	p.Add(a.Theme.Line(w).Put(a.Theme.Dim, "owner ").Parts(ownerOf(a, &d.target, row)...))
	p.Add(a.Theme.Line(w))
	for i, it := range d.items {
		if i > 0 && it.not != "" && d.items[i-1].not == "" { // colour alone would not separate impossible actions
			p.Add(a.Theme.Line(w).Rule())
		}
		l := a.Theme.Line(w).Cursor(i == d.at)
		if it.not == "" {
			p.Add(l.Cell(a.Theme.Strong, it.key, 3).Put("", it.text))
			continue
		}
		name := a.Theme.Cut(it.text, 18)
		if it.run == 0 && a.op != nil {
			name = it.text[:max(strings.IndexAny(it.text, ":,"), 0)]
		}
		not := it.not
		if i > 0 && d.items[i-1].not == not && not != writingOff {
			not = "as above"
		}
		p.Add(l.Cell(a.Theme.Dim, it.key, 3).Put(a.Theme.Dim, name).Put(a.Theme.Dim, ": "+not))
	}
	if len(d.items) == 0 {
		p.Add(a.Theme.Line(w).Put(a.Theme.Dim, "this backend offers no action for this row"))
	}
	p.Add(a.Theme.Line(w))
	l = a.Theme.Line(w)
	if a.op != nil && !a.CanWrite() {
		l.Put(a.Theme.Dim, writingOff+": ").Put(a.Theme.Strong, a.Keys.KeyOf(keys.Arm)).Put(a.Theme.Dim, " makes it possible   ")
	}
	p.Add(l.Put(a.Theme.Strong, a.Keys.KeyIn(keys.InMenu, keys.Cancel)).Put(a.Theme.Dim, " cancels"))
	lately := screen.RunLines(a.Scene, w, 0, "OUR LAST ACTIONS", nil)
	if len(lately) > 0 && len(p.Lines)+len(lately) < h {
		p.Add(a.Theme.Line(w))
		p.Lines = append(p.Lines, lately...)
	}
	p.Lines = p.Lines[:min(len(p.Lines), max(h, 0))]
	return p
}

// crash ends the process of the owner under the cursor, in the demo.
func (a *Acting) crash() tea.Cmd {
	row, _ := a.Selected()
	switch {
	case row == nil:
	case a.op == nil:
		a.host.Say(screen.ReadOnlyText)
	case a.possible(action.Crash, row, "processes are crashed in coordtop demo only"):
		r := action.Request{Verb: action.Crash, Target: a.targetOf(row)}
		return a.Await(func(context.Context) error { _, err := a.op.Start(r); return err }, func(err error) {
			if err != nil {
				a.host.Say(paint.Clean(err.Error()))
			}
			a.Receive()
		})
	}
	return nil
}
