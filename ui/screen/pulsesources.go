package screen

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// pulseActs is the most actions of people that the Pulse screen lists.
const pulseActs = 4

// pulseBelow draws what stands below the findings of a screen of h lines: what is normal, the sources, and the last
// actions of people if there is room.
func pulseBelow(sc *Scene, w, h int) []string {
	if sc.Layout.Small {
		return nil
	}
	rule := sc.Theme.Line(w)
	if more := moreFindings(sc); more != nil {
		rule.Put(sc.Theme.Dim, strings.Repeat(sc.Theme.Glyphs.Rule, 3)).Parts(more...)
	}
	gap := sc.Theme.Line(w).Done()
	lines := []string{gap, normalLife(sc, w)}
	if s := &sc.Pulse.Objectives; len(s.Results) > 0 {
		lines = append(lines, objectivesLine(sc, s, w))
	}
	lines = append(append(lines, rule.Rule().Done()), pulseSources(sc, w, max((h-1)/4, 2))...)
	acts := sc.Events.Actions
	if len(acts) == 0 || len(sc.Findings) > 0 && sc.Layout.Height < stackHeight {
		return lines
	}
	lines = append(lines, gap, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "LAST ACTIONS").Done())
	for _, e := range slices.Backward(acts[max(len(acts)-pulseActs, 0):]) {
		l := sc.Theme.Line(w).Cell(sc.Theme.Dim, eventInstant(sc, &e), eventTime).Skip(2).Put(sc.Theme.Notice, sc.Theme.Acted).Skip(1)
		lines = append(lines, l.Put("", eventName(sc, &e)).Skip(2).Put(sc.Theme.Dim, paint.Clean(e.Detail)).Done())
	}
	return lines
}

// normalLife counts what changed hands without a loss in the last hour, or since that is known.
func normalLife(sc *Scene, w int) string {
	from, tally := sc.Started, &sc.Events.Tally
	if !tally.From.IsZero() {
		from = sources.Earlier(from, tally.From)
	}
	span := "since " + paint.TimeOfDay(from, sc.Now)
	if hour := sc.Now.Add(-time.Hour); !from.After(hour) {
		from, span = hour, "last hour"
	}
	var texts []string
	for _, c := range []struct {
		what rows.Change
		word string
	}{{rows.HandedOver, "hand-over"}, {rows.Resigned, "leader"}, {rows.Released, "release"}} {
		if n := tally.Count("", c.what, from, sc.Now.Add(time.Hour)); n > 0 {
			texts = append(texts, paint.Count(n, c.word)+paint.When(c.what == rows.Resigned, " resigned"))
		}
	}
	if len(texts) == 0 {
		texts = []string{"nothing changed hands without a loss"}
	}
	return sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "NORMAL LIFE, "+span+": "+strings.Join(texts, ", ")).Done()
}

// Objectives are how well the objectives of the config are kept.
type Objectives struct {
	Results []objective.Result // the worst first; none: not computed yet, or there are no objectives
	At      time.Time          // of when they are
	Error   string             // why the recording could not be read; "": it was
}

// oldObjectives is the age from which on the line of the objectives says of when it is.
const oldObjectives = 5 * time.Minute

// objectivesLine counts the objectives by how they are kept, and describes the worst one.
func objectivesLine(sc *Scene, s *Objectives, w int) string {
	th, r := &sc.Theme, &s.Results[0]
	l := th.Line(w).Skip(1).Put(th.Dim, "OBJECTIVES")
	if sc.Now.Sub(s.At).Abs() > oldObjectives {
		l.Put(th.Dim, ", "+paint.TimeOfDay(s.At, sc.Now))
	}
	sep := ": "
	for verdict, n := range objective.Counts(s.Results) {
		if v := objective.Verdict(verdict); n > 0 {
			l.Put(th.Dim, sep).Put(map[objective.Verdict]paint.Style{objective.Missed: th.Warn, objective.NotKnown: th.Dim}[v], format.Count(n)+" "+v.String())
			sep = ", "
		}
	}
	switch {
	case s.Error != "":
		l.Put(th.Dim, "; "+s.Error)
	case !r.Fits():
		l.Put(th.Dim, "; "+r.Unfit(paint.Clean))
	default:
		l.Put(th.Dim, "; "+NameOf(sc, r.Ref)+" without an owner for "+r.All.Vacant.Short()+", budget used "+r.Used().Text("%")+", last hour "+r.Burn().Text("x"))
	}
	return l.Done()
}

// pulseSources draws a table with a line for each source, those that do not answer first if not all of them have room
// in h lines.
func pulseSources(sc *Scene, w, h int) []string {
	list, more := sc.State.Sources, 0
	if len(list) > h {
		list = slices.Clone(list)
		slices.SortStableFunc(list, func(a, b sources.SourceStatus) int {
			return BoolInt(!sourceHealth(sc, &b).live) - BoolInt(!sourceHealth(sc, &a).live)
		})
		list, more = list[:h-1], len(list)-h+1
	}
	g := paint.Grid{
		Heads: []string{"", "SOURCE", "STATE", "ROWS", "LED", "NO LEADER", "WAITING", "LONGEST", "CHANGES A MINUTE, 1 h", "NOW"},
		Right: []bool{3: true, 4: true, 5: true, 6: true, 7: true, 9: true},
		Leave: []int{4, 2, 7, 8},
	}
	for i := range list {
		g.Add(sourceCells(sc, &list[i], w)...)
	}
	lines := g.Lines(&sc.Theme, w, 1)
	if more > 0 {
		lines = append(lines, sc.Theme.Line(w).Skip(3).Put(sc.Theme.Dim, paint.Count(more, "more source")+": "+sc.Keys.KeyOf(keys.Sources)).Done())
	}
	return lines
}

// sourceCells returns the cells of a source. What is not known of one that does not answer is "?".
func sourceCells(sc *Scene, s *sources.SourceStatus, w int) []paint.Part {
	th, h, c := &sc.Theme, sourceHealth(sc, s), cmp.Or(sc.Pulse.Counts[s.Name], &rows.SourceCounts{})
	known := func(is bool, st paint.Style, text string) paint.Part {
		if !is || !h.live || text == "?" {
			return th.Dim.Text("?")
		}
		return st.Text(text)
	}
	state := th.Dim.Text("live")
	if !h.live {
		state = h.st.Text(h.text)
	}
	missing := paint.When(c.Leaderless > 0, th.Bad)
	late := c.Longest.How != sources.Unknown && sc.Now.Sub(c.Longest.At) >= sc.State.Thresholds.Wait
	longest := paint.When(c.Waiting > 0, th.Age(c.Longest, sc.Now))
	now := sc.Events.Tally.Count(s.Name, rows.AnyChange, sc.Now.Add(-time.Minute), sc.Now.Add(time.Minute))
	return []paint.Part{h.st.Text(h.mark), paint.Plain(th.Cut(sourceName(sc, s.Name, w), w/5)), state, paint.Plain(format.Count(s.Rows)),
		known(true, "", format.Count(c.Led)), known(true, missing, format.Count(c.Leaderless)), known(c.Queued, "", format.Count(c.Waiting)),
		known(c.Queued, paint.When(late, th.Warn), longest), th.Dim.Text(changesStrip(sc, s, w)), known(true, "", format.Count(now))}
}

// fullPace is the least number of changes a minute that fills the height of a cell.
const fullPace = 8

// changesStrip draws the changes of a source in the last hour, in columns that are anchored to the clock. A column in
// which nothing is known to have changed and that was not observed is dotted.
func changesStrip(sc *Scene, s *sources.SourceStatus, w int) string {
	minutes := 3
	if w >= splitWidth {
		minutes = 2
	}
	step, columns := time.Duration(minutes)*time.Minute, 60/minutes
	counts, most := make([]int, columns), fullPace*minutes
	start := sc.Now.Truncate(step).Add(-time.Duration(columns-1) * step)
	for i := range counts {
		from := start.Add(time.Duration(i) * step)
		counts[i] = sc.Events.Tally.Count(s.Name, rows.AnyChange, from, from.Add(step))
		most = max(most, counts[i])
	}
	scopes, levels := scopesOf(sc, s), sc.Theme.Eighths
	var b strings.Builder
	for i, n := range counts {
		from := start.Add(time.Duration(i) * step)
		if n == 0 && unobserved(scopes, from, sources.Earlier(from.Add(step), sc.Now)) {
			b.WriteString(sc.Theme.Dark)
		} else {
			b.WriteString(levels[(n*(len(levels)-1)+most-1)/most])
		}
	}
	return b.String()
}

// unobserved reports whether a scope was not observed at all in a stretch of time.
func unobserved(scopes []*sources.Scope, from, to time.Time) bool {
	for _, c := range scopes {
		l := lane.Lane{Dark: c.Dark}
		if c.Since.IsZero() || l.Observed(lane.Span{From: sources.Later(from, c.Since), To: to}) == 0 {
			return true
		}
	}
	return len(scopes) == 0
}
