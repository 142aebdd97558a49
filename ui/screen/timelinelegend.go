package screen

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// timeLower draws the part below the lanes in h lines: the readout, the lease or the owners of permits of
// the selected lane on the axis of the lanes, and in the rest the legend and the terms of the lane.
func timeLower(sc *Scene, win timeline.Window, w, h int) []string {
	lines := timeReadout(sc, win, w)
	row := selectedLane(sc)
	if row == nil {
		return lines
	}
	switch room := max(h-len(lines)-4, 0); {
	case row.Leveled():
		lines = append(lines, ownerLanes(sc, row, win, w, min(room, maxOwnerLanes+1))...)
	case room > 0:
		lines = append(lines, leaseLane(sc, row, win, w)...)
	}
	if h-len(lines) > 6 {
		lines = append(lines, sc.Theme.Line(w).Done())
	}
	lines = append(lines, laneLegend(sc, row, win, w, min(h-len(lines), max((h-len(lines))/2, 7)))...)
	return append(lines, termTable(sc, row, win, w, h-len(lines))...)
}

// laneLegend draws, in at most h lines, the share of the window that each owner of the selected lane had,
// or the taken permits, and the shares that are unknown.
func laneLegend(sc *Scene, row *sources.Row, win timeline.Window, w, h int) []string {
	if h < 2 {
		return nil
	}
	th, lane, now := &sc.Theme, laneOf(sc, row), DrawnTo(sc)
	sum, whole := lane.Sum(win.Stretch(), now), sources.Earlier(win.End(), now).Sub(win.Start)
	line := func(sign paint.Part, texts ...string) []paint.Part {
		parts := []paint.Part{sign, {}, {}, {}, {}}
		for i, text := range texts {
			parts[i+1].Text = text
		}
		return parts
	}
	var rest [][]paint.Part
	if sum.Gaps > 0 && !row.Leveled() {
		sign, word := th.Dim.Text(th.Idle), "free"
		if lane.Trouble {
			sign, word = th.Alarm.Text(th.Crisis), "no leader"
		}
		longest := "longest " + sum.Longest.Text()
		if sum.Nobody.Min != sum.Longest.Min || sum.Nobody.Max != sum.Longest.Max {
			longest = "sum " + sum.Nobody.Bounds() + ", " + longest
		}
		rest = append(rest, line(sign, word, share(sum.Nobody.Min, whole), paint.Count(sum.Gaps, "gap"), longest))
	}
	recorded := QueryOf(sc, row).Holes(now)
	for why, d := range recorded.Unknowns(lane.Pieces(win.Stretch(), now)) {
		if d > 0 {
			rest = append(rest, line(th.Dim.Text(th.Dark), history.Why(why).String(), share(d, whole), "", format.Precise(d)))
		}
	}
	if sum.Unread > 0 {
		rest = append(rest, line(th.Dim.Text(th.Unknown), unreadWord(sc), share(sum.Unread, whole), "", format.Precise(sum.Unread)))
	}
	g := paint.Grid{Heads: []string{"", "SELECTED LANE", "", "", ""}, Right: []bool{2: true, 3: true}}
	if row.Leveled() {
		t := takenOf(sc, row, &lane, win)
		for _, texts := range t.texts(th, row, whole) {
			g.Add(line(th.Warn.Text(texts[0]), texts[1:]...)...)
		}
	} else {
		shares := lane.Shares(win.Stretch(), now)
		room := max(h-1-len(rest), 1)
		for i, s := range shares[:min(len(shares), room)] {
			longest := "longest " + s.Longest.Text()
			if more := len(shares) - room; i == room-1 && more > 0 {
				longest += ", " + paint.Count(more, "more owner")
			}
			g.Add(line(th.OwnerLetter(s.Hue).Text(paint.Letter(s.Hue)), paint.CleanLabel(s.Label), share(s.Owned, whole), paint.Count(s.Terms, "term"), longest)...)
		}
	}
	for _, parts := range rest {
		g.Add(parts...)
	}
	lines := g.Lines(th, w, 2)
	return lines[:min(len(lines), h)]
}

// unreadWord describes the parts of a recording that were not read.
func unreadWord(sc *Scene) string {
	if sc.Time.ReadError != "" {
		return "could not be read"
	}
	return "being read"
}

// share writes a part of a whole in percent: 0 only for nothing, 100 only for all.
func share(part, whole time.Duration) string {
	switch p := 100 * float64(part) / float64(whole); {
	case part <= 0 || whole <= 0:
		return "0 %"
	case part >= whole:
		return "100 %"
	case p < 1:
		return "<1 %"
	case p > 99:
		return ">99 %"
	default:
		return strconv.Itoa(int(p+0.5)) + " %"
	}
}

// taken sums up the taken permits of a semaphore in the observed parts of a window.
type taken struct {
	known, full time.Duration
	weighted    float64 // permits times seconds
	most        uint64
}

// texts returns the sums as cells of the legend. The first cell of a line is its sign.
func (t *taken) texts(th *paint.Theme, row *sources.Row, whole time.Duration) [][]string {
	if t.known == 0 {
		return [][]string{{"", "nothing is known of this window"}}
	}
	average, most := strconv.FormatFloat(t.weighted/t.known.Seconds(), 'f', 1, 64), strconv.FormatUint(t.most, 10)+" at most"
	if !row.Limited() {
		return [][]string{{"", "taken on average", average, "", most}}
	}
	return [][]string{
		{"", "taken on average", average + " of " + strconv.FormatUint(row.Limit, 10), "", most},
		{th.Full, "full for " + format.Precise(t.full), share(t.full, whole)},
	}
}

func takenOf(sc *Scene, row *sources.Row, lane *timeline.Lane, win timeline.Window) (t taken) {
	end, last := sources.Earlier(win.End(), DrawnTo(sc)), sources.Level{}
	count := func(l sources.Level, until time.Time) {
		d := lane.Observed(timeline.Span{From: sources.Later(l.At, win.Start), To: sources.Earlier(until, end)})
		if l.At.IsZero() || l.Gone || d <= 0 {
			return
		}
		t.known += d
		t.weighted += float64(l.Taken) * d.Seconds()
		t.most = max(t.most, l.High)
		if row.Limited() && l.High >= row.Limit {
			t.full += d
		}
	}
	for l := range QueryOf(sc, row).Levels() {
		count(last, l.At)
		last = l
	}
	count(last, end)
	return t
}

// allLanes sums up all lanes of the window in a line.
func allLanes(sc *Scene) []paint.Part {
	th, s := &sc.Theme, &sc.Time.All
	parts := []paint.Part{th.Dim.Text("ALL LANES  ")}
	say := func(dim, plain string) { parts = append(parts, th.Dim.Text(dim), paint.Plain(plain)) }
	if sc.Time.Summing {
		say("summing up", "")
		return parts
	}
	say("changes ", format.Count(s.Changes))
	vacant := th.Bad.Text("  no leader now " + format.Count(s.Vacant))
	if s.Vacant == 0 {
		vacant.Style, vacant.Yield = th.Dim, paint.Aside
	}
	parts = append(parts, vacant)
	if s.Unseen > 0 {
		say("  not known up to ", format.Precise(s.Unseen))
	}
	if s.Unread > 0 {
		say("  "+unreadWord(sc)+" ", format.Precise(s.Unread))
	}
	switch {
	case s.Gaps > 0:
		say("  longest gap ", s.Longest.Text())
		return append(parts, paint.Part{Text: " " + s.LongestOf, Yield: paint.Name}, paint.Part{Style: th.Dim, Text: "  all gaps " + s.Nobody.Bounds(), Yield: paint.Aside})
	case s.Unseen+s.Unread > 0:
		say("  no gap seen", "")
	default:
		say("  no gap", "")
	}
	return parts
}

// Vacant reports whether a row should have a leader and has none now.
func Vacant(row *sources.Row) bool {
	return verdict.LeaderMissed(row) && row.Nobody.How != sources.Unknown
}

// timeMark is a mark below the lanes.
type timeMark struct {
	at   time.Time
	sign paint.Part
	text string
}

// MarkKinds returns the kinds of events that have marks, and the kind that ends an outage.
func MarkKinds() []sources.EventKind {
	return []sources.EventKind{sources.EventAction, sources.EventNote, sources.EventSourceDown, sources.EventSourceUp, sources.EventRestarted, sources.EventClockStep}
}

// marked yields the events with marks: the recorded ones from before those in memory, and then these.
func marked(sc *Scene) iter.Seq[*sources.Event] {
	return func(yield func(*sources.Event) bool) {
		kinds, kept := MarkKinds(), sc.Events.Kept(sc.Started, sc.Now)
		for n, list := range [][]sources.Event{sc.Time.Marks, sc.Events.List} {
			for i := range list {
				if e := &list[i]; (n > 0 || e.At.Before(kept)) && slices.Contains(kinds, e.Kind) && !yield(e) {
					return
				}
			}
		}
	}
}

// timeMarks returns the marks in the window, oldest first: actions and notes, outages, restarts and clock
// steps, and the starts of coordtop.
func timeMarks(sc *Scene, win timeline.Window) []timeMark {
	var marks []timeMark
	inside := func(at time.Time) bool { return !at.Before(win.Start) && at.Before(win.End()) }
	down := map[string]bool{}
	for e := range marked(sc) {
		again := e.Kind == sources.EventSourceDown && down[e.Ref.Source] // the same outage, for another reason
		if e.Kind == sources.EventSourceDown || e.Kind == sources.EventSourceUp {
			down[e.Ref.Source] = e.Kind == sources.EventSourceDown
		}
		if !again && e.Kind != sources.EventSourceUp && inside(e.At) {
			marks = append(marks, markOf(sc, e))
		}
	}
	for _, r := range sc.Time.Runs {
		column := win.Column(r.From)
		if inside(r.From) && !r.From.After(DrawnTo(sc)) && !slices.ContainsFunc(marks, func(m timeMark) bool { return win.Column(m.at) == column }) {
			marks = append(marks, timeMark{r.From, sc.Theme.Dim.Text("S"), "coordtop started"})
		}
	}
	// An action is reported at its end, and may be recorded too.
	slices.SortStableFunc(marks, func(a, b timeMark) int { return a.at.Compare(b.at) })
	return slices.CompactFunc(marks, func(a, b timeMark) bool { return a.at.Equal(b.at) && a.text == b.text })
}

// markOf returns the mark of an event.
func markOf(sc *Scene, e *sources.Event) timeMark {
	th := &sc.Theme
	m := timeMark{at: e.At, text: paint.Clean(e.Detail)}
	switch e.Kind {
	case sources.EventAction:
		m.sign = th.Notice.Text(th.Acted)
		m.text, _, _ = strings.Cut(m.text, ":")
		if name := NameOf(sc, e.Ref); name != "" {
			m.text += " " + name
		}
	case sources.EventNote:
		m.sign = th.Accent.Text("M")
	case sources.EventSourceDown:
		m.sign, m.text = th.Warn.Text(th.Down), paint.Clean(e.Ref.Source)+" down"
	case sources.EventRestarted:
		m.sign, m.text = th.Warn.Text("R"), cmp.Or(paint.Clean(e.Ref.Source), "coordtop")+" restarted"
	case sources.EventClockStep:
		m.sign, m.text = th.Warn.Text("C"), "clock set"
	}
	return m
}

// drawMarks draws the line of marks: each at its column, with as much of its text as has room before the
// next one.
func drawMarks(sc *Scene, win timeline.Window, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "marks")
	start := 1 + laneNames(sc) + laneChanges
	marks := slices.CompactFunc(timeMarks(sc, win), func(a, b timeMark) bool { return win.Column(a.at) == win.Column(b.at) }) // the readout names all
	for i, m := range marks {
		x := start + win.Column(m.at)
		if x < l.X {
			continue // the text of another mark is there
		}
		l.To(x).Put(m.sign.Style, m.sign.Text)
		end := w
		if i+1 < len(marks) {
			end = max(start+win.Column(marks[i+1].at)-1, x+1)
		}
		if room := end - l.X - 1; room >= min(4, format.Width(m.text)) {
			l.Skip(1).Put(sc.Theme.Dim, sc.Theme.Cut(m.text, room))
		}
	}
	return l.Done()
}

// marksAt returns the marks in the column of the cursor with their texts.
func marksAt(sc *Scene, win timeline.Window) []paint.Part {
	var parts []paint.Part
	at := win.Column(CursorAt(sc))
	for _, m := range timeMarks(sc, win) {
		if win.Column(m.at) == at {
			parts = append(parts, paint.Plain("   "), m.sign, paint.Part{Text: " " + m.text, Yield: paint.Aside})
		}
	}
	return parts
}
