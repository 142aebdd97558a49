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
	return max(h-headingLines(gradesOf(sc, 0, len(sc.Findings)))-briefDetail, 1)
}

// grade is the group of a finding: as of its severity, or of what is known already.
type grade uint8

const (
	gradeBad grade = iota
	gradeWarn
	gradeKnown
	grades
)

func gradeAt(sc *Scene, i int) grade {
	switch {
	case i >= sc.Muted.Unmuted:
		return gradeKnown
	case sc.Findings[i].Severity == verdict.Bad:
		return gradeBad
	}
	return gradeWarn
}

// gradesOf counts the findings [from, to) by grade.
func gradesOf(sc *Scene, from, to int) (n [grades]int) {
	for i := from; i < to; i++ {
		n[gradeAt(sc, i)]++
	}
	return n
}

// headingLines is the number of lines of the headings of findings, with the empty lines between.
func headingLines(n [grades]int) (lines int) {
	for _, count := range n {
		lines += 2 * BoolInt(count > 0)
	}
	return max(lines-1, 1)
}

// findingList draws the visible findings in at most h lines: first a line for each, then, as far as there is room,
// what explains the one under the cursor and those that need a person, and empty lines around that.
func findingList(sc *Scene, w, h int) []string {
	first, n := visibleFindings(sc)
	if n == 0 {
		return calmLines(sc, w)
	}
	shown := sc.Findings[first : first+n]
	selected, _ := sc.Pulse.List.Selected()
	details := explain(sc, first, shown, selected, w, h-n-headingLines(gradesOf(sc, first, first+n)))
	draw := func(apart bool) (lines []string) {
		gap, open := sc.Theme.Line(w).Done(), false // what stands above has more than a line
		for i := range shown {
			is := gradeAt(sc, first+i)
			if i == 0 || is != gradeAt(sc, first+i-1) {
				if i > 0 {
					lines = append(lines, gap)
				}
				lines, open = append(lines, gradeHeading(sc, is, w)), true
			}
			explained := len(details[i]) > 0
			if apart && (open || explained) {
				lines = append(lines, gap)
			}
			lines = append(lines, findingLine(sc, &shown[i], is, KeyOf(&shown[i]) == selected, explained, w))
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
func explain(sc *Scene, first int, shown []diagnose.Finding, selected FindingKey, w, room int) [][]string {
	details := make([][]string, len(shown))
	var order []int
	for i := range shown {
		if KeyOf(&shown[i]) == selected {
			order = slices.Insert(order, 0, i)
		} else if gradeAt(sc, first+i) == gradeBad {
			order = append(order, i)
		}
	}
	for n, i := range order {
		most := max(briefDetail, room/(len(order)-n))
		if n == 0 && sc.Pulse.List.Moved() {
			most = room
		}
		details[i] = detailLines(sc, &shown[i], w, min(most, room))
		room -= len(details[i])
	}
	return details
}

// visibleFindings returns the place of the first visible finding, and the number of them.
func visibleFindings(sc *Scene) (first, n int) {
	visible := sc.Pulse.List.Visible()
	for len(visible) > 0 && first < len(sc.Findings) && KeyOf(&sc.Findings[first]) != visible[0] {
		first++
	}
	return first, min(len(visible), len(sc.Findings)-first)
}

// gradeHeading draws the heading of the findings of a grade, with their number.
func gradeHeading(sc *Scene, is grade, w int) string {
	text := [...]string{"NEEDS A PERSON", "WORTH A LOOK", "KNOWN"}[is]
	st := [...]paint.Style{sc.Theme.Bad, sc.Theme.Warn, sc.Theme.Dim}[is]
	n := gradesOf(sc, 0, len(sc.Findings))[is]
	return sc.Theme.Line(w).Skip(1).Put(st, text).Skip(1).Put("", format.Count(n)).Done()
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
func findingLine(sc *Scene, f *diagnose.Finding, is grade, selected, explained bool, w int) string {
	th := &sc.Theme
	since, sinceCells, source := th.Age(f.Since, sc.Now), findingAge, cmp.Or(sourceName(sc, f.Source, w), "several")
	if w >= wideFinding {
		sinceCells = findingSince
		if since != "?" {
			since = "since " + th.Roughly(f.Since) + paint.TimeOfDay(f.Since.At, sc.Now) + ", " + since
		}
	}
	st, l := th.Severity(f.Severity), th.Line(w)
	if is == gradeKnown {
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
	l.Skip(1).Put(paint.When(is == gradeBad, th.Strong), th.Cut(f.Title, end-l.X))
	if room := end - l.X - 2; !explained && room >= leastCause {
		l.Skip(2).Put(th.Dim, th.Cut(f.Brief(), room))
	}
	l.To(end+2).Cell(th.Dim, source, names).Skip(2)
	return l.Put(paint.When(is == gradeBad, st), paint.When(since != "?", since)).Done()
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
	first, n := visibleFindings(sc)
	if n == len(sc.Findings) {
		return nil
	}
	bad := gradesOf(sc, 0, len(sc.Findings))[gradeBad] - gradesOf(sc, first, first+n)[gradeBad]
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
