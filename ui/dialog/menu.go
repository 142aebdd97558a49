package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// menu is what can be done to one row. It is pinned to the row, whoever owns it: what is
// decided is decided in a box.
type menu struct {
	target action.Target // the row as it is now, or was last
	items  []item
	at     int // the item under the cursor
}

// notListed is what is said of a row that went away under a dialog.
const notListed = "it is not listed any more"

// writingOff is the reason of what would be possible otherwise.
const writingOff = "writing is off"

// item is a line of the menu.
type item struct {
	key    string
	intent keys.Intent
	verb   action.Verb
	run    uint64 // to be called off; 0: this is a verb
	text   string
	not    string // why it cannot be done; "": it can
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

// atHand is the row that an action would be done to: that under the cursor, or of the event
// under the cursor, as it is now. It says so where there is none; nil then.
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
	a.EventList.Move(0) // the event is chosen now: the cursor stays on it
	return row
}

// targetOf pins a row: to our own part in it if there is one, else to its first owner.
func (a *Acting) targetOf(row *sources.Row) action.Target {
	var o *sources.Owner
	for i := range row.Owners {
		if o == nil || screen.IsOurs(a.Scene, row.Ref, &row.Owners[i]) {
			o = &row.Owners[i]
		}
	}
	return action.TargetOf(row, o)
}

// items are the lines of the menu of a row, what is possible first.
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
	acquires := slices.ContainsFunc(choices, func(c action.Choice) bool { return c.Verb == action.Acquire && c.Not == "" })
	campaigns := slices.ContainsFunc(choices, func(c action.Choice) bool { return c.Verb == action.Campaign && c.Not == "" })
	for _, c := range choices {
		i := item{verb: c.Verb, text: action.Of(c.Verb).Text, not: paint.Clean(c.Not)}
		if i.not == "" && !a.CanWrite() && !action.Of(c.Verb).GivesUp {
			i.not = writingOff
		}
		i.intent = verbIntent(c.Verb)
		switch {
		case i.intent == "", i.intent == keys.Resign && i.not == "" && waiting: // leaving the queue is there already
			continue
		case i.intent == keys.CreateNode && i.not != "" && i.not != writingOff: // nearly every node exists
			continue
		case i.intent == keys.Campaign && !acquires && c.Not == "":
			i.intent = keys.Acquire
		}
		if i.intent != keys.Acquire || !campaigns || c.Not == "" { // else the same key campaigns
			i.key = a.Keys.KeyIn(keys.InMenu, i.intent)
		}
		items = append(items, i)
	}
	slices.SortStableFunc(items, func(a, b item) int { return screen.BoolInt(a.not != "") - screen.BoolInt(b.not != "") })
	return items
}

// verbIntent is the intent of a verb in the menu, which has the verb's name; "": the verb is in
// no menu.
func verbIntent(v action.Verb) keys.Intent {
	if action.Of(v).Text == "" { // as crash, which has its own key, and no box
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
		return nil
	case i.not != "":
		a.host.Say("not possible: " + i.not)
		return nil
	case i.run != 0:
		a.op.CallOff(i.run)
		a.close()
		a.Receive()
		return nil
	}
	d.update(a)
	if row := a.live(d.target.Ref); row != nil {
		return a.decide(i.verb, row)
	}
	return a.OpenBox(action.Request{Verb: i.verb, Target: d.target})
}

// update keeps the row and the reasons up to date: both can change meanwhile. Our own can
// be given up also where nothing is seen of it.
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
		if i > 0 && it.not != "" && d.items[i-1].not == "" { // what cannot be done is told apart by more than its colour
			p.Add(a.Theme.Line(w).Rule())
		}
		st, key := paint.Style(""), a.Theme.Strong
		if it.not != "" {
			st, key = a.Theme.Dim, a.Theme.Dim
		}
		l := a.Theme.Line(w).Cursor(i == d.at).Cell(key, it.key, 3)
		if it.not == "" {
			p.Add(l.Put(st, it.text))
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
		p.Add(l.Put(st, name).Put(st, ": "+not))
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
		return nil
	case a.op == nil:
		a.host.Say(screen.ReadOnlyText)
		return nil
	}
	if !a.possible(action.Crash, row, "processes are crashed in coordtop demo only") {
		return nil
	}
	r := action.Request{Verb: action.Crash, Target: a.targetOf(row)}
	return a.Await(func() error { _, err := a.op.Start(r); return err }, func(err error) {
		if err != nil {
			a.host.Say(paint.Clean(err.Error()))
		}
		a.Receive()
	})
}
