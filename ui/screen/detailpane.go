package screen

import (
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// detailPane draws the pane of the row under the cursor, most important facts first, because the
// pane may have only five lines. Its title counts the lines that have no room.
func detailPane(sc *Scene, w, h int) []string {
	row, v := sc.Selected()
	if row == nil {
		return sc.Theme.Box(nil, w, h)
	}
	airy, gap := h >= 9, sc.Theme.Line(w).Done()
	former := formerOwners(sc, row, w)
	sections := [][]string{ownerTable(sc, row, v, w, airy)}
	if last := lastEnded(row); last != nil && sc.Now.Sub(last.End.At) < recentEnd {
		if h < 14 { // the waiters need room too
			former = []string{formerLine(sc, row, last, sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "BEFORE").Skip(2))}
		}
		sections, former = append(sections, former), nil
	}
	sections = append(sections, waiterLines(sc, row, v, w, false), actionLines(sc, row, w), ifReleased(sc, row, v, w))
	if h >= 14 {
		sections = append(sections, sawtoothLines(sc, row, v, w))
	}
	sections = append(sections, former, candidateLines(sc, row, w, false), labelFacts(sc, row, w))
	lines := []string{""}
	for i, section := range sections {
		if airy && len(section) > 0 && (i == 0 || len(lines) > 2) {
			lines = append(lines, gap)
		}
		lines = append(lines, section...)
	}
	if events := eventsOfRow(sc, row, w, h-len(lines)-3); airy && len(events) > 0 {
		lines = append(append(lines, gap), events...)
	}
	lines[0] = detailTitle(sc, row, v, w, max(len(lines)-h, 0))
	return sc.Theme.Box(lines, w, h)
}

// recentEnd is the time for which an ownership that has ended is listed above the waiters.
const recentEnd = 30 * time.Second

// lastEnded returns the last term of a row that has ended; nil: there is none.
func lastEnded(row *sources.Row) *sources.Term {
	for i := len(row.Terms) - 1; i >= 0; i-- {
		if t := &row.Terms[i]; !t.End.At.IsZero() {
			return t
		}
	}
	return nil
}

// detailTitle draws the name of a row, its state in words, its kind and its place; for a stale row also
// the time at which it was last known. more is the number of lines that have no room below.
func detailTitle(sc *Scene, row *sources.Row, v verdict.Verdict, w, more int) string {
	l := sc.Theme.Line(w).Skip(1)
	rest := paint.When(more > 0, " "+paint.Count(more, "more line")+": "+sc.Keys.KeyOf(keys.Open)+" ")
	w -= len(rest)
	l.Width = w
	asOf := ", as of " + paint.TimeOfDay(row.KnownAt(sc.State, sc.Now), sc.Now)
	state := stateText(sc, row, v) + pendingText(sc, row.Ref) + paint.When(v.Status == sources.StatusStale, asOf)
	first, second := paint.Clean(row.Name), AliasOf(sc, row)
	if second != "" && paint.Numeric(first) {
		first, second = second, first
	}
	room := max(w-5-len(state), min(format.Width(first), leastTitle))
	l.Put(sc.Theme.Strong, sc.Theme.Cut(first, room)).Skip(2)
	if l.X+format.Width(second)+len(state)+4 <= w && second != "" {
		l.Put(sc.Theme.Dim, second).Skip(2)
	}
	st := severityStyle(sc, row, v)
	if v.Severity == verdict.Well {
		st = sc.Theme.Good
	}
	l.Put(st, state).Skip(2).Put(sc.Theme.Dim, strings.Join(PlaceOf(sc, row), " "+sc.Theme.Dot+" "))
	l.To(w).Width += len(rest)
	return l.Put(sc.Theme.Dim, rest).Done()
}

// PlaceOf returns the kind of a row, its source, address and space.
func PlaceOf(sc *Scene, row *sources.Row) []string {
	place := []string{kindOf(sc, row), paint.Clean(row.Source)}
	address := ""
	for i := range sc.State.Sources {
		if s := &sc.State.Sources[i]; s.Name == row.Source {
			address = paint.Clean(s.Address)
			place = append(place, address)
		}
	}
	if space := paint.Clean(row.Space); space != "" && !strings.HasSuffix(address, "/"+space) && space != address {
		place = append(place, space)
	}
	return place
}

// leastTitle is the number of cells of a name that are shown however long the state is.
const leastTitle = 24

// stateText returns a row's state in words.
func stateText(sc *Scene, row *sources.Row, v verdict.Verdict) string {
	text := v.Status.String()
	for _, p := range sc.Rows.Judge().Problems(row, sc.Now) {
		if !p.Told {
			text += ", " + p.Sentence
		}
	}
	taken := ", " + format.Count(int(row.Taken)) + " of " + format.Count(int(row.Limit)) + " taken"
	return text + paint.When(row.Limited() && row.Limit > 1 && row.Taken > 0, taken)
}

// causeOf returns the cause of a term's end, and who ended it by force.
func causeOf(sc *Scene, row *sources.Row, t *sources.Term) string {
	if by := history.ForcedBy(row.Ref, t, sc.Events.List); by != "" {
		return "ended by force by " + paint.Clean(by)
	}
	return sc.Theme.Cause(t.Cause, t.How)
}

// formerTerms is the number of listed terms before the running one.
const formerTerms = 3

// formerLine adds a term that has ended to a line; if there is no room, the name of its owner is shortened.
func formerLine(sc *Scene, row *sources.Row, t *sources.Term, l *paint.Line) string {
	dim := sc.Theme.Dim
	parts := append(ownerParts(&sc.Theme, t),
		dim.Text("  "+sc.Theme.Roughly(t.Start)+paint.TimeOfDay(t.Start.At, sc.Now)+" to "+sc.Theme.Roughly(t.End)+paint.TimeOfDay(t.End.At, sc.Now)),
		paint.Plain("  "+sc.Theme.TermLength(t)), dim.Text("  "+causeOf(sc, row, t)))
	return l.Fit(parts, l.Width).Done()
}

// formerOwners lists the former owners and the causes of the ends of their terms.
func formerOwners(sc *Scene, row *sources.Row, w int) []string {
	var lines []string
	for i := len(row.Terms) - 1; i >= 0 && len(lines) < formerTerms; i-- {
		if t := &row.Terms[i]; !t.End.At.IsZero() {
			lines = append(lines, formerLine(sc, row, t, sc.Theme.Line(w).Skip(2)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	head := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "BEFORE")
	if g := row.Gaps(sc.State, sc.Now, verdict.ChangesSpan); g.Count > 0 {
		text := "nobody " + paint.Count(g.Count, "time") + " in 1 h, longest " + g.Longest.Text()
		head.Skip(2).Put(sc.Theme.Dim, text+paint.When(g.Count > 1, ", "+g.Sum.Text()+" in all"))
	}
	return append([]string{head.Done()}, lines...)
}

// factLines draws the facts of a backend with their names, as many on a line as fit. Instants are shown
// as ages.
func factLines(sc *Scene, attrs []sources.Attr, w, indent int) []string {
	var lines []string
	l := sc.Theme.Line(w).Skip(indent)
	flush := func() {
		if l.X > indent {
			lines = append(lines, l.Done())
			l = sc.Theme.Line(w).Skip(indent)
		}
	}
	for i := range attrs {
		key, value := paint.Clean(attrs[i].Key), factValue(sc, attrs[i].Value)
		if value == "" {
			continue
		}
		if l.X > indent && l.X+2+format.Width(key)+1+format.Width(value) > w {
			flush()
		}
		if l.X > indent {
			l.Skip(2)
		}
		l.Put(sc.Theme.Dim, key).Skip(1)
		for j, piece := range paint.Wrap(value, max(w-l.X, 20)) {
			if j > 0 {
				flush()
				l.Skip(2)
			}
			l.Put(factStyle(sc, attrs[i]), piece)
		}
	}
	flush()
	return lines
}

// factList draws facts with their names, one below another.
func factList(sc *Scene, attrs []sources.Attr, w int) []string {
	f := factSheet{sc: sc, w: w, label: labelRoom(attrs, 0, w)}
	for _, a := range attrs {
		f.say(factStyle(sc, a), paint.Clean(a.Key), factValue(sc, a.Value))
	}
	return f.lines
}

// factValue returns a fact fit for drawing; an instant with its age.
func factValue(sc *Scene, value string) string {
	if len(value) >= len("2006-01-02T15:04:05Z") && len(value) <= len(time.RFC3339Nano) {
		if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return paint.TimeOfDay(t, sc.Now) + ", " + format.Age(sc.Now.Sub(t)) + " ago"
		}
	}
	return paint.Clean(value)
}

// factStyle returns the style of a fact: odd ones are warnings.
func factStyle(sc *Scene, a sources.Attr) paint.Style { return paint.When(a.Odd, sc.Theme.Warn) }
