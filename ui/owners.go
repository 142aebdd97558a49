package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/fleet"
	"coordtop/sources/origin"
	"coordtop/ui/filter"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// countPace is the number of rows for which a second more passes until the parties are counted again.
const countPace = 25_000

// ownersPart counts who owns what, for the Owners screen: only while that is shown, and beside the board, so that no
// frame waits for it.
type ownersPart struct {
	part
	list    *rowList
	pulse   *pulsePart
	running bool
	of      fleet.Input // that was counted last
}

// partiesMsg brings the parties of an Input.
type partiesMsg struct {
	of      fleet.Input
	parties []*fleet.Party
}

// count is the command that counts, when it is time for that; nil: it is not.
func (o *ownersPart) count() tea.Cmd {
	s, st := &o.scene.Owners, o.scene.State
	if o.running || st == nil || o.scene.Shown != screen.Owners && o.scene.Shown != screen.Party {
		return nil
	}
	pace := time.Second + time.Duration(len(st.Rows)/countPace)*time.Second
	if !s.Counted.IsZero() && o.of.By == s.By && (o.of.State == st || o.scene.Now.Sub(s.Counted).Abs() < pace) {
		return nil
	}
	in := fleet.Input{State: st, Now: o.scene.Now, By: s.By, Findings: o.scene.Findings}
	o.running, o.of = true, in
	return func() tea.Msg { return partiesMsg{in, fleet.Parties(&in)} }
}

// have takes what was counted.
func (o *ownersPart) have(msg partiesMsg) {
	if o.running = false; msg.of.By == o.scene.Owners.By {
		o.scene.Owners.SetParties(msg.parties, msg.of.Now)
	}
}

// open shows the screen, from a row with the cursor on its owner, from Pulse with the cursor on who the problem is about.
func (o *ownersPart) open() {
	row, _ := o.scene.Selected()
	if !o.scene.Shown.Listed() && o.scene.Shown != screen.Detail {
		row = nil
	}
	if o.scene.Shown == screen.Pulse {
		if f := o.pulse.finding(); f != nil && len(f.Rows) > 0 {
			row = f.Rows[0].Row
		}
	}
	s := &o.scene.Owners
	if row != nil {
		if key := screen.PartyAt(s.By, row); key != "" {
			s.List.Select(key)
		}
	}
	o.host.switchTo(screen.Owners)
}

// group joins owners by host, by program or by session, and keeps the cursor on what it was on.
func (o *ownersPart) group() {
	s := &o.scene.Owners
	p := s.Selected()
	s.By = (s.By + 1) % (origin.BySession + 1)
	if p != nil {
		switch {
		case len(p.Owns) > 0:
			s.List.Select(fleet.KeyOf(s.By, p.Owns[0].Row.Source, origin.Labels(nil).OfOwner(p.Owns[0].Owner)))
		case len(p.Awaits) > 0:
			s.List.Select(fleet.KeyOf(s.By, p.Awaits[0].Row.Source, origin.Labels(nil).OfWaiter(p.Awaits[0].Waiter)))
		case len(p.Lost) > 0:
			s.List.Select(screen.PartyAt(s.By, p.Lost[0]))
		}
	}
	o.host.Say("by " + s.By.String())
}

// rows shows the list with only the rows of the party under the cursor.
func (o *ownersPart) rows() {
	p := o.scene.Owners.Selected()
	if p == nil {
		return
	}
	o.host.switchTo(screen.Locks)
	o.list.onlyOf(p.By.String() + "=" + filter.Quote(paint.Clean(p.Name)))
}
