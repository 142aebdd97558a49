package screen

import (
	"cmp"
	"slices"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/cursor"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// PulseState is the state of the Pulse screen.
type PulseState struct {
	List   cursor.List[FindingKey]       // the findings
	Whole  bool                          // each source has been read in full since the start, or does not answer
	Calm   time.Time                     // since when nothing was found; zero: something is, or not enough is known
	Counts map[string]*rows.SourceCounts // by source
	Objectives
}

// FindingKey identifies a Finding from one second to the next, as long as its first row stays.
type FindingKey struct {
	Pattern diagnose.Pattern
	Source  string
	First   sources.Ref // zero: it has no rows
}

// KeyOf returns the key of a Finding.
func KeyOf(f *diagnose.Finding) FindingKey {
	k := FindingKey{Pattern: f.Pattern, Source: f.Source}
	if len(f.Rows) > 0 {
		k.First = f.Rows[0].Ref
	}
	return k
}

// pulseScreen draws what is wrong, why and what to do next, then the sources and the last actions of people.
func pulseScreen(sc *Scene) Frame {
	w, h := sc.Layout.Width, sc.Layout.Body()
	below := pulseBelow(sc, w, h)
	lines := append([]string{sc.Theme.Line(w).Rule().Done()}, findingList(sc, w, h-1-len(below))...)
	return fixed(sc, sc.Theme.Box(append(lines, below...), w, h))
}

// briefDetail is the number of lines that explain a finding if the room is short.
const briefDetail = 2

// PulseRows returns the number of findings that are visible.
func PulseRows(sc *Scene) int {
	h := sc.Layout.Body() - 1 - len(pulseBelow(sc, sc.Layout.Width, sc.Layout.Body()))
	return max(h-headingLines(findingGroups(sc))-briefDetail, 1)
}

// findingGroup is the findings [from, to) under one heading.
type findingGroup struct {
	title    string
	st       paint.Style
	from, to int
}

// findingGroups returns the groups that have findings.
func findingGroups(sc *Scene) []findingGroup {
	bad := 0
	for needsPerson(sc, bad) {
		bad++
	}
	return slices.DeleteFunc([]findingGroup{
		{"NEEDS A PERSON", sc.Theme.Bad, 0, bad},
		{"WORTH A LOOK", sc.Theme.Warn, bad, sc.Muted.Unmuted},
		{"KNOWN", sc.Theme.Dim, sc.Muted.Unmuted, len(sc.Findings)},
	}, func(g findingGroup) bool { return g.from == g.to })
}

// headingLines is the number of lines of the headings, with the empty lines between.
func headingLines(groups []findingGroup) int { return max(2*len(groups)-1, 1) }

// needsPerson reports whether there is a finding at a place that needs a person, and is not muted.
func needsPerson(sc *Scene, i int) bool {
	return i < sc.Muted.Unmuted && sc.Findings[i].Severity == verdict.Bad
}

// findingList draws the visible findings in at most h lines: first a line for each, then, as far as there is room,
// what explains the one under the cursor and those that need a person, and empty lines around that.
func findingList(sc *Scene, w, h int) []string {
	first, n := sc.Pulse.List.Top(), len(sc.Pulse.List.Visible())
	if n == 0 {
		return calmLines(sc, w)
	}
	groups := findingGroups(sc)
	details := explain(sc, first, n, w, h-n-headingLines(groups))
	draw := func(apart bool) (lines []string) {
		gap, open := sc.Theme.Line(w).Done(), false // what stands above has more than a line
		for i := first; i < first+n; i++ {
			for _, g := range groups {
				if i != max(g.from, first) || i >= g.to {
					continue
				}
				if i > first {
					lines = append(lines, gap)
				}
				lines, open = append(lines, sc.Theme.Line(w).Skip(1).Put(g.st, g.title).Skip(1).Put("", format.Count(g.to-g.from)).Done()), true
			}
			explained := len(details[i]) > 0
			if apart && (open || explained) {
				lines = append(lines, gap)
			}
			lines = append(lines, findingLine(sc, i, explained, w))
			lines, open = append(lines, details[i]...), explained
		}
		return lines
	}
	if lines := draw(true); len(lines) <= h {
		return lines
	}
	return draw(false)
}

// explain shares the room of so many lines among the findings that are explained. The one under the cursor comes first,
// and has all that it needs if the person has chosen it.
func explain(sc *Scene, first, n, w, room int) map[int][]string {
	details, order := map[int][]string{}, []int{sc.Pulse.List.Pos()}
	for i := first; i < first+n; i++ {
		if i != order[0] && needsPerson(sc, i) {
			order = append(order, i)
		}
	}
	for at, i := range order {
		most := max(briefDetail, room/(len(order)-at))
		if at == 0 && sc.Pulse.List.Moved() {
			most = room
		}
		details[i] = detailLines(sc, &sc.Findings[i], w, min(most, room))
		room -= len(details[i])
	}
	return details
}

// The widths of the columns of a finding's line.
const (
	mostSourceName = 20
	findingAge     = 7
	findingSince   = 26
	leastCause     = 16
	wideFinding    = 120 // from this width on the time is written out
)

// findingLine draws a finding in one line: what is wrong, where, and since when; explained: its cause stands below.
func findingLine(sc *Scene, i int, explained bool, w int) string {
	th, f, bad, selected := &sc.Theme, &sc.Findings[i], needsPerson(sc, i), i == sc.Pulse.List.Pos()
	since, sinceCells, source := th.Age(f.Since, sc.Now), findingAge, cmp.Or(sourceName(sc, f.Source, w), "several")
	if w >= wideFinding {
		sinceCells = findingSince
		if since != "?" {
			since = "since " + th.Roughly(f.Since) + paint.TimeOfDay(f.Since.At, sc.Now) + ", " + since
		}
	}
	st, l := th.Severity(f.Severity), th.Line(w)
	if i >= sc.Muted.Unmuted {
		st = th.Dim
	}
	if l.Cursor(selected); selected {
		l.Over += st // reverse video alone would hide the severity
	}
	l.Put(st, th.Marks[f.Severity])
	if selected {
		l.Over = th.Selected
	}
	names := min(mostSourceName, w/6)
	end := w - 1 - sinceCells - 2 - names - 2
	l.Skip(1).Put(paint.When(bad, th.Strong), th.Cut(f.Title, end-l.X))
	if room := end - l.X - 2; !explained && room >= leastCause {
		l.Skip(2).Put(th.Dim, th.Cut(f.Brief(), room))
	}
	l.To(end+2).Cell(th.Dim, source, names).Skip(2)
	return l.Put(paint.When(bad, st), paint.When(since != "?", since)).Done()
}

// sourceName returns the name of a source, on a wide screen with its type: "redis leases".
func sourceName(sc *Scene, name string, w int) string {
	for i := range sc.State.Sources {
		if s := &sc.State.Sources[i]; w >= wideFinding && s.Name == name && s.Type != name {
			name = s.Type + " " + name
		}
	}
	return paint.Clean(name)
}

// The indents of the lines that explain a finding, and the most of its rows that are named.
const (
	detailIndent = 3
	detailName   = 9
	detailRows   = 5
)

// detailLines explains a finding: why, what to do next, its runbook, and its rows. If they have no room in so many
// lines, what is known of the cause and the first step have it.
func detailLines(sc *Scene, f *diagnose.Finding, w, most int) []string {
	text := func(name, text string, room int) []string {
		indent := detailIndent + BoolInt(name != "")*detailName
		return hanging(sc, w, indent, sc.Theme.Dim.Text("  "+name), text, room)
	}
	var names []string
	for i := range f.Rows[:min(len(f.Rows), detailRows)] {
		names = append(names, NameOf(sc, f.Rows[i].Ref))
	}
	lines := slices.Concat(text("", causeText(f), most), text("next", stepsText(sc, f, 2), most), text("runbook", paint.Clean(f.Runbook), most),
		text("rows", paint.When(len(f.Rows) > 1, format.SomeOf(names, detailRows, len(f.Rows))), most))
	if len(lines) > most {
		lines = slices.Concat(text("", f.Brief(), max(most-1, 1)), text("next", stepsText(sc, f, 1), 1))
	}
	return lines[:min(len(lines), max(most, 0))]
}

// moreFindings counts the findings that had no room: "5 more, 1 !"; nil: all had.
func moreFindings(sc *Scene) []paint.Part {
	first, n := sc.Pulse.List.Top(), len(sc.Pulse.List.Visible())
	if n == len(sc.Findings) {
		return nil
	}
	bad := 0
	for i := range sc.Findings {
		bad += BoolInt(needsPerson(sc, i) && (i < first || i >= first+n))
	}
	parts := moreParts(sc, len(sc.Findings)-n, [verdict.Warn + 1]int{verdict.Bad: bad})
	return append(parts, sc.Theme.Dim.Text(": "+sc.Keys.KeyIn(keys.InPulse, keys.Down)+" "))
}

// calmLines say that nothing is wrong, and since when; or that this is not known.
func calmLines(sc *Scene, w int) []string {
	l, waiting := sc.Theme.Line(w).Skip(1), UnreadSources(sc)
	switch s := &sc.Pulse; {
	case !s.Calm.IsZero():
		l.Put(sc.Theme.Good, sc.Theme.Up).Skip(1).Put("", "All is well since "+paint.TimeOfDay(s.Calm, sc.Now)).Put(sc.Theme.Dim, ", as far as coordtop has seen")
	case waiting > 0:
		l.Put(sc.Theme.Dim, sc.Theme.Connecting).Skip(1).Put("", paint.Count(waiting, "source")+" not read in full yet: nothing is known to be wrong so far")
	default:
		l.Put(sc.Theme.Dim, sc.Theme.Connecting).Skip(1).Put("", "nothing is known yet")
	}
	return []string{sc.Theme.Line(w).Done(), l.Done()}
}

// UnreadSources counts the sources that were not read in full yet, and are not known to be silent.
func UnreadSources(sc *Scene) (n int) {
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		partly := slices.ContainsFunc(scopesOf(sc, s), func(c *sources.Scope) bool { return !c.Synced || c.About.Partial == sources.Reading })
		n += BoolInt(s.Health == sources.HealthLive && partly || s.Health == sources.HealthConnecting && s.Err == nil)
	}
	return n
}
