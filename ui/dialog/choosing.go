package dialog

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// choosing is the list of a row's owners or waiters from which a person chooses the one that a verb
// ends. The cursor stays on its owner; when that is gone, nothing is chosen.
type choosing struct {
	verb   action.Verb
	target action.Target // the row, and the owner under the cursor; "": none
	ends   []ending
}

// ending is an owner or waiter whose ownership or wait a verb can end.
type ending struct {
	target action.Target
	facts  []paint.Part
	not    string // why it cannot be ended; "": it can
}

// decide opens the box of a verb for a row as it is now, or a choosing if the verb ends one of
// several owners or waiters.
func (a *Acting) decide(v action.Verb, row *sources.Row) tea.Cmd {
	ends := a.endsOf(v, row)
	switch len(ends) {
	case 0:
		return a.OpenBox(action.Request{Verb: v, Target: a.targetOf(row)})
	case 1:
		return a.OpenBox(action.Request{Verb: v, Target: ends[0].target})
	}
	a.show(&choosing{verb: v, target: action.TargetOf(row, nil), ends: ends})
	return nil
}

// endsOf lists the owners or waiters of a row that a verb can end; nil: it ends none.
func (a *Acting) endsOf(v action.Verb, row *sources.Row) []ending {
	var ends []ending
	add := func(t action.Target, facts []paint.Part) {
		ends = append(ends, ending{t, facts, paint.Clean(a.op.NotEnded(row, t))})
	}
	switch v {
	case action.Release:
		for i := range row.Owners {
			o := &row.Owners[i]
			facts := ownerFacts(a.Scene, row.Ref, o)
			if slices.ContainsFunc(row.Owners, func(w sources.Owner) bool { return w.Label == o.Label && w.ID != o.ID }) {
				facts = append(facts, a.Theme.Dim.Text("  "+cmp.Or(screen.DataHead(o.Data), paint.Clean(o.Session))))
			}
			add(action.TargetOf(row, o), facts)
		}
	case action.CancelWait:
		for i := range row.Queue.Waiters {
			w := &row.Queue.Waiters[i]
			add(action.TargetOfWaiter(row, w), append([]paint.Part{paint.Plain(paint.CleanLabel(w.Label))}, a.Theme.ForAge(w.Since, a.Now)...))
		}
	}
	return ends
}

func (d *choosing) keyContext() keys.Context { return keys.InMenu }

// at returns the index of the ending under the cursor; -1: none.
func (d *choosing) at() int {
	return slices.IndexFunc(d.ends, func(e ending) bool { return e.target.Owner != "" && e.target.Owner == d.target.Owner })
}

func (d *choosing) do(a *Acting, i keys.Intent) tea.Cmd {
	at := d.at()
	switch i {
	case keys.Up:
		d.target.Owner = d.ends[max(at-1, 0)].target.Owner
	case keys.Down:
		d.target.Owner = d.ends[min(at+1, len(d.ends)-1)].target.Owner
	case keys.Cancel:
		a.close()
	case keys.Arm:
		return a.arm()
	case keys.Choose:
		switch {
		case at < 0:
			a.host.Say("nothing is chosen: " + a.Keys.KeyIn(keys.InMenu, keys.Down) + " goes to the first")
		case d.ends[at].not != "":
			a.host.Say("not possible: " + d.ends[at].not)
		default:
			return a.OpenBox(action.Request{Verb: d.verb, Target: d.ends[at].target})
		}
	}
	return nil
}

// update lists the present owners or waiters. It closes the list if none is left.
func (d *choosing) update(a *Acting) {
	row := a.live(d.target.Ref)
	if row != nil {
		d.ends = a.endsOf(d.verb, row)
	}
	if row == nil || len(d.ends) == 0 {
		a.close()
		a.host.Say("nobody is left to choose for " + paint.Clean(d.target.Ref.Name))
	}
}

func (d *choosing) picture(a *Acting, w, h int) screen.Picture {
	th := &a.Theme
	p := screen.Picture{Danger: true}
	l := th.Line(w).Put(th.Strong, boxTitle(d.verb)+" "+th.FitName(paint.Clean(d.target.Ref.Name), w/2)).Put(th.Dim, " in ")
	p.Add(l.Put(th.Warn, paint.Clean(d.target.Ref.Source)).Put(th.Dim, ": which one?"))
	p.Add(th.Line(w))
	addChoices(a, &p, w, h, len(d.ends), d.at(), "opens the box", func(l *paint.Line, i int) {
		e := d.ends[i]
		if e.not != "" {
			l.Put(th.Dim, paint.CleanLabel(e.target.Label)+": "+e.not)
			return
		}
		l.Parts(e.facts...)
	})
	return p
}

// addChoices adds to a head of two lines as many of n lines as fit into h, around the one under the cursor, and the keys
// below them: choose is the hint for the key that chooses.
func addChoices(a *Acting, p *screen.Picture, w, h, n, at int, choose string, draw func(l *paint.Line, i int)) {
	th, room := &a.Theme, max(h-5, 1)
	top := max(min(at-room/2, n-room), 0)
	for i := top; i < min(top+room, n); i++ {
		l := th.Line(w).Cursor(i == at).Skip(1)
		draw(l, i)
		p.Add(l)
	}
	addMore(th, p, w, n-room)
	p.Add(th.Line(w))
	l := th.Line(w).Put(th.Strong, a.Keys.KeyIn(keys.InMenu, keys.Choose)).Put(th.Dim, " "+choose+"   ")
	p.Add(l.Put(th.Strong, a.Keys.KeyIn(keys.InMenu, keys.Cancel)).Put(th.Dim, " cancels"))
	p.Lines = p.Lines[:min(len(p.Lines), max(h, 0))]
}
