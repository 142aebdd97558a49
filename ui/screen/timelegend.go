package screen

import (
	"strconv"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// legendBeside is from how many cells on what all lanes sum up to stands beside the legend.
const legendBeside = 110

// timeLower is what stands below the lanes: the readout, the lease or the owners of the selected
// lane on the same axis, and the legend, which has the lines that are left.
func timeLower(sc *Scene, win timeline.Window, w, h int) []string {
	lines := timeReadout(sc, win, w)
	row := selectedLane(sc)
	if row == nil {
		return lines
	}
	lines = append(lines, belowReadout(sc, row, win, w, max(h-len(lines)-4, 0))...)
	gap := sc.Theme.Line(w).Done()
	if h-len(lines) > 6 {
		lines = append(lines, gap)
	}
	room := h - len(lines)
	if w < legendBeside {
		lines = append(lines, laneLegend(sc, row, win, w, room-1)...)
		return append(lines, allLanes(sc, w, true)...)
	}
	left, right := laneLegend(sc, row, win, w/2, room), allLanes(sc, w-w/2, false)
	for i := range max(len(left), len(right)) {
		a, b := sc.Theme.Line(w/2).Done(), sc.Theme.Line(w-w/2).Done()
		if i < len(left) {
			a = left[i]
		}
		if i < len(right) {
			b = right[i]
		}
		lines = append(lines, a+b)
	}
	return lines
}

// laneLegend is what each owner of the selected lane had of the window, in at most h lines.
func laneLegend(sc *Scene, row *sources.Row, win timeline.Window, w, h int) []string {
	if h < 2 {
		return nil
	}
	lane, now := LaneOf(sc, row), DrawnTo(sc)
	sum := win.Sum(lane, now)
	whole := sum.Owned + sum.Nobody + sum.Unseen
	g := paint.Grid{Heads: []string{"", "SELECTED LANE", "", "", ""}, Right: []bool{false, false, true, true, false}}
	add := func(sign paint.Part, text string, part time.Duration, count, longest string) {
		g.Add(sign, paint.Plain(text), paint.Plain(share(part, whole)), paint.Plain(count), paint.Plain(longest))
	}
	var rest []func()
	if row.Leveled() {
		return levelLegend(sc, row, win, w)
	}
	if sum.Nobody > 0 {
		rest = append(rest, func() {
			sign, word := sc.Theme.Dim.Text(sc.Theme.Idle), "free"
			if lane.Trouble {
				sign, word = sc.Theme.Alarm.Text(sc.Theme.Crisis), "no leader"
			}
			add(sign, word, sum.Nobody, paint.Count(sum.Gaps, "gap"), "longest "+format.Precise(sum.Longest))
		})
	}
	if sum.Unseen > 0 {
		rest = append(rest, func() {
			add(sc.Theme.Dim.Text(sc.Theme.Dark), "not observed", sum.Unseen, "", format.Precise(sum.Unseen))
		})
	}
	shares := win.Shares(lane, now)
	room := max(h-1-len(rest), 1)
	for i, s := range shares {
		if i == room-1 && len(shares) > room {
			more := len(shares) - i
			g.Add(paint.Plain(""), sc.Theme.Dim.Text(paint.Count(more, "more owner")), paint.Plain(""), paint.Plain(""), paint.Plain(""))
			break
		}
		add(sc.Theme.OwnerLetter(s.Hue).Text(paint.Letter(s.Hue)), paint.CleanLabel(s.Label), s.Owned, paint.Count(s.Terms, "term"), "longest "+format.Precise(s.Longest))
	}
	for _, f := range rest {
		f()
	}
	return g.Lines(&sc.Theme, w, 2)
}

// share is a part of a whole in percent: 0 only for nothing, 100 only for all.
func share(part, whole time.Duration) string {
	switch {
	case part <= 0 || whole <= 0:
		return "0 %"
	case part >= whole:
		return "100 %"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case p < 1:
		return "<1 %"
	case p > 99:
		return ">99 %"
	}
	return strconv.Itoa(int(p+0.5)) + " %"
}

// levelLegend sums up the count of a semaphore in the window.
func levelLegend(sc *Scene, row *sources.Row, win timeline.Window, w int) []string {
	end := sources.Earlier(win.End(), DrawnTo(sc))
	var held, full time.Duration
	var weighted float64
	most, last := uint64(0), sources.Level{}
	count := func(l sources.Level, until time.Time) {
		from := sources.Later(l.At, win.Start)
		d := sources.Earlier(until, end).Sub(from)
		if l.At.IsZero() || l.Gone || d <= 0 {
			return
		}
		held += d
		weighted += float64(l.Taken) * d.Seconds()
		most = max(most, l.High)
		if row.Limited() && l.High >= row.Limit {
			full += d
		}
	}
	for l := range levelsOf(sc, row) {
		count(last, l.At)
		last = l
	}
	count(last, end)
	lines := []string{sc.Theme.Line(w).Skip(3).Put(sc.Theme.Dim, "SELECTED LANE").Done()}
	if held == 0 {
		return append(lines, sc.Theme.Line(w).Skip(4).Put(sc.Theme.Dim, "nothing is known of this window").Done())
	}
	of := ""
	if row.Limited() {
		of = " of " + strconv.FormatUint(row.Limit, 10)
	}
	lines = append(lines, sc.Theme.Line(w).Skip(4).Put("", strconv.FormatFloat(weighted/held.Seconds(), 'f', 1, 64)+of).Put(sc.Theme.Dim, " taken on average, ").
		Put("", strconv.FormatUint(most, 10)).Put(sc.Theme.Dim, " at most").Done())
	if row.Limited() {
		lines = append(lines, sc.Theme.Line(w).Skip(4).Put(sc.Theme.Warn, sc.Theme.Full).Put(sc.Theme.Dim, " full for ").Put("", format.Precise(full)).Put(sc.Theme.Dim, ", "+share(full, held)).Done())
	}
	return lines
}

// allLanes sums up the window of all lanes, in one line where that is wanted.
func allLanes(sc *Scene, w int, short bool) []string {
	th, s := &sc.Theme, &sc.Time.All
	text := func(dim, plain string) []paint.Part { return []paint.Part{th.Dim.Text(dim), paint.Plain(plain)} }
	vacant := append(text("without a leader now ", ""), paint.Plain(format.Count(s.Vacant)))
	if s.Vacant > 0 {
		vacant[2].Style = th.Bad
	}
	var gaps []paint.Part
	if s.Gaps > 0 {
		gaps = append(append(text("longest gap ", format.Precise(s.Longest)), paint.Part{Text: " " + s.LongestOf, Yield: paint.Name}), text("   all gaps ", format.Precise(s.Nobody))...)
	} else {
		gaps = text("no gap", "")
	}
	facts := [][]paint.Part{append(append(text("changes ", format.Count(s.Changes)), paint.Plain("   ")), vacant...), gaps}
	if s.Unseen > 0 {
		facts = append(facts, text("not observed ", format.Precise(s.Unseen)+" of all lanes together"))
	}
	if short {
		l := th.Line(w).Skip(1).Put(th.Dim, "ALL LANES  ")
		parts := append(append(facts[0], paint.Plain("   ")), facts[1]...)
		putParts(l, th.FitParts(parts, w-l.X), w)
		return []string{l.Done()}
	}
	lines := []string{th.Line(w).Skip(2).Put(th.Dim, "ALL LANES").Done()}
	for _, f := range facts {
		l := th.Line(w).Skip(4)
		putParts(l, th.FitParts(f, w-4), w)
		lines = append(lines, l.Done())
	}
	return lines
}

// belowReadout is on the axis of the lanes: how low the lease of the selected lane came, or who
// owned permits; at most room lines.
func belowReadout(sc *Scene, row *sources.Row, win timeline.Window, w, room int) []string {
	if row.Leveled() {
		return ownerLanes(sc, row, win, w, min(room, maxOwnerLanes+1))
	}
	if room < 1 {
		return nil
	}
	return leaseLane(sc, row, win, w)
}

// Vacant reports whether a row should have a leader and has none now.
func Vacant(row *sources.Row) bool {
	return rows.LeaderMissed(row) && row.Nobody.How != sources.Unknown
}
