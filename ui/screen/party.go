package screen

import (
	"strconv"

	"coordtop/internal/fleet"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// mostHoldings bounds the rows of one party that are drawn: the list can show all of them.
const mostHoldings = 1000

// partyPane draws the party under the cursor: what happens if it dies, and what it has.
func partyPane(sc *Scene, p *fleet.Party, w, h int) []string {
	lines := []string{partyTitle(sc, p, w)}
	why, h := partyWhy(sc, p, w, 2), h-1
	why = why[:min(len(why), max(h/4, 2))]
	lines, h = append(lines, why...), h-len(why)
	if split := sc.Layout.Split; split > 0 {
		owns := sc.Theme.Box(partyTables(sc, p, split, h, 0), split, h)
		dies := partyDies(sc, p, w-split-2)
		dies = sc.Theme.Box(shortened(sc, dies, w-split-2, h, len(dies)), w-split-2, h)
		for i, line := range owns {
			lines = append(lines, line+string(sc.Theme.Dim)+sc.Theme.Upright+paint.Reset+" "+dies[i])
		}
		return lines
	}
	dies := partyDies(sc, p, w)
	shown := dies[:min(len(dies), max(h/2, 2))]
	return append(append(lines, shown...), partyTables(sc, p, w, h-len(shown), len(dies)-len(shown))...)
}

// partyScreen draws all about the party under the cursor.
func partyScreen(sc *Scene, w int) []string {
	p, gap := sc.Owners.Selected(), sc.Theme.Line(w).Done()
	if p == nil {
		return []string{gap, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, noParties(sc)).Done()}
	}
	lines := []string{gap, partyTitle(sc, p, w)}
	for _, section := range [][]string{partyWhy(sc, p, w, mostHoldings), partyDies(sc, p, w), partyTables(sc, p, w, 4*mostHoldings, 0)} {
		if len(section) > 0 {
			lines = append(append(lines, gap), section...)
		}
	}
	return lines
}

// partyTitle draws the name of a party, how much it has, and when it was last seen to do anything.
func partyTitle(sc *Scene, p *fleet.Party, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Strong, sc.Theme.FitName(p.Label(), max(w/3, 20))).Skip(2)
	text := paint.When(p.Leads > 0, paint.Count(p.Leads, "election")+" led, ") +
		paint.When(len(p.Owns) > p.Leads, paint.Count(len(p.Owns)-p.Leads, "lock")+" owned, ") +
		paint.When(len(p.Awaits) > 0, format.Count(len(p.Awaits))+" awaited, ")
	if len(p.Owns)+len(p.Awaits) == 0 {
		text = "owns nothing now, "
	}
	l.Put("", text+"in "+paint.Count(len(p.Sources), "source"))
	seen := "never seen to be active"
	if p.Seen.How != sources.Unknown {
		seen = "last active " + format.Age(sc.Now.Sub(p.Seen.At)) + " ago"
	} else if len(p.Lost) > 0 {
		seen = "owned " + format.Count(len(p.Lost)) + " until " + paint.TimeOfDay(p.LostAt, sc.Now)
	}
	return l.Put(sc.Theme.Dim, ", "+seen).Done()
}

// partyWhy draws what is wrong with a party, each finding in at most so many lines.
func partyWhy(sc *Scene, p *fleet.Party, w, most int) (lines []string) {
	for _, f := range p.Findings {
		text := f.Title + ": " + f.Cause() + paint.When(f.Effect != "", "; "+f.Effect)
		pieces := paint.Wrap(text, w-4)
		if len(pieces) > most {
			pieces = append(pieces[:most-1], sc.Theme.Cut(text[wrapped(pieces[:most-1]):], w-4))
		}
		for i, piece := range pieces {
			mark := paint.When(i == 0, sc.Theme.Marks[f.Severity])
			lines = append(lines, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Severity(f.Severity), mark).To(3).Put("", piece).Done())
		}
	}
	return lines
}

// partyDies draws what happens if a party dies now.
func partyDies(sc *Scene, p *fleet.Party, w int) (lines []string) {
	const title = "IF IT DIES NOW"
	for i, piece := range paint.Wrap(p.Outcome(sc.Now), w-len(title)-3) {
		lines = append(lines, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, paint.When(i == 0, title)).To(len(title)+3).Put("", piece).Done())
	}
	for _, text := range p.Lines(sc.Now, sc.Rows.Shown) {
		for i, piece := range paint.Wrap(text, w-4) {
			l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, paint.When(i == 0, sc.Theme.Bullet)).To(3)
			lines = append(lines, l.Put("", piece).Done())
		}
	}
	return lines
}

// partyTables draws what a party owns, awaits and has lost in at most h lines, of which the last counts those that have
// no room, and others elsewhere.
func partyTables(sc *Scene, p *fleet.Party, w, h, elsewhere int) []string {
	most, all := min(h, mostHoldings), elsewhere
	for _, n := range []int{len(p.Owns), len(p.Awaits), len(p.Lost)} {
		if n > 0 {
			all += n + 1
		}
	}
	lines := append(ownsTable(sc, p, w, most), awaitsTable(sc, p, w, most)...)
	return shortened(sc, append(lines, lostTable(sc, p, w, most)...), w, h, all)
}

// shortened returns at most h lines. The last one counts those of all that are missing, and names the key that shows
// them.
func shortened(sc *Scene, lines []string, w, h, all int) []string {
	if h < 1 || all <= min(len(lines), h) {
		return lines
	}
	lines = lines[:min(len(lines), h-1)]
	key := keys.Open
	if sc.Shown == Party {
		key = keys.SameOwner
	}
	text := paint.Count(all-len(lines), "more line") + ": " + sc.Keys.KeyIn(keys.InOwners, key)
	return append(lines, sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, text).Done())
}

// holdingCells bounds a name in the tables of a party.
func holdingCells(w int) int { return max(w*2/5, 18) }

func ownsTable(sc *Scene, p *fleet.Party, w, most int) []string {
	if len(p.Owns) == 0 {
		return nil
	}
	dim := sc.Theme.Dim
	g := paint.Grid{Heads: []string{"", "OWNS", "SOURCE", "SINCE", "LEASE", "NEXT IF IT DIES"}, Right: []bool{3: true}, Leave: []int{2, 3}}
	for i := range p.Owns[:min(len(p.Owns), most)] {
		h := &p.Owns[i]
		mark := paint.Plain(" ")
		if hue, ok := termHue(h.Row, h.Owner.ID); ok {
			mark = sc.Theme.OwnerLetter(hue).Text(paint.Letter(hue))
		}
		next := paint.Plain(p.NextText(h, sc.Now))
		if h.Next <= fleet.Unseen {
			next.Style = dim
		}
		g.Add(mark, paint.Plain(sc.Theme.FitName(aliased(sc, h.Row.Ref, h.Row.Alias), holdingCells(w))), dim.Text(paint.Clean(h.Row.Source)),
			paint.Plain(sc.Theme.Age(h.Owner.Since, sc.Now)), holdingEnd(sc, h), next)
	}
	return g.Lines(&sc.Theme, w, 1)
}

// holdingEnd says how an ownership ends if its owner dies now.
func holdingEnd(sc *Scene, h *fleet.Holding) paint.Part {
	switch ends, until := h.Ends(); {
	case h.Stale():
		return sc.Theme.Dim.Text("old")
	case ends == fleet.WithLease:
		return paint.Plain(format.Left(until.Sub(sc.Now)))
	case h.Owner.Idle == sources.IdleInTransaction:
		return sc.Theme.Warn.Text("idle in tx")
	case ends == fleet.WithSession:
		return sc.Theme.Dim.Text("session")
	case ends == fleet.Never:
		return sc.Theme.Warn.Text("no end")
	}
	return sc.Theme.Dim.Text("?")
}

func awaitsTable(sc *Scene, p *fleet.Party, w, most int) []string {
	if len(p.Awaits) == 0 {
		return nil
	}
	g := paint.Grid{Heads: []string{"", "AWAITS", "SOURCE", "FOR", "PLACE"}, Right: []bool{3: true}, Leave: []int{2}}
	for _, a := range p.Awaits[:min(len(p.Awaits), most)] {
		place := strconv.Itoa(a.Place) + " of " + format.Count(max(a.Row.Queue.Len, len(a.Row.Queue.Waiters)))
		if a.Row.Queue.How == sources.Inferred {
			place = sc.Theme.About + place
		}
		g.Add(paint.Plain(" "), paint.Plain(sc.Theme.FitName(aliased(sc, a.Row.Ref, a.Row.Alias), holdingCells(w))), sc.Theme.Dim.Text(paint.Clean(a.Row.Source)),
			paint.Plain(sc.Theme.Age(a.Waiter.Since, sc.Now)), paint.Plain(place))
	}
	return g.Lines(&sc.Theme, w, 1)
}

func lostTable(sc *Scene, p *fleet.Party, w, most int) []string {
	if len(p.Lost) == 0 {
		return nil
	}
	g := paint.Grid{Heads: []string{"", "LOST, AND FREE NOW", "SOURCE", "FOR", "HOW"}, Right: []bool{3: true}, Leave: []int{2}}
	for _, row := range p.Lost[:min(len(p.Lost), most)] {
		last := lastEnded(row)
		g.Add(sc.Theme.OwnerLetter(last.Hue).Text(paint.Letter(last.Hue)), paint.Plain(sc.Theme.FitName(aliased(sc, row.Ref, row.Alias), holdingCells(w))),
			sc.Theme.Dim.Text(paint.Clean(row.Source)), paint.Plain(sc.Theme.Age(last.End, sc.Now)), sc.Theme.Dim.Text(sc.Theme.Cause(last.Cause, last.How)))
	}
	return g.Lines(&sc.Theme, w, 1)
}
