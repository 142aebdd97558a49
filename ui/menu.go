package ui

import (
	"slices"

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

func (m *model) openMenu() {
	row := m.atHand()
	if row == nil {
		return
	}
	d := &menu{target: m.targetOf(row)}
	d.items = m.items(row)
	m.ask(d)
}

// atHand is the row that an action would be done to: that under the cursor, or of the event
// under the cursor, as it is now. It says so where there is none; nil then.
func (m *model) atHand() *sources.Row {
	if m.Shown != screen.Events {
		row, _ := m.Selected()
		return row
	}
	seq, ok := m.EventList.Selected()
	e := m.Events.Find(seq)
	switch {
	case !ok || e == nil:
		m.say("there is no event yet, and so no row: " + m.Keys.KeyOf(keys.Locks) + " lists the rows")
		return nil
	case e.Ref.Name == "":
		m.say("this event is about a source: actions are done to a row, " + m.Keys.KeyOf(keys.Locks) + " lists them")
		return nil
	}
	row := m.live(e.Ref)
	if row == nil {
		m.say(paint.Clean(e.Ref.Name) + " does not exist any more")
		return nil
	}
	m.EventList.Move(0) // the event is chosen now: the cursor stays on it
	return row
}

// targetOf pins a row: to our own part in it if there is one, else to its first owner.
func (m *model) targetOf(row *sources.Row) action.Target {
	var o *sources.Owner
	for i := range row.Owners {
		if o == nil || screen.IsOurs(&m.Scene, row.Ref, &row.Owners[i]) {
			o = &row.Owners[i]
		}
	}
	return action.TargetOf(row, o)
}

// items are the lines of the menu of a row, what is possible first.
func (m *model) items(row *sources.Row) []item {
	if m.hands.op == nil {
		return []item{{key: "a", intent: keys.Acquire, verb: action.Acquire, text: "acquire, campaign, proclaim, resign", not: screen.ReadOnlyText}}
	}
	var items []item
	waiting := false
	if r := screen.RunUnder(&m.Scene, row.Ref); r != nil {
		waiting = r.Phase == action.Waiting
		text := "call it off: " + screen.RunText(r)
		if waiting {
			text = "leave the queue: " + screen.RunText(r)
		}
		items = append(items, item{key: m.Keys.KeyIn(keys.InMenu, keys.CallOff), intent: keys.CallOff, run: r.ID, text: text})
	}
	choices := m.hands.op.Choices(row)
	acquires := slices.ContainsFunc(choices, func(c action.Choice) bool { return c.Verb == action.Acquire && c.Not == "" })
	campaigns := slices.ContainsFunc(choices, func(c action.Choice) bool { return c.Verb == action.Campaign && c.Not == "" })
	for _, c := range choices {
		i := item{verb: c.Verb, text: action.Of(c.Verb).Text, not: paint.Clean(c.Not)}
		if i.not == "" && !m.canWrite() && !action.Of(c.Verb).GivesUp {
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
			i.key = m.Keys.KeyIn(keys.InMenu, i.intent)
		}
		items = append(items, i)
	}
	slices.SortStableFunc(items, func(a, b item) int { return rankOf(a) - rankOf(b) })
	return items
}

// verbIntent is what a person wants who chooses a verb from the menu; "": it stands in none.
func verbIntent(v action.Verb) keys.Intent {
	switch v {
	case action.Acquire:
		return keys.Acquire
	case action.Try:
		return keys.Try
	case action.Campaign:
		return keys.Campaign
	case action.Proclaim:
		return keys.Proclaim
	case action.Resign:
		return keys.Resign
	case action.Create:
		return keys.Create
	case action.Update:
		return keys.Update
	case action.Delete:
		return keys.Delete
	case action.CreateNode:
		return keys.CreateNode
	}
	return "" // Crash has its own key, and no box
}

func rankOf(i item) int {
	if i.not != "" {
		return 1
	}
	return 0
}

func (d *menu) scope() keys.Scope { return keys.InMenu }

func (d *menu) do(m *model, i keys.Intent) tea.Cmd {
	switch i {
	case keys.Up:
		d.at = max(d.at-1, 0)
	case keys.Down:
		d.at = max(min(d.at+1, len(d.items)-1), 0)
	case keys.Cancel:
		m.shut()
	case keys.Arm:
		return m.arm()
	case keys.Choose:
		if d.at < len(d.items) {
			return d.choose(m, d.items[d.at])
		}
	default:
		for _, item := range d.items {
			if item.intent == i {
				return d.choose(m, item)
			}
		}
	}
	return nil
}

func (d *menu) choose(m *model, i item) tea.Cmd {
	switch {
	case i.not == writingOff:
		m.say(writingOff + ": " + m.Keys.KeyOf(keys.Arm) + " makes it possible")
		return nil
	case i.not != "":
		m.say("not possible: " + i.not)
		return nil
	case i.run != 0:
		m.hands.op.CallOff(i.run)
		m.shut()
		m.heed()
		return nil
	}
	d.heed(m)
	return m.openBox(action.Request{Verb: i.verb, Target: d.target})
}

func (d *menu) edit(*model, tea.Msg) tea.Cmd { return nil }

// heed keeps the row and the reasons up to date: both can change meanwhile. What is ours can
// be given up also where nothing is seen of it.
func (d *menu) heed(m *model) {
	row := m.live(d.target.Ref)
	if row == nil {
		for i := range d.items {
			if it := &d.items[i]; it.run == 0 && !action.Of(it.verb).GivesUp {
				it.not = notListed
			}
		}
		return
	}
	d.target, d.items = m.targetOf(row), m.items(row)
	d.at = max(min(d.at, len(d.items)-1), 0)
}

// owner is who the actions are about. Of many permits that is nobody alone.
func (d *menu) owner(m *model, row *sources.Row, w int) *paint.Line {
	l := m.Theme.Line(w)
	switch {
	case manyPermits(row):
		return l.Put("", screen.PermitsText(row)).Put(m.Theme.Dim, " permits are taken")
	case d.target.Owner == "":
		return l.Put(m.Theme.Dim, "owner ").Put("", "nobody owns it")
	}
	l.Put(m.Theme.Dim, "owner ").Put("", paint.CleanLabel(d.target.Label))
	if d.target.Fence != 0 {
		l.Put("", ", fence "+screen.Fence(d.target.Fence))
	}
	return l
}

// manyPermits says whether several can own a row without sharing anything.
func manyPermits(row *sources.Row) bool { return row != nil && row.Limited() && row.Limit > 1 }

func (d *menu) picture(m *model, w, h int) screen.Picture {
	var p screen.Picture
	add := func(l *paint.Line) { p.Lines = append(p.Lines, l.Done()) }
	l := m.Theme.Line(w).Put(m.Theme.Strong, m.Theme.FitName(paint.Clean(d.target.Ref.Name), w/2)).Put(m.Theme.Dim, " in ")
	add(l.Put(m.Theme.Warn, paint.Clean(d.target.Ref.Source)).Put(m.Theme.Dim, ", ").Put(m.Theme.Title, m.Title))
	row := m.live(d.target.Ref)
	add(d.owner(m, row, w))
	if row == nil {
		add(m.Theme.Line(w).Put(m.Theme.Bad, notListed))
	}
	add(m.Theme.Line(w))
	for i, it := range d.items {
		if i > 0 && rankOf(it) > rankOf(d.items[i-1]) { // what cannot be done is told apart by more than its colour
			add(m.Theme.Line(w).Rule())
		}
		l, st, key := m.Theme.Line(w), paint.Style(""), m.Theme.Strong
		if it.not != "" {
			st, key = m.Theme.Dim, m.Theme.Dim
		}
		mark := " "
		if i == d.at {
			l.Over, mark = m.Theme.Selected, m.Theme.Cursor
		}
		l.Put("", mark).Cell(key, it.key, 3)
		if it.not == "" {
			add(l.Put(st, it.text))
			continue
		}
		name := m.Theme.Cut(it.text, 18)
		if it.run == 0 && m.hands.op != nil {
			name = it.verb.String()
		}
		add(l.Put(st, name).Put(st, ": "+it.not))
	}
	if len(d.items) == 0 {
		add(m.Theme.Line(w).Put(m.Theme.Dim, "this backend offers no action for this row"))
	}
	add(m.Theme.Line(w))
	l = m.Theme.Line(w)
	if m.hands.op != nil && !m.canWrite() {
		l.Put(m.Theme.Dim, writingOff+": ").Put(m.Theme.Strong, m.Keys.KeyOf(keys.Arm)).Put(m.Theme.Dim, " makes it possible   ")
	}
	add(l.Put(m.Theme.Strong, m.Keys.KeyIn(keys.InMenu, keys.Cancel)).Put(m.Theme.Dim, " cancels"))
	lately := screen.RunLines(&m.Scene, w, 0, screen.RunsShown, "OUR LAST ACTIONS", func(*action.Run) bool { return true })
	if len(lately) > 0 && len(p.Lines)+len(lately) < h {
		add(m.Theme.Line(w))
		p.Lines = append(p.Lines, lately...)
	}
	p.Lines = p.Lines[:min(len(p.Lines), max(h, 0))]
	return p
}

// crash ends the process of the owner under the cursor, in the demo.
func (m *model) crash() tea.Cmd {
	row, _ := m.Selected()
	switch {
	case row == nil:
		return nil
	case m.hands.op == nil:
		m.say(screen.ReadOnlyText)
		return nil
	}
	for _, c := range m.hands.op.Choices(row) {
		if c.Verb != action.Crash {
			continue
		}
		if c.Not != "" {
			m.say("not possible: " + paint.Clean(c.Not))
			return nil
		}
		r := action.Request{Verb: action.Crash, Target: m.targetOf(row)}
		return m.await(func() error { _, err := m.hands.op.Start(r); return err }, func(err error) {
			if err != nil {
				m.say(paint.Clean(err.Error()))
			}
			m.heed()
		})
	}
	m.say("processes are ended in coordtop demo only")
	return nil
}
