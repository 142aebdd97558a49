package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// quitAgain is within what time a second wish to quit is not asked about.
const quitAgain = time.Second

// quit ends the board. While we hold something or wait for it, it asks first what is to
// become of that; asked again at once it ends, and everything is resigned.
func (m *model) quit() tea.Cmd {
	again := m.feed.Now().Sub(m.hands.leaving) <= quitAgain
	m.hands.leaving = m.feed.Now()
	_, asking := m.hands.dialog.(*farewell)
	if len(m.status.Holdings) == 0 || asking && again {
		return tea.Quit
	}
	m.ask(&farewell{})
	return nil
}

// farewell asks what is to become of what we hold.
type farewell struct{}

func (d *farewell) scope() keys.Scope { return keys.InLeave }

func (d *farewell) do(m *model, i keys.Intent) tea.Cmd {
	switch i {
	case keys.ResignAll:
		return tea.Quit
	case keys.RunOut:
		if lasting(&m.scene) == 0 {
			return nil
		}
		m.hands.op.LetRunOut()
		return tea.Quit
	case keys.Cancel, keys.No:
		m.kept = nil
		m.shut()
	}
	return nil
}

func (d *farewell) edit(*model, tea.Msg) tea.Cmd { return nil }

// heed goes away with the last thing held: there is nothing left to ask.
func (d *farewell) heed(m *model) {
	if len(m.status.Holdings) == 0 {
		m.kept = nil
		m.shut()
		m.say("nothing is held any more: " + m.table.KeyIn(keys.InList, keys.Quit) + " quits")
	}
}

// lasting counts our leases that a service would let run out.
func lasting(sc *scene) int {
	n := 0
	for i := range sc.status.Holdings {
		if h := &sc.status.Holdings[i]; h.RunsOut && !h.Waiting {
			n++
		}
	}
	return n
}

func (d *farewell) picture(m *model, w, h int) picture {
	w = min(w, 70)
	p := picture{danger: true}
	add := func(l *paint.Line) { p.lines = append(p.lines, l.Done()) }
	holding, waiting, _ := heldNow(&m.scene)
	title := "We hold " + paint.Count(holding, "lease")
	if holding == 0 {
		title = "We wait in " + paint.Count(waiting, "queue")
	} else if waiting > 0 {
		title += " and wait in " + paint.Count(waiting, "queue")
	}
	add(m.th.Line(w).Put(m.th.Strong, title))
	all := m.status.Holdings
	room := max(h-7, 1)
	for i := range all[:min(len(all), room)] {
		drawHolding(&m.scene, m.th.Line(w).Skip(2), &all[i], add)
	}
	if more := len(all) - room; more > 0 {
		add(m.th.Line(w).Skip(2).Put(m.th.Dim, format.Count(more)+" more"))
	}
	add(m.th.Line(w))
	key := func(k, text, more string) {
		add(m.th.Line(w).Skip(2).Cell(m.th.Strong, k, 5).Put("", text).Put(m.th.Dim, more))
	}
	key("r", "resign and quit", ": others get it at once")
	if n := lasting(&m.scene); n == len(all) {
		key("l", "quit and let it run out", ": nobody gets it before its end")
	} else if n > 0 {
		key("l", "quit and let "+format.Count(n)+" run out", ": the rest ends with our connection")
	}
	add(m.th.Line(w).Skip(1).Put(m.th.Selected, m.th.Cursor+"esc  stay "))
	return p
}

// drawHolding is one thing that we hold or wait for.
func drawHolding(sc *scene, l *paint.Line, h *action.Holding, add func(*paint.Line)) {
	l.Put("", sc.th.FitName(paint.Clean(h.Ref.Name), 30)).Skip(2).Put(sc.th.Dim, paint.Clean(h.Ref.Source)).Skip(2)
	switch {
	case h.Waiting:
		l.Put(sc.th.Dim, "waiting for "+format.Age(max(sc.clock.Sub(h.Since), 0)))
		if !h.GivesUp.IsZero() {
			l.Put(sc.th.Dim, ", gives up in "+format.Left(max(h.GivesUp.Sub(sc.clock), 0)))
		}
	case !h.Until.IsZero():
		l.Put("", format.Left(max(h.Until.Sub(sc.clock), 0))+" left")
	default:
		l.Put(sc.th.Dim, "as long as we are connected")
	}
	add(l)
}
