package screen

import (
	"strconv"
	"strings"
	"time"

	"coordtop/internal/fleet"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
	"coordtop/ui/cursor"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// OwnersState is the contents of the Owners screen.
type OwnersState struct {
	By      origin.By
	Counted time.Time           // when they were counted; zero: they were not yet
	List    cursor.List[string] // their keys
	parties []*fleet.Party
}

// SetParties replaces the parties. Those with a problem come first.
func (s *OwnersState) SetParties(list []*fleet.Party, at time.Time) {
	s.Counted, s.parties = at, list
	found := make([]string, len(list))
	for i, p := range list {
		found[i] = p.Key
	}
	s.List.SetKeys(found)
}

// Selected returns the party under the cursor; nil: there is none.
func (s *OwnersState) Selected() *fleet.Party {
	if len(s.parties) == 0 {
		return nil
	}
	return s.parties[s.List.Pos()]
}

// visible returns the place of the first party that is visible, and that behind the last one.
func (s *OwnersState) visible() (from, to int) {
	return s.List.Top(), s.List.Top() + len(s.List.Visible())
}

// PartyRows returns the number of parties that are listed: as many as there are, up to half of the screen.
func PartyRows(sc *Scene) int {
	room := sc.Layout.Body() - 3 // rule, heading, rule
	if room < 12 {
		return room + 1
	}
	return min(room/2, max(sc.Owners.List.Len(), 4))
}

// wideParties is the width of the screen from which on the sources of parties are shown, and what happens if they go.
const wideParties = 110

// ownersScreen draws who owns what, and below it all about the party under the cursor.
func ownersScreen(sc *Scene) Frame {
	w, h := sc.Layout.Width, sc.Layout.Body()
	lines := []string{sc.Theme.Line(w).Rule().Done()}
	s, n := &sc.Owners, PartyRows(sc)
	p := s.Selected()
	if p == nil {
		lines = append(lines, sc.Theme.Line(w).Done(), sc.Theme.Line(w).Skip(3).Put("", noParties(sc)).Done())
		return fixed(sc, sc.Theme.Box(lines, w, h))
	}
	g := paint.Grid{
		Heads: []string{"", strings.ToUpper(s.By.String()), "OWNS", "LEADS", "AWAITS", "SOURCES", "OLDEST", "SOONEST END", "CHG", "IF IT GOES, what hurts most first"},
		Right: []bool{2: true, 3: true, 4: true, 6: true, 7: true, 8: true},
	}
	if w < wideParties {
		g.Leave = []int{8, 6}
	}
	from, to := s.visible()
	for _, p := range s.parties[from:to] {
		g.Add(partyCells(sc, p, w)...)
	}
	g.Selected = s.List.Pos() - from + 1
	lines = append(lines, g.Lines(&sc.Theme, w, 1)...)
	lines = sc.Theme.Box(lines, w, n+2)
	if left := h - len(lines); left > 1 {
		lines = append(append(lines, partyRule(sc, w)), partyText(sc, p, w, left-1, 2, keys.Open)...)
	}
	return fixed(sc, sc.Theme.Box(lines, w, h))
}

// partyRule draws the rule below the list, with a note where a filter is set, which does not hold here, and the number of
// parties that have no room.
func partyRule(sc *Scene, w int) string {
	l := sc.Theme.Line(w)
	if !sc.Rows.Filter.Empty() || sc.Rows.Kind != sources.KindUnknown {
		l.Put(sc.Theme.Dim, sc.Theme.Glyphs.Rule+" of all rows, whatever the filter ")
	}
	from, to := sc.Owners.visible()
	if more := len(sc.Owners.parties) - (to - from); more > 0 {
		var count [verdict.Warn + 1]int
		for i, p := range sc.Owners.parties {
			if !p.Severity.Problem() {
				break
			}
			count[p.Severity] += BoolInt(i < from || i >= to)
		}
		l.Put(sc.Theme.Dim, sc.Theme.Glyphs.Rule).Parts(moreParts(sc, more, count)...).Skip(1)
	}
	return l.Rule().Done()
}

// noParties explains why nobody is listed.
func noParties(sc *Scene) string {
	if sc.Owners.Counted.IsZero() {
		return "counting who owns what..."
	}
	return "nobody is known to own or await anything"
}

// partyCells returns the cells of a party. What is not known to be true any more is dim.
func partyCells(sc *Scene, p *fleet.Party, w int) []paint.Part {
	th := &sc.Theme
	count := func(text string) paint.Part {
		return paint.When(text == "0" || text == "?", th.Dim).Text(text)
	}
	oldest, in, outcome := "-", "", ""
	if len(p.Owns) > 0 {
		oldest = th.Age(p.Oldest, sc.Now)
	}
	if w >= wideParties {
		in, outcome = th.Cut(paint.Clean(strings.Join(p.Sources, ", ")), 28), p.Outcome(sc.Now)
	}
	cells := []paint.Part{th.Severity(p.Severity).Text(th.Marks[p.Severity]), paint.Plain(th.FitName(p.Label(), min(w/3, 34))),
		count(format.Count(len(p.Owns))), count(format.Count(p.Leads)), count(p.AwaitsText()), th.Dim.Text(in),
		paint.Plain(oldest), holdingEnd(sc, p.Soonest()), th.Dim.Text(strconv.Itoa(p.Changes)), paint.Plain(outcome)}
	if p.Severity == verdict.Blind {
		for i := range cells[1:] {
			cells[1+i].Style = th.Dim
		}
	}
	return cells
}

// PartyAt returns the key of the party to which the owner of a row belongs, or who owned it last; "": nobody is known.
func PartyAt(by origin.By, row *sources.Row) string {
	if len(row.Owners) > 0 {
		return fleet.KeyOf(by, row.Source, origin.Labels(nil).OfOwner(&row.Owners[0]))
	}
	if last := row.LastTerm(); last != nil {
		return fleet.KeyOf(by, row.Source, origin.Labels(nil).OfName(last.Owner.Name()))
	}
	return ""
}
