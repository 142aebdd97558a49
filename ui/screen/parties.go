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
	"coordtop/ui/paint"
)

// OwnersState is the contents of the Owners screen.
type OwnersState struct {
	By      origin.By
	Parties []*fleet.Party
	byKey   map[string]*fleet.Party
	Counted time.Time           // when they were counted; zero: they were not yet
	List    cursor.List[string] // their keys
}

// SetParties replaces the parties.
func (s *OwnersState) SetParties(list []*fleet.Party, at time.Time) {
	s.Parties, s.Counted, s.byKey = list, at, make(map[string]*fleet.Party, len(list))
	found := make([]string, len(list))
	for i, p := range list {
		found[i], s.byKey[p.Key] = p.Key, p
	}
	s.List.SetKeys(found)
}

// Selected returns the party under the cursor; nil: there is none.
func (s *OwnersState) Selected() *fleet.Party {
	key, _ := s.List.Selected()
	return s.byKey[key]
}

// PartyRows returns the number of parties that are listed: as many as there are, up to half of the screen.
func PartyRows(sc *Scene) int {
	room := sc.Layout.Body() - 3 // rule, heading, rule
	if room < 12 {
		return room + 1
	}
	return min(room/2, max(len(sc.Owners.Parties), 4))
}

// partyColumns are the widths of the columns of the Owners screen that depend on its size.
type partyColumns struct{ name, sources int }

const (
	partyNumbers = 6 + 7 + 8 + 9 + 13 + 6 // OWNS, LEADS, AWAITS, OLDEST, SOONEST END, CHG
	partySources = 110                    // from this width on the sources are shown
	leastOutcome = 24                     // cells of the last column, below which it is left out
)

func fitParties(sc *Scene, w int) partyColumns {
	c := partyColumns{name: len("PROGRAM")}
	for _, key := range sc.Owners.List.Visible() {
		p := sc.Owners.byKey[key]
		c.name = max(c.name, format.Width(p.Label()))
		c.sources = max(c.sources, format.Width(sourceNames(p)))
	}
	c.name = min(c.name, max(w-markWidth-partyNumbers, 12), 34)
	c.sources = min(max(c.sources, len("SOURCES")), 28)
	if w < partySources {
		c.sources = 0
	}
	return c
}

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
	c := fitParties(sc, w)
	lines = append(lines, partyHeading(sc, w, c))
	for _, key := range s.List.Visible() {
		lines = append(lines, partyLine(sc, w, c, s.byKey[key], key == p.Key))
	}
	lines = sc.Theme.Box(lines, w, n+2)
	if left := h - len(lines); left > 1 {
		lines = append(append(lines, partyRule(sc, w)), partyPane(sc, p, w, left-1)...)
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
	if more := sc.Owners.List.Len() - len(sc.Owners.List.Visible()); more > 0 {
		bad := 0
		for _, p := range sc.Owners.Parties {
			bad += BoolInt(p.Severity.Problem())
		}
		for _, key := range sc.Owners.List.Visible() {
			bad -= BoolInt(sc.Owners.byKey[key].Severity.Problem())
		}
		l.Put(sc.Theme.Dim, sc.Theme.Glyphs.Rule+" "+format.Count(more)+" more"+paint.When(bad > 0, ", "+format.Count(bad)+" with a problem")+" ")
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

func partyHeading(sc *Scene, w int, c partyColumns) string {
	dim := sc.Theme.Dim
	l := sc.Theme.Line(w).Skip(markWidth).Cell(sc.Theme.Heading, strings.ToUpper(sc.Owners.By.String()), c.name)
	l.Right(dim, "OWNS", 6).Right(dim, "LEADS", 7).Right(dim, "AWAITS", 8)
	if c.sources > 0 {
		l.Skip(2).Cell(dim, "SOURCES", c.sources)
	}
	l.Right(dim, "OLDEST", 9).Right(dim, "SOONEST END", 13).Right(dim, "CHG", 6)
	if w-l.X >= leastOutcome {
		l.Skip(2).Put(dim, "IF IT GOES")
	}
	if order := "what hurts most first"; w-l.X > len(order)+leastOutcome {
		l.To(w-len(order)-1).Put(dim, order)
	}
	return l.Done()
}

// partyLine draws a party in the list.
func partyLine(sc *Scene, w int, c partyColumns, p *fleet.Party, selected bool) string {
	l := sc.Theme.Line(w)
	mark, st := sc.Theme.Marks[p.Severity], sc.Theme.Severity(p.Severity)
	if l.Cursor(selected); selected && p.Severity.Problem() {
		l.Over += st
	}
	l.Put(st, mark)
	if selected {
		l.Over = sc.Theme.Selected
	}
	plain := paint.When(p.Severity == verdict.Blind, sc.Theme.Dim)
	number := func(n, w int) {
		l.Right(paint.When(n == 0 || p.Severity == verdict.Blind, sc.Theme.Dim), format.Count(n), w)
	}
	l.Skip(1).Cell(plain, sc.Theme.FitName(p.Label(), c.name), c.name)
	number(len(p.Owns), 6)
	number(p.Leads, 7)
	if len(p.Awaits) == 0 && p.Unasked {
		l.Right(sc.Theme.Dim, "?", 8)
	} else {
		number(len(p.Awaits), 8)
	}
	if c.sources > 0 {
		l.Skip(2).Cell(sc.Theme.Dim, sourceNames(p), c.sources)
	}
	oldest := "-"
	if len(p.Owns) > 0 {
		oldest = sc.Theme.Age(p.Oldest, sc.Now)
	}
	ends, st := soonestEnd(sc, p)
	l.Right(plain, oldest, 9).Right(st, ends, 13).Right(sc.Theme.Dim, paint.When(p.AtLeast, sc.Theme.AtLeast)+strconv.Itoa(p.Changes), 6)
	if w-l.X >= leastOutcome {
		l.Skip(2).Put(plain, p.Outcome(sc.Now))
	}
	return l.Done()
}

// sourceNames joins the names of the sources of a party.
func sourceNames(p *fleet.Party) string {
	return paint.Clean(strings.Join(p.Sources, ", "))
}

// soonestEnd says how the first of a party's ownerships ends.
func soonestEnd(sc *Scene, p *fleet.Party) (string, paint.Style) {
	if len(p.Owns) == 0 {
		return "-", sc.Theme.Dim
	}
	switch p.Ends {
	case fleet.WithLease:
		return format.Left(p.Until.Sub(sc.Now)), ""
	case fleet.WithSession:
		if len(p.Owns) == 1 && p.Owns[0].Owner.Idle == sources.IdleInTransaction {
			return "idle in tx", sc.Theme.Warn
		}
		return "session", sc.Theme.Dim
	case fleet.Never:
		return "no end", sc.Theme.Warn
	}
	return "?", sc.Theme.Dim
}

// PartyAt returns the key of the party to which the owner of a row belongs, or who owned it last; "": nobody is known.
func PartyAt(by origin.By, row *sources.Row, last *sources.OwnerRef) string {
	switch {
	case len(row.Owners) > 0:
		return fleet.KeyOf(by, row.Source, origin.OfOwner(&row.Owners[0]))
	case last != nil:
		return fleet.KeyOf(by, row.Source, origin.OfRef(*last))
	}
	return ""
}
