package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
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
	holding, waiting, _ := screen.Held(a.Scene)
	title := "We hold " + paint.Count(holding, "lease")
	if holding == 0 {
		title = "We wait in " + paint.Count(waiting, "queue")
	} else if waiting > 0 {
		title += " and wait in " + paint.Count(waiting, "queue")
	}
	p.Add(a.Theme.Line(w).Put(a.Theme.Strong, title))
	all := a.Status.Holdings
	drawHoldings(a.Scene, &p, w, max(h-7, 1), func(action.Holding) bool { return true })
	p.Add(a.Theme.Line(w))
	key := func(k, text, more string) {
		p.Add(a.Theme.Line(w).Skip(2).Cell(a.Theme.Strong, k, 5).Put("", text).Put(a.Theme.Dim, more))
	}
	key("r", "resign and quit", ": others get it at once")
	if n := lasting(a.Scene); n == len(all) {
		key("l", "quit and let it run out", ": nobody gets it before its end")
	} else if n > 0 {
		key("l", "quit and let "+format.Count(n)+" run out", ": the rest ends with our connection")
	}
	p.Add(a.Theme.Line(w).Skip(1).Put(a.Theme.Selected, a.Theme.Cursor+"esc  stay "))
	return p
}

// drawHoldings adds those of what we hold or wait for that are wanted, in at most room lines and one
// that counts the rest.
func drawHoldings(sc *screen.Scene, p *screen.Picture, w, room int, wanted func(action.Holding) bool) {
	more := -room
	for _, h := range sc.Status.Holdings {
		if !wanted(h) {
			continue
		}
		if more++; more <= 0 {
			p.Add(holdingLine(sc, w, &h))
		}
	}
	addMore(&sc.Theme, p, w, more)
}

// addMore adds how many more there are than there is room for, if there are.
func addMore(th *paint.Theme, p *screen.Picture, w, more int) {
	if more > 0 {
		p.Add(th.Line(w).Skip(2).Put(th.Dim, format.Count(more)+" more"))
	}
}

// holdingLine is one thing that we hold or wait for.
func holdingLine(sc *screen.Scene, w int, h *action.Holding) *paint.Line {
	l := sc.Theme.Line(w).Skip(2)
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
	return l
}
