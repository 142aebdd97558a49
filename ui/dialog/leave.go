package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// quitAgain is within what time a second wish to quit is not asked about.
const quitAgain = time.Second

// Quit ends the board. While we hold something or wait for it, it asks first what is to
// become of that; asked again at once it ends, and everything is resigned.
func (a *Acting) Quit() tea.Cmd {
	again := a.feed.Now().Sub(a.leaving) <= quitAgain
	a.leaving = a.feed.Now()
	_, asking := a.dialog.(*quitting)
	if len(a.Status.Holdings) == 0 || asking && again {
		return tea.Quit
	}
	a.show(&quitting{})
	return nil
}

// quitting asks what is to become of what we hold.
type quitting struct{}

func (d *quitting) keyContext() keys.Context { return keys.InLeave }

func (d *quitting) do(a *Acting, i keys.Intent) tea.Cmd {
	switch i {
	case keys.ResignAll:
		return tea.Quit
	case keys.RunOut:
		if lasting(a.Scene) == 0 {
			return nil
		}
		a.op.LetRunOut()
		return tea.Quit
	case keys.Cancel, keys.No:
		a.Kept = nil
		a.close()
	}
	return nil
}

func (d *quitting) edit(*Acting, tea.Msg) tea.Cmd { return nil }

// update goes away with the last thing held: there is nothing left to ask.
func (d *quitting) update(a *Acting) {
	if len(a.Status.Holdings) == 0 {
		a.Kept = nil
		a.close()
		a.host.Say("nothing is held any more: " + a.Keys.KeyIn(keys.InLocks, keys.Quit) + " quits")
	}
}

// lasting counts our leases that a service would let run out.
func lasting(sc *screen.Scene) int {
	n := 0
	for i := range sc.Status.Holdings {
		if h := &sc.Status.Holdings[i]; h.RunsOut && !h.Waiting {
			n++
		}
	}
	return n
}

func (d *quitting) picture(a *Acting, w, h int) screen.Picture {
	w = min(w, 70)
	p := screen.Picture{Danger: true}
	add := func(l *paint.Line) { p.Lines = append(p.Lines, l.Done()) }
	holding, waiting, _ := screen.Held(a.Scene)
	title := "We hold " + paint.Count(holding, "lease")
	if holding == 0 {
		title = "We wait in " + paint.Count(waiting, "queue")
	} else if waiting > 0 {
		title += " and wait in " + paint.Count(waiting, "queue")
	}
	add(a.Theme.Line(w).Put(a.Theme.Strong, title))
	all := a.Status.Holdings
	room := max(h-7, 1)
	for i := range all[:min(len(all), room)] {
		drawHolding(a.Scene, a.Theme.Line(w).Skip(2), &all[i], add)
	}
	if more := len(all) - room; more > 0 {
		add(a.Theme.Line(w).Skip(2).Put(a.Theme.Dim, format.Count(more)+" more"))
	}
	add(a.Theme.Line(w))
	key := func(k, text, more string) {
		add(a.Theme.Line(w).Skip(2).Cell(a.Theme.Strong, k, 5).Put("", text).Put(a.Theme.Dim, more))
	}
	key("r", "resign and quit", ": others get it at once")
	if n := lasting(a.Scene); n == len(all) {
		key("l", "quit and let it run out", ": nobody gets it before its end")
	} else if n > 0 {
		key("l", "quit and let "+format.Count(n)+" run out", ": the rest ends with our connection")
	}
	add(a.Theme.Line(w).Skip(1).Put(a.Theme.Selected, a.Theme.Cursor+"esc  stay "))
	return p
}

// drawHolding is one thing that we hold or wait for.
func drawHolding(sc *screen.Scene, l *paint.Line, h *action.Holding, add func(*paint.Line)) {
	l.Put("", sc.Theme.FitName(paint.Clean(h.Ref.Name), 30)).Skip(2).Put(sc.Theme.Dim, paint.Clean(h.Ref.Source)).Skip(2)
	switch {
	case h.Waiting:
		l.Put(sc.Theme.Dim, "waiting for "+format.Age(max(sc.Clock.Sub(h.Since), 0)))
		if !h.GivesUp.IsZero() {
			l.Put(sc.Theme.Dim, ", gives up in "+format.Left(max(h.GivesUp.Sub(sc.Clock), 0)))
		}
	case !h.Until.IsZero():
		l.Put("", format.Left(max(h.Until.Sub(sc.Clock), 0))+" left")
	default:
		l.Put(sc.Theme.Dim, "as long as we are connected")
	}
	add(l)
}
