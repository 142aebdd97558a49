package screen

import (
	"cmp"
	"errors"
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

// recordedLines lists the parts of a recording that are missing, the sources that were not observed, and
// how often the recorder was started again.
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

// stretchText writes a stretch of the recording with its length.
func stretchText(sc *Scene, d sources.Dark) string {
	end := sc.Trouble.Span.To.In(sc.Now.Location())
	length := format.Precise(d.To.Sub(d.From))
	return paint.TimeOfDay(d.From, end) + " - " + paint.TimeOfDay(d.To, end) + " (" + length + ")"
}

// unobservedTexts lists the sources that were not observed with the length of that time, longest first.
func unobservedTexts(s *TroubleState) (texts []string) {
	sums := map[string]time.Duration{}
	for _, c := range s.Dark {
		if c.Source != "" && c.Ref == (sources.Ref{}) {
			from, to := sources.Later(c.Dark.From, s.Span.From), s.Span.To
			if !c.Dark.To.IsZero() {
				to = sources.Earlier(c.Dark.To, to)
			}
			sums[strings.TrimSpace(c.Source+" "+c.Scope)] += max(to.Sub(from), 0)
		}
	}
	var names []string
	for name, sum := range sums {
		if sum >= time.Second { // less is the time of the first look
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	for _, name := range names {
		texts = append(texts, paint.Clean(name)+" not observed for "+format.Precise(sums[name]))
	}
	return texts
}

// The widths of the columns of a row; nobodyCells has room for an interval.
const (
	countCells   = 9
	nobodyCells  = 16
	summaryNames = 24
	wideSummary  = 120 // from this width on the longest gap and the owners have room
)

// summaryHeading names the columns of the rows.
func summaryHeading(sc *Scene, l *paint.Line) {
	st := sc.Theme.Heading
	l.Skip(1).Cell(st, "EACH ROW", nameCells(sc)).Right(st, "TERMS", countCells-3).Right(st, "HANDED ON", countCells+2)
	l.Right(st, "LOST", countCells-3).Right(st, "UNKNOWN", countCells).Right(st, "NOBODY", nobodyCells)
	if l.Width >= wideSummary {
		l.Right(st, "LONGEST", nobodyCells).Right(st, "NOT KNOWN", countCells+3).Skip(2).Put(st, "OWNERS, LAST ONE FIRST")
	}
}

// nameCells returns the width of the names.
func nameCells(sc *Scene) int {
	if sc.Layout.Width >= wideSummary {
		return summaryNames + 8
	}
	return summaryNames
}

// rowSummary draws the line of a row.
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
		l.Right("", longest, nobodyCells).Right(sc.Theme.Dim, format.Precise(s.Unseen), countCells+3)
		l.Skip(2).Put("", ownersText(s))
	}
}

// nobodyTexts writes for how long nobody owned a row: in all, and at a stretch.
func nobodyTexts(s *history.Summary) (sum, longest string) {
	all, one := s.Nobody, s.Longest
	all.Every, one.Every = 0, 0 // the interval of the looks has no room
	switch {
	case s.Leveled:
		return "-", "-"
	case s.Nobody.Max == 0:
		return "none", "none"
	case s.Gaps == 0:
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

// summaryInFull draws all facts about a row.
func summaryInFull(sc *Scene, s *history.Summary, w int) []string {
	say := func(name, text string) string { return readoutLine(sc, w, name, paint.Plain(text)) }
	nobody := "several can own it"
	if !s.Leveled {
		nobody = "never seen"
		if s.Nobody.Max > 0 {
			nobody = s.Nobody.Text()
		}
		nobody += paint.When(s.Gaps > 0, " in "+paint.Count(s.Gaps, "gap")+", the longest "+s.Longest.Text())
	}
	return []string{
		say("WHAT", s.Kind.String()+" "+troubleWords(sc).Ref(s.Ref)+" of "+paint.Clean(s.Ref.Source)),
		say("TERMS", fmt.Sprintf("%s: %d handed on, %d lost, %d whose end is not known", format.Count(s.Terms), s.Handed, s.Losses, s.Unknown)),
		say("NOBODY", nobody),
		say("UNKNOWN", cmp.Or(s.NotKnown.String(), "never")),
		say("OWNERS", ownersText(s)),
	}
}

// bannerLines draws the banner of the past: a line with the time that is shown, most important facts
// first, and in a hole of the recording a second line with both of its ends.
func bannerLines(sc *Scene, w int) []string {
	if sc.Replay == nil {
		return nil
	}
	lines := []string{replayLine(sc, w)}
	if text := holeText(sc); text != "" {
		lines = append(lines, noticeLine(sc, w).Put(sc.Theme.Notice, fmt.Sprintf(" %-*s", w-1, text)).Done())
	}
	return lines
}

// noticeLine returns a line without the fading of a hole.
func noticeLine(sc *Scene, w int) *paint.Line {
	l := sc.Theme.Line(w)
	l.Over = ""
	return l
}

// holeText describes the hole at the time that is shown: nothing was recorded, or a source was not
// observed; "": there is none.
func holeText(sc *Scene) string {
	at, what, others := sc.Replay, sc.Replay.Hole.Why().String(), 0
	hole := at.Hole.Dark
	if !at.InHole() {
		what = ""
		for i := range sc.State.Scopes {
			c := &sc.State.Scopes[i]
			d := slices.IndexFunc(at.Dark, func(d history.DarkChange) bool {
				return !at.Believed && c.Health == sources.HealthStale && d.Ref == sources.Ref{} && d.Source == c.Source && d.Scope == c.Name
			})
			switch {
			case d < 0:
			case what != "":
				others++
			default:
				what, hole = paint.Clean(strings.TrimSpace(c.Source+" "+c.Name))+": not observed", at.Dark[d].Dark
			}
		}
	}
	from, more := paint.TimeOfDay(hole.From, sc.Now), paint.When(others > 0, ", "+format.Count(others)+" more")
	switch {
	case what == "":
		return ""
	case hole.To.IsZero():
		return what + " from " + from + " on" + more + "; shown as known then"
	}
	return what + " " + from + " - " + paint.TimeOfDay(hole.To, sc.Now) + ", " + format.Precise(hole.To.Sub(hole.From)) + more + "; shown as known at " + from
}

// replayLine draws the first line of the banner.
func replayLine(sc *Scene, w int) string {
	th := &sc.Theme
	l := noticeLine(sc, w).Put(th.Notice, " THE PAST "+sc.Replay.At.In(sc.Now.Location()).Format("Mon 2006-01-02 15:04:05.000 MST "))
	say := func(on bool, text string) {
		if on && l.X+len(text)+1 <= w {
			l.Put(th.Notice, " "+text)
		}
	}
	say(true, replayText(sc))
	say(sc.Replay.Believed, " as believed then")
	say(thinned(sc), " "+noRenewals)
	say(!sc.Replay.Believed, " as known now")
	say(true, " nothing can be done here")
	return l.Put(th.Notice, fmt.Sprintf("%*s", max(w-l.X, 0), "")).Done()
}

// noRenewals is the reason why leases are unknown.
const noRenewals = "renewals not recorded here"

// thinned reports whether a time is shown for which the recording does not keep renewals any more.
func thinned(sc *Scene) bool { return sc.Replay != nil && sc.Replay.Thin }

// replayText describes the state of the replay, and why the time is not the requested one.
func replayText(sc *Scene) string {
	at := sc.Replay
	switch {
	case at.Moving:
		return "going there..."
	case errors.Is(at.Err, history.ErrNothing):
		return "nothing is recorded"
	case at.Err != nil:
		return paint.Clean(at.Err.Error())
	case at.Hole != history.Hole{} && !at.InHole():
		return at.Hole.Why().String() + ": " + paint.TimeOfDay(at.Hole.From, sc.Now) + " - " + paint.TimeOfDay(at.Hole.To, sc.Now)
	case at.End:
		return "the recording ends here"
	case at.Playing:
		return fmt.Sprintf("playing x%d", at.Speed)
	case at.Speed > 1:
		return fmt.Sprintf("stopped, x%d", at.Speed)
	}
	return "stopped"
}
