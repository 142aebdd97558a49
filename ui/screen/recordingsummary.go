package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/paint"
)

// recordedLines say what of a recording was not recorded or dropped, which sources were not observed, and how often the recorder
// began anew.
func recordedLines(sc *Scene) (lines []string) {
	s := &sc.Trouble
	if len(s.Rows) == 0 {
		return nil
	}
	var said []string
	for _, why := range []history.Why{history.Dropped, history.NotRecorded} {
		var texts []string
		for _, h := range s.Holes {
			if h.Why() == why {
				texts = append(texts, stretchText(sc, h.Dark))
			}
		}
		if len(texts) > 0 {
			said = append(said, why.String()+" "+format.Some(texts, 3))
		}
	}
	said = append(said, unobservedTexts(s)...)
	if n := len(s.Runs) - 1; n > 0 {
		said = append(said, "the recorder began anew "+paint.Count(n, "time"))
	}
	if len(said) == 0 {
		said = []string{"all of it was recorded and observed"}
	}
	texts := paint.Wrap(strings.Join(said, "; "), sc.Layout.Width-2)
	if len(texts) > 2 {
		texts = []string{texts[0], sc.Theme.Cut(texts[1]+" "+texts[2], sc.Layout.Width-2)}
	}
	for _, text := range texts {
		lines = append(lines, sc.Theme.Line(sc.Layout.Width).Skip(1).Put(sc.Theme.Dim, text).Done())
	}
	return lines
}

// stretchText says a stretch of the recording with its length.
func stretchText(sc *Scene, d sources.Dark) string {
	return paint.TimeOfDay(d.From, sc.Trouble.Span.To.In(sc.Now.Location())) + " - " + paint.TimeOfDay(d.To, sc.Trouble.Span.To.In(sc.Now.Location())) +
		" (" + format.Precise(d.To.Sub(d.From)) + ")"
}

// within is a stretch as far as it lies in a span.
func within(d sources.Dark, span history.Span) sources.Dark {
	if d.To.IsZero() {
		d.To = span.To
	}
	return sources.Dark{From: sources.Later(d.From, span.From), To: sources.Earlier(d.To, span.To)}
}

// unobservedTexts say for how long each source was not observed, the longest first.
func unobservedTexts(s *TroubleState) (texts []string) {
	sums := map[string]time.Duration{}
	for _, c := range s.Dark {
		if c.Source != "" && c.Ref == (sources.Ref{}) {
			d := within(c.Dark, s.Span)
			sums[strings.TrimSpace(c.Source+" "+c.Scope)] += max(d.To.Sub(d.From), 0)
		}
	}
	var names []string
	for name, sum := range sums {
		if sum >= time.Second { // less is the first look
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	for _, name := range names {
		texts = append(texts, paint.Clean(name)+" not observed for "+format.Precise(sums[name]))
	}
	return texts
}

// The widths of the numbers of a row; nobodyCells has room for an interval.
const (
	countCells   = 9
	nobodyCells  = 16
	summaryNames = 24
	wideSummary  = 120 // from here the longest gap and the owners have room
)

// summaryHeading names the columns of the rows.
func summaryHeading(sc *Scene, l *paint.Line) {
	st := sc.Theme.Heading
	l.Skip(1).Cell(st, "EACH ROW", nameCells(sc)).Right(st, "TERMS", countCells-3).Right(st, "HANDED ON", countCells+2).Right(st, "LOST", countCells-3).Right(st, "UNKNOWN", countCells).Right(st, "NOBODY", nobodyCells)
	if l.Width >= wideSummary {
		l.Right(st, "LONGEST", nobodyCells).Right(st, "NOT KNOWN", countCells+3).Skip(2).Put(st, "OWNERS, LAST ONE FIRST")
	}
}

// nameCells is the room for names.
func nameCells(sc *Scene) int {
	if sc.Layout.Width >= wideSummary {
		return summaryNames + 8
	}
	return summaryNames
}

// rowSummary is the line of a row.
func rowSummary(sc *Scene, l *paint.Line, s *history.Summary) {
	number := func(st paint.Style, n, w int) {
		if n == 0 {
			st = sc.Theme.Dim
		}
		l.Right(st, strconv.Itoa(n), w)
	}
	l.Cell("", sc.Theme.Cut(troubleWords(sc).Ref(s.Ref), nameCells(sc)-1), nameCells(sc))
	number("", s.Terms, countCells-3)
	number("", s.Handed, countCells+2)
	number(sc.Theme.Bad, s.Losses, countCells-3)
	number(sc.Theme.Warn, s.Unknown, countCells)
	nobody, longest := nobodyTexts(s)
	l.Right("", nobody, nobodyCells)
	if l.Width >= wideSummary {
		l.Right("", longest, nobodyCells).Right(sc.Theme.Dim, format.Precise(s.Unseen), countCells+3).Skip(2)
		putParts(l, sc.Theme.FitParts([]paint.Part{paint.Plain(ownersText(s))}, l.Width-l.X), l.Width)
	}
}

// nobodyTexts say for how long nobody owned a row: in all, and at a stretch.
func nobodyTexts(s *history.Summary) (sum, longest string) {
	if s.Leveled {
		return "-", "-"
	}
	if s.Nobody.Max == 0 {
		return "none", "none"
	}
	all, one := s.Nobody, s.Longest
	all.Every, one.Every = 0, 0 // there is no room for the pace of the looks
	if s.Gaps == 0 {
		return all.Short(), "-"
	}
	return all.Short(), one.Short()
}

func ownersText(s *history.Summary) string {
	var names []string
	for _, name := range s.Owners {
		names = append(names, paint.CleanLabel(name))
	}
	return cmp.Or(format.Some(names, 4), "nobody")
}

// summaryInFull is all that is said of a row.
func summaryInFull(sc *Scene, s *history.Summary, w int) []string {
	say := func(name, text string) string {
		return readoutLine(sc, w, name, sc.Theme.FitParts([]paint.Part{paint.Plain(text)}, w-10)...)
	}
	nobody := "several can own it"
	if !s.Leveled {
		nobody = "never seen"
		if s.Nobody.Max > 0 {
			nobody = s.Nobody.Text()
		}
		if s.Gaps > 0 {
			nobody += " in " + paint.Count(s.Gaps, "gap") + ", the longest " + s.Longest.Text()
		}
	}
	return []string{
		say("WHAT", s.Kind.String()+" "+troubleWords(sc).Ref(s.Ref)+" of "+paint.Clean(s.Ref.Source)),
		say("TERMS", fmt.Sprintf("%s: %d handed on, %d lost, %d whose end is not known", format.Count(s.Terms), s.Handed, s.Losses, s.Unknown)),
		say("NOBODY", nobody),
		say("UNKNOWN", cmp.Or(s.NotKnown.String(), "never")),
		say("OWNERS", ownersText(s)),
	}
}
