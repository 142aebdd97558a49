package screen

import (
	"slices"
	"strconv"
	"time"

	"coordtop/internal/format"
	"coordtop/internal/verdict"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// legendBeside is from how many cells on what all lanes sum up to stands beside the legend.
const legendBeside = 110

// timeLower is what stands below the lanes: the readout, the lease or the owners of the selected
// lane on the same axis, and the legend, which has the lines that are left.
func timeLower(sc *Scene, win timeline.Window, w int, layout timeLayout) []string {
	h := layout.lower
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
	switch {
	case layout.titled:
		return append(lines, laneLegend(sc, row, win, w, room)...)
	case w < legendBeside:
		lines = append(lines, laneLegend(sc, row, win, w, room-1)...)
		l := sc.Theme.Line(w).Skip(1)
		putParts(l, sc.Theme.FitParts(allInOneLine(sc), w-1), w)
		return append(lines, l.Done())
	}
	left, right := laneLegend(sc, row, win, w/2, room), allLanes(sc, w-w/2)
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
	sum := lane.Sum(win.Stretch(), now)
	whole := sources.Earlier(win.End(), now).Sub(win.Start)
	g := paint.Grid{Heads: []string{"", "SELECTED LANE", "", "", ""}, Right: []bool{false, false, true, true, false}}
	add := func(sign paint.Part, text string, part time.Duration, count, longest string) {
		g.Add(sign, paint.Plain(text), paint.Plain(share(part, whole)), paint.Plain(count), paint.Plain(longest))
	}
	var rest []func()
	if row.Leveled() {
		return levelLegend(sc, row, win, w, h)
	}
	if sum.Gaps > 0 {
		rest = append(rest, func() {
			sign, word := sc.Theme.Dim.Text(sc.Theme.Idle), "free"
			if lane.Trouble {
				sign, word = sc.Theme.Alarm.Text(sc.Theme.Crisis), "no leader"
			}
			longest := "longest " + sum.Longest.Text()
			if sum.Nobody.Min != sum.Longest.Min || sum.Nobody.Max != sum.Longest.Max {
				longest = "sum " + sum.Nobody.Bounds() + ", " + longest
			}
			add(sign, word, sum.Nobody.Min, paint.Count(sum.Gaps, "gap"), longest)
		})
	}
	if sum.Unseen > 0 {
		rest = append(rest, func() {
			add(sc.Theme.Dim.Text(sc.Theme.Dark), "not observed", sum.Unseen, "", format.Precise(sum.Unseen))
		})
	}
	if sum.Unread > 0 {
		rest = append(rest, func() {
			add(sc.Theme.Dim.Text(sc.Theme.Unknown), unreadWord(sc), sum.Unread, "", format.Precise(sum.Unread))
		})
	}
	shares := lane.Shares(win.Stretch(), now)
	room := max(h-1-len(rest), 1)
	for i, s := range shares {
		longest, more := "longest "+s.Longest.Text(), len(shares)-i
		if i == room-1 && i > 0 && more > 1 {
			g.Add(paint.Plain(""), sc.Theme.Dim.Text(paint.Count(more, "more owner")), paint.Plain(""), paint.Plain(""), paint.Plain(""))
			break
		}
		if room == 1 && more > 1 {
			longest += ", " + paint.Count(more-1, "more owner")
		}
		add(sc.Theme.OwnerLetter(s.Hue).Text(paint.Letter(s.Hue)), paint.CleanLabel(s.Label), s.Owned, paint.Count(s.Terms, "term"), longest)
		if room == 1 {
			break
		}
	}
	for _, f := range rest {
		f()
	}
	return g.Lines(&sc.Theme, w, 2)
}

// unreadWord is what is said of what was not read of a recording.
func unreadWord(sc *Scene) string {
	if sc.Time.ReadError != "" {
		return "could not be read"
	}
	return "being read"
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

// levelLegend sums up the count of a semaphore in what was observed of the window.
func levelLegend(sc *Scene, row *sources.Row, win timeline.Window, w, h int) []string {
	th, lane, end := &sc.Theme, LaneOf(sc, row), sources.Earlier(win.End(), DrawnTo(sc))
	var held, full time.Duration
	var weighted float64
	most, last := uint64(0), sources.Level{}
	count := func(l sources.Level, until time.Time) {
		d := lane.Observed(timeline.Span{From: sources.Later(l.At, win.Start), To: sources.Earlier(until, end)})
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
	lines := []string{th.Line(w).Skip(3).Put(th.Dim, "SELECTED LANE").Done()}
	sum := lane.Sum(win.Stretch(), end)
	hidden := func(sign, word string, d time.Duration) {
		if d > 0 {
			lines = append(lines, th.Line(w).Skip(4).Put(th.Dim, sign+" "+word+" ").Put("", format.Precise(d)).Done())
		}
	}
	if held == 0 {
		lines = append(lines, th.Line(w).Skip(4).Put(th.Dim, "nothing is known of this window").Done())
		hidden(th.Unknown, unreadWord(sc), sum.Unread)
		return lines[:min(len(lines), h)]
	}
	of := ""
	if row.Limited() {
		of = " of " + strconv.FormatUint(row.Limit, 10)
	}
	lines = append(lines, th.Line(w).Skip(4).Put("", strconv.FormatFloat(weighted/held.Seconds(), 'f', 1, 64)+of).Put(th.Dim, " taken on average, ").
		Put("", strconv.FormatUint(most, 10)).Put(th.Dim, " at most").Done())
	hidden(th.Dark, "not observed", sum.Unseen)
	hidden(th.Unknown, unreadWord(sc), sum.Unread)
	if row.Limited() {
		lines = append(lines, th.Line(w).Skip(4).Put(th.Warn, th.Full).Put(th.Dim, " full for ").Put("", format.Precise(full)).Put(th.Dim, ", "+share(full, held)+" of what was observed").Done())
	}
	return lines[:min(len(lines), h)]
}

// allSums is what the window of all lanes sums up to.
type allSums struct{ changes, vacant, gaps, unseen []paint.Part }

func sumsOfAll(sc *Scene) allSums {
	th, s := &sc.Theme, &sc.Time.All
	text := func(dim, plain string) []paint.Part { return []paint.Part{th.Dim.Text(dim), paint.Plain(plain)} }
	a := allSums{changes: text("changes ", format.Count(s.Changes)), vacant: text("   without a leader now "+format.Count(s.Vacant), "")}
	if a.vacant[0].Style = th.Bad; s.Vacant == 0 {
		a.vacant[0].Style, a.vacant[0].Yield = th.Dim, paint.Aside
	}
	if sc.Time.Summing {
		return allSums{changes: text("summing up", ""), vacant: a.vacant, gaps: text("", "")}
	}
	switch {
	case s.Gaps > 0:
		a.gaps = append(text("longest gap ", s.Longest.Text()), paint.Part{Text: " " + s.LongestOf, Yield: paint.Name}, paint.Part{Style: th.Dim, Text: "   all gaps " + s.Nobody.Bounds(), Yield: paint.Aside})
	case s.Unseen+s.Unread > 0:
		a.gaps = text("no gap seen", "")
	default:
		a.gaps = text("no gap", "")
	}
	if s.Unseen > 0 {
		a.unseen = text("not observed ", format.Precise(s.Unseen))
	}
	if s.Unread > 0 {
		if a.unseen != nil {
			a.unseen = append(a.unseen, paint.Plain("   "))
		}
		a.unseen = append(a.unseen, text(unreadWord(sc)+" ", format.Precise(s.Unread))...)
	}
	return a
}

// allInOneLine sums up the window of all lanes.
func allInOneLine(sc *Scene) []paint.Part {
	a, gap := sumsOfAll(sc), []paint.Part{paint.Plain("   ")}
	if a.unseen != nil {
		a.vacant[0].Text = "   no leader now " + format.Count(sc.Time.All.Vacant)
		a.unseen = slices.Concat(gap, a.unseen)
	}
	return slices.Concat([]paint.Part{sc.Theme.Dim.Text("ALL LANES  ")}, a.changes, a.vacant, a.unseen, gap, a.gaps)
}

// allLanes is allInOneLine in several lines.
func allLanes(sc *Scene, w int) []string {
	a := sumsOfAll(sc)
	lines := []string{sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "ALL LANES").Done()}
	facts := [][]paint.Part{append(a.changes, a.vacant...), a.gaps}
	if a.unseen != nil {
		facts = append(facts, append(a.unseen, paint.Plain(" of all lanes together")))
	}
	for _, f := range facts {
		l := sc.Theme.Line(w).Skip(4)
		putParts(l, sc.Theme.FitParts(f, w-4), w)
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
	return verdict.LeaderMissed(row) && row.Nobody.How != sources.Unknown
}
