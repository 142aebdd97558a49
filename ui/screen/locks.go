package screen

import (
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// locksPane draws the list.
type locksPane struct {
	*Scene
	win   timeline.Window
	r     locksRow        // the row that is being drawn
	cells []timeline.Cell // for reuse
}

// locksRow is a row while it is drawn.
type locksRow struct {
	*sources.Row
	v      verdict.Verdict
	plain  paint.Style // of texts without a style of their own
	acting bool        // an action of ours on it is under way
}

// drawLocks draws the heading and the visible rows, or why there are none.
func drawLocks(sc *Scene, w, h int) []string {
	p := &locksPane{Scene: sc, win: StripWindow(sc)}
	lines := append(make([]string, 0, h+1), p.heading(w))
	if sc.Locks.Len() == 0 {
		return sc.Theme.Box(append(lines, emptyLocks(sc, w)...), w, h+1)
	}
	selected, _ := sc.Locks.Selected()
	for _, at := range sc.Locks.Visible() {
		if row, v := sc.Rows.At(at); row != nil {
			p.r = locksRow{Row: row, v: v, acting: RunUnder(sc, row.Ref) != nil}
			if sc.Muted.Rows[row.Ref] != nil {
				p.r.v.Faults = 0 // none of them has a colour
			}
			lines = append(lines, p.row(w, &p.r, at == selected))
		}
	}
	return sc.Theme.Box(lines, w, h+1)
}

func (p *locksPane) heading(w int) string {
	l, dim := p.Theme.Line(w), p.Theme.Dim
	l.Skip(markWidth)
	for col, n := range p.columns {
		e := &columnTable[col]
		switch {
		case n == 0:
		case col == int(colStrip):
			l.Skip(e.gap).Axis(p.win, p.Now.Location())
		case e.right:
			l.Skip(e.gap).Right(dim, e.head, n)
		default:
			l.Skip(e.gap).Cell(dim, e.head, n)
		}
	}
	return l.Done()
}

// row draws one row of the list.
func (p *locksPane) row(w int, r *locksRow, selected bool) string {
	l := p.Theme.Line(w)
	r.plain = paint.When(r.v.Severity == verdict.Blind, p.Theme.Dim)
	mark, st := p.Theme.Marks[r.v.Severity], severityStyle(p.Scene, r.Row, r.v)
	if l.Cursor(selected); selected && r.v.Severity.Problem() {
		l.Over += st // reverse video alone would hide the severity
	}
	l.Put(st, mark)
	if selected {
		l.Over = p.Theme.Selected
	}
	switch {
	case r.acting:
		l.Put(p.Theme.Accent, p.Theme.Pending)
	case p.Marks[r.Ref]:
		l.Put(p.Theme.Accent, p.Theme.Marked)
	default:
		l.Skip(1)
	}
	for col, n := range p.columns {
		if n > 0 {
			e := &columnTable[col]
			if e.bare {
				l.Over = ""
			}
			e.draw(p, l.Skip(e.gap), r, n)
		}
	}
	return l.Done()
}

// changes draws the number of changes of owner.
func (p *locksPane) changes(l *paint.Line, r *locksRow, w int) {
	st := p.Theme.Dim
	if r.v.Faults.Has(verdict.Flapping) && r.v.Severity != verdict.Blind {
		st = p.Theme.Warn
	}
	text := "?"
	if r.v.Status != sources.StatusNotObserved {
		text = strconv.Itoa(int(r.v.Changes))
	}
	l.Right(st, text, w)
}

// strip draws the strip of the owners of a row.
func (p *locksPane) strip(l *paint.Line, r *locksRow, _ int) {
	p.cells = cellsOf(p.Scene, r.Row, laneOf(p.Scene, r.Row), p.win, p.cells)
	l.Strip(p.cells)
}

// owner draws the owner of a row, or the state without one.
func (p *locksPane) owner(l *paint.Line, r *locksRow, w int) {
	row := r.Row
	word := func(st paint.Style, text string) { l.Skip(2).Cell(st, text, w-2) }
	switch {
	case row.Absent:
		word(p.Theme.Dim, r.v.Status.String())
	case row.Note != "":
		word(p.Theme.Dim, paint.Clean(row.Note))
	case len(row.Owners) == 1 || len(row.Terms) > 0 && len(row.Owners) > 1:
		p.oneOwner(l, r, w)
	case len(row.Owners) > 1:
		word(r.plain, paint.Count(len(row.Owners), "owner"))
	case row.Taken > 0: // a count is all that is told
		word(r.plain, "taken by ?")
	case r.acting:
		word(p.Theme.Accent, "pending")
	default:
		end := l.X + w
		l.Skip(2).Parts(vacantParts(p.Scene, row, r.v, w-2)...).To(end)
	}
}

// oneOwner draws the owner of the running term, as the strip does, and the number of other owners.
func (p *locksPane) oneOwner(l *paint.Line, r *locksRow, w int) {
	row := r.Row
	o := &row.Owners[0]
	if n := len(row.Terms) - 1; n >= 0 {
		for i := range row.Owners {
			if row.Owners[i].ID == row.Terms[n].Owner.ID {
				o = &row.Owners[i]
			}
		}
	}
	others := ""
	if n := len(row.Owners) - 1; n > 0 {
		others = " +" + format.Count(n)
	}
	if hue, ok := termHue(row, o.ID); ok {
		l.Put(p.Theme.OwnerLetter(hue), paint.Letter(hue)).Skip(1)
	} else {
		l.Skip(2)
	}
	end := l.X + w - 2
	room := w - 2 - len(others)
	l.Put(r.plain, p.Theme.FitWords(ownerLabel(p.Scene, row.Ref, o, room), room)).Put(p.Theme.Dim, others).To(end)
}

// name draws the name of a row and its alias. If the name is only a number, the alias comes first;
// else it comes second if there is room.
func (p *locksPane) name(l *paint.Line, r *locksRow, w int) {
	name, alias := NameOf(p.Scene, r.Ref), AliasOf(p.Scene, r.Row)
	room := w - format.Width(name) - 2
	end := l.X + w
	switch {
	case alias != "" && paint.Numeric(r.Name) && room >= minAlias:
		l.Put("", p.Theme.Cut(alias, room)).Skip(2).Put(p.Theme.Dim, name).To(end)
	case alias != "" && room >= format.Width(alias):
		l.Put("", name).Skip(2).Put(p.Theme.Dim, alias).To(end)
	default:
		l.Cell("", p.Theme.FitName(name, w), w)
	}
}

// AliasOf returns the alias of a row, or the library that keeps the lock, with a sign before an inferred
// one; "": it has none.
func AliasOf(sc *Scene, row *sources.Row) string {
	alias, how := row.Alias, row.AliasHow
	if alias == "" {
		alias, how = row.Format()
	}
	return paint.When(alias != "" && how == sources.Inferred, sc.Theme.About) + paint.Clean(alias)
}

// kindOf returns the kind of a row, with a sign before it if only the name or the value suggests that it
// is a lock.
func kindOf(sc *Scene, row *sources.Row) string {
	return paint.When(row.Guessed(), sc.Theme.About) + row.Kind.String()
}

// minAlias is the least number of cells for an alias beside a number.
const minAlias = 6

// wait draws the number of waiters.
func (p *locksPane) wait(l *paint.Line, r *locksRow, w int) {
	text, st := strconv.Itoa(r.Queue.Len), paint.Style("")
	switch {
	case r.Queue.How == sources.Unknown:
		text, st = "?", p.Theme.Dim
	case r.v.Faults.Has(verdict.LongWait):
		st = p.Theme.Warn
	case r.Queue.Len == 0 || r.v.Severity == verdict.Blind:
		st = p.Theme.Dim
	}
	l.Right(st, text, w)
}

// emptyLocks explains why the list has no rows, and how to change that.
func emptyLocks(sc *Scene, w int) []string {
	say := func(st paint.Style, text string) string { return sc.Theme.Line(w).Skip(3).Put(st, text).Done() }
	blank := sc.Theme.Line(w).Done()
	switch x := &sc.Rows; {
	case x.Total > 0 && x.Problems:
		return append([]string{blank}, noProblems(sc, say)...)
	case x.Total > 0 && x.Filter.Only != nil && x.Filter.Text == "":
		return []string{blank, say("", "none of these rows exists any more"), say(sc.Theme.Dim, sc.Keys.KeyIn(keys.InLocks, keys.Clear)+" leads back to Pulse")}
	case x.Total > 0 && !x.Filter.Empty():
		lines := []string{blank, say("", "the filter selects none of "+paint.Count(x.Total, "row")+": "+sc.Filter.Text)}
		if x.Filter.Expr.Counts() {
			lines = append(lines, say("", "wait without a unit counts the waiters; wait>30s is about how long they wait"))
		} else {
			lines = append(lines, filterMend(sc, say)...)
		}
		return append(lines, say(sc.Theme.Dim, sc.Keys.KeyIn(keys.InLocks, keys.Clear)+" clears the filter"))
	case x.Total > 0:
		return []string{blank, say("", "none of "+paint.Count(x.Total, "primitive")+" is a "+x.Kind.String()),
			say(sc.Theme.Dim, sc.Keys.KeyOf(keys.Kind)+" shows other kinds, "+sc.Keys.KeyIn(keys.InLocks, keys.Clear)+" all")}
	case sc.Replay != nil && !slices.ContainsFunc(sc.State.Sources, func(s sources.SourceStatus) bool { return answered(sc, &s) }):
		return []string{blank, say("", "nothing recorded yet at this time; "+sc.Keys.KeyOf(keys.NextEvent)+" goes to the next event")}
	case len(sc.State.Sources) == 0:
		return []string{blank, say("", "no source has started yet")}
	}
	lines := []string{blank}
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		lines = append(lines, say("", expectation(sc, s)))
	}
	return lines
}

// noProblems replaces the rows if only problems are listed and none is known.
func noProblems(sc *Scene, say func(paint.Style, string) string) []string {
	x, blind := &sc.Rows, sc.Rows.Blind
	of := "among " + paint.Count(x.Total-blind, "primitive")
	esc := sc.Keys.KeyOf(keys.Problems) + " shows all of them"
	if x.Kind != sources.KindUnknown {
		of = "among the " + x.Kind.String() + paint.KindPlural(x.Kind)
	}
	if !x.Filter.Empty() {
		of = "in what the filter \"" + sc.Filter.Text + "\" selects"
		esc = sc.Keys.KeyOf(keys.Problems) + " shows all that it selects, " + sc.Keys.KeyIn(keys.InLocks, keys.Clear) + " clears the filter"
	}
	lines := []string{say(sc.Theme.Good, "no problems "+of)}
	if blind == x.Total {
		lines = nil // no row is known to have no problem
	} else if n := x.ProblemRows(); n > 0 {
		lines[0] = say("", "no problems "+of+"; "+format.Count(n)+" elsewhere")
	}
	if blind > 0 {
		lines = append(lines, say(sc.Theme.Warn, paint.Count(blind, "row")+" cannot be judged: stale, or not told by the backend"))
	}
	return append(append(lines, filterMend(sc, say)...), say(sc.Theme.Dim, esc))
}

// filterMend draws the mistake of a filter that selects nothing, or what it probably means.
func filterMend(sc *Scene, say func(paint.Style, string) string) []string {
	if mend := sc.Rows.Filter.Mistake; mend != nil {
		return []string{say(sc.Theme.Warn, paint.Clean(mend.Text))}
	}
	if meant := sc.Rows.Meant(); meant != "" {
		return []string{say("", meant)}
	}
	return nil
}

// answered reports whether a source has finished its first listing, or failed.
func answered(sc *Scene, s *sources.SourceStatus) bool {
	return s.Err != nil || s.Health != sources.HealthConnecting && allSynced(sc, s)
}

// expectation describes the state of a source without rows.
func expectation(sc *Scene, s *sources.SourceStatus) string {
	address := " (" + paint.Clean(s.Type) + " " + paint.Clean(s.Address) + ")"
	where := paint.Clean(s.Name) + address
	switch {
	case s.Health == sources.HealthConnecting && s.Err == nil:
		return "connecting to " + where
	case s.Health == sources.HealthLive && allSynced(sc, s):
		return paint.Clean(s.Name) + " answers: nothing there matches what is watched" + address
	case s.Health == sources.HealthLive:
		return "reading " + where
	}
	return where + " does not answer: " + strings.Join(paint.DropEmpty(why(s), retryText(sc, s)), ", ")
}

// allSynced reports whether all of a source's listings are complete.
func allSynced(sc *Scene, s *sources.SourceStatus) bool {
	return !slices.ContainsFunc(scopesOf(sc, s), func(c *sources.Scope) bool { return !c.Synced })
}
