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

// quitAgain is the time within which a second Quit ends the board without a question.
const quitAgain = time.Second

// Quit ends the board. While we hold something or wait for it, it first asks what to do with that.
// Called again within quitAgain it ends the board, and everything is resigned.
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

// quitting is the question what to do with our holdings at the end.
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

// update closes the question when nothing is held any more.
func (d *quitting) update(a *Acting) {
	if len(a.Status.Holdings) == 0 {
		a.Kept = nil
		a.close()
		a.host.Say("nothing is held any more: " + a.Keys.KeyIn(keys.InLocks, keys.Quit) + " quits")
	}
}

// lasting counts our leases that would run out at the service if we did not resign them.
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
	addHoldings(a.Scene, &p, w, max(h-7, 1), all)
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

// addHoldings adds a list of our holdings, in at most room lines and one that counts the rest.
func addHoldings(sc *screen.Scene, p *screen.Picture, w, room int, list []action.Holding) {
	for i := range list[:min(len(list), room)] {
		p.Add(holdingLine(sc, w, &list[i]))
	}
	addMore(&sc.Theme, p, w, len(list)-room)
}

// addMore adds a line that counts what has no room; none if more is not positive.
func addMore(th *paint.Theme, p *screen.Picture, w, more int) {
	if more > 0 {
		p.Add(th.Line(w).Skip(2).Put(th.Dim, format.Count(more)+" more"))
	}
}

// holdingLine draws one thing that we hold or wait for.
func holdingLine(sc *screen.Scene, w int, h *action.Holding) *paint.Line {
	l := sc.Theme.Line(w).Skip(2)
	l.Put("", sc.Theme.FitName(paint.Clean(h.Ref.Name), 30)).Skip(2).Put(sc.Theme.Dim, paint.Clean(h.Ref.Source)).Skip(2)
	switch {
	case h.Waiting:
		givesUp := ", gives up in " + format.Left(max(h.GivesUp.Sub(sc.Clock), 0))
		l.Put(sc.Theme.Dim, "waiting for "+format.Age(max(sc.Clock.Sub(h.Since), 0)))
		l.Put(sc.Theme.Dim, paint.When(!h.GivesUp.IsZero(), givesUp))
	case !h.Until.IsZero():
		l.Put("", format.Left(max(h.Until.Sub(sc.Clock), 0))+" left")
	default:
		l.Put(sc.Theme.Dim, "as long as we are connected")
	}
	return l
}
