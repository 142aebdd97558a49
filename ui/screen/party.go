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

// partyScreen draws all about the party under the cursor.
func partyScreen(sc *Scene, w int) []string {
	p, gap := sc.Owners.Selected(), sc.Theme.Line(w).Done()
	if p == nil {
		return []string{gap, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, noParties(sc)).Done()}
	}
	return append([]string{gap}, partyText(sc, p, w, mostHoldings, mostHoldings, keys.SameOwner)...)
}

// partyTitle draws the name of a party, how much it has, and when it was last seen to do anything.
func partyTitle(sc *Scene, p *fleet.Party, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Strong, sc.Theme.FitName(p.Label(), max(w/3, 20))).Skip(2)
	text := paint.When(p.Leads > 0, paint.Count(p.Leads, "election")+" led, ") +
		paint.When(len(p.Owns) > p.Leads, paint.Count(len(p.Owns)-p.Leads, "lock")+" owned, ") +
		paint.When(len(p.Awaits) > 0, format.Count(len(p.Awaits))+" awaited, ") +
		paint.When(len(p.Lost) > 0, format.Count(len(p.Lost))+" lost, ")
	seen := "never seen to be active"
	if p.Seen.How != sources.Unknown {
		seen = "last active " + format.Age(sc.Now.Sub(p.Seen.At)) + " ago"
	}
	return l.Put("", text+"in "+paint.Count(len(p.Sources), "source")).Put(sc.Theme.Dim, ", "+seen).Done()
}

// partyText draws a party in at most h lines: each finding about it in at most so many, what happens if it dies, and
// what it owns, awaits and has lost. The last line counts those that have no room, and names the key that shows them.
func partyText(sc *Scene, p *fleet.Party, w, h, most int, key keys.Intent) []string {
	const dies = "IF IT DIES NOW"
	th := &sc.Theme
	var why []string
	for _, f := range p.Findings {
		why = append(why, hanging(sc, w, 3, th.Severity(f.Severity).Text(th.Marks[f.Severity]), f.Title+": "+causeText(f), most)...)
	}
	lines := append([]string{partyTitle(sc, p, w)}, why[:min(len(why), max(h/4, 2))]...)
	lines = append(lines, hanging(sc, w, len(dies)+3, th.Dim.Text(dies), p.Outcome(sc.Now), mostHoldings)...)
	all := len(lines)
	table := func(heads []string, n int, row func(i int) (*sources.Row, paint.Part, []paint.Part)) {
		if n == 0 {
			return
		}
		all += n + 1
		g := paint.Grid{Heads: heads, Right: []bool{3: true}, Leave: []int{2, 3}}
		for i := range min(n, h) {
			r, mark, rest := row(i)
			name := th.FitName(aliased(sc, r.Ref, r.Alias), max(w*2/5, 18))
			g.Add(append([]paint.Part{mark, paint.Plain(name), th.Dim.Text(paint.Clean(r.Source))}, rest...)...)
		}
		lines = append(lines, g.Lines(th, w, 1)...)
	}
	table([]string{"", "OWNS", "SOURCE", "SINCE", "LEASE", "NEXT IF IT DIES"}, len(p.Owns), func(i int) (*sources.Row, paint.Part, []paint.Part) {
		h := &p.Owns[i]
		next := paint.When(h.Next <= fleet.Unseen, th.Dim).Text(h.NextText())
		return h.Row, ownerMark(sc, h.Row, h.Owner), []paint.Part{paint.Plain(th.Age(h.Owner.Since, sc.Now)), holdingEnd(sc, h), next}
	})
	table([]string{"", "AWAITS", "SOURCE", "FOR", "PLACE"}, len(p.Awaits), func(i int) (*sources.Row, paint.Part, []paint.Part) {
		a, q := &p.Awaits[i], &p.Awaits[i].Row.Queue
		place := paint.When(q.How == sources.Inferred, th.About) + strconv.Itoa(a.Place) + " of " + format.Count(max(q.Len, len(q.Waiters)))
		return a.Row, paint.Plain(" "), []paint.Part{paint.Plain(th.Age(a.Waiter.Since, sc.Now)), paint.Plain(place)}
	})
	table([]string{"", "LOST, AND FREE NOW", "SOURCE", "FOR", "HOW"}, len(p.Lost), func(i int) (*sources.Row, paint.Part, []paint.Part) {
		last := lastEnded(p.Lost[i])
		mark := th.OwnerLetter(last.Hue).Text(paint.Letter(last.Hue))
		return p.Lost[i], mark, []paint.Part{paint.Plain(th.Age(last.End, sc.Now)), th.Dim.Text(th.Cause(last.Cause, last.How))}
	})
	if h < 1 || all <= h {
		return lines
	}
	lines = lines[:min(len(lines), h-1)]
	more := paint.Count(all-len(lines), "more line") + ": " + sc.Keys.KeyIn(keys.InOwners, key)
	return append(lines, th.Line(w).Skip(2).Put(th.Dim, more).Done())
}

// holdingEnd describes the end of an ownership if its owner dies now; "-" if h is nil.
func holdingEnd(sc *Scene, h *fleet.Holding) paint.Part {
	switch {
	case h == nil:
		return sc.Theme.Dim.Text("-")
	case h.Ends == fleet.WithLease:
		return paint.Plain(h.EndText(sc.Now))
	case h.Ends == fleet.Never || h.Owner.Idle == sources.IdleInTransaction:
		return sc.Theme.Warn.Text(h.EndText(sc.Now))
	}
	return sc.Theme.Dim.Text(h.EndText(sc.Now))
}
