package screen

import (
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/sources/verdict"
	"coordtop/ui/cursor"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/timeline"
)

// TimelineState is the state of the Timeline screen.
type TimelineState struct {
	Lanes   cursor.List[rows.Handle]
	Beside  rows.Handle   // the row of the list while the cursor is on a lane that exists in a recording only
	Step    time.Duration // of a column; 0: the shortest one that fits the known time, up to UsualSpan
	End     time.Time     // of the window; zero: it follows the present
	At      time.Time     // of the cursor; zero: the present
	Swapped bool          // legend and lanes have exchanged their lines
	Changed bool          // only lanes that changed in the window
	Order   LaneOrder
	All     Sums
	Summing bool                 // All is of another window: the sums of this one are not ready
	Counted map[*sources.Row]int // changes in the window, of the versions of rows that were summed up

	Reads     bool                          // there is a recording, whose visible part is read
	ReadError string                        // why it cannot be read; "": it can
	Past      map[sources.Ref]*history.Past // the parts that were read
	Marks     []sources.Event               // recorded events with marks, from before those in memory
	MarksOf   history.Span                  // of Marks
	Runs      []history.Run                 // of the recorder
	Since     time.Time                     // the first known time within the last UsualSpan; zero: nothing was read
}

// LaneOrder is the order of the lanes.
type LaneOrder uint8

// The orders of lanes.
const (
	LanesAsList LaneOrder = iota
	LanesByChanges
	LanesByGaps
)

// String returns the name of the order in the header.
func (o LaneOrder) String() string {
	return [...]string{"as the list", "most changes first", "longest without a leader first"}[o]
}

// Sums sums up the window of all lanes.
type Sums struct {
	lane.Sum         // Unseen and Unread are the greatest of one lane
	Vacant    int    // lanes without a leader now that should have one
	LongestOf string // the lane with the longest gap
}

// laneChanges is the width of the number of changes, with the blanks around it.
const laneChanges = 7

// laneNames returns the width of the names of lanes.
func laneNames(sc *Scene) int {
	w := sc.Layout.Width
	return max(min(sc.longest.name, max(w/6, 18)), min(12, w))
}

// laneColumns returns the number of columns of time beside the names.
func laneColumns(sc *Scene) int {
	return max(sc.Layout.Width-laneNames(sc)-laneChanges-2, 1)
}

// TimeWindow returns the window of the Timeline.
func TimeWindow(sc *Scene) timeline.Window {
	n, step := laneColumns(sc), sc.Time.Step
	if step == 0 {
		step = timeline.Fit(stripsAt(sc), usualSpan(sc), n).Step
	}
	if sc.Time.End.IsZero() {
		return timeline.Following(stripsAt(sc), step, n)
	}
	return timeline.Ending(sc.Time.End.Add(-1), step, n)
}

// usualSpan returns the length that is shown by default: the time that was observed or recorded, up to
// UsualSpan.
func usualSpan(sc *Scene) time.Duration {
	since := observedSince(sc)
	if !sc.Time.Since.IsZero() {
		since = sources.Earlier(since, sc.Time.Since)
	}
	return min(sc.Now.Sub(since), UsualSpan)
}

// CursorAt returns the instant under the cursor.
func CursorAt(sc *Scene) time.Time {
	if sc.Time.At.IsZero() {
		return DrawnTo(sc)
	}
	return sc.Time.At
}

// DrawnTo returns the end of the lanes.
func DrawnTo(sc *Scene) time.Time { return sources.Later(sc.Now, sc.State.At) }

// timeLayout holds the numbers of lines of the Timeline. The lower part has two lines of readout, and
// more if there is room.
type timeLayout struct {
	lanes, lower int
	ruled        bool // there is a rule above the lanes
}

// On a screen of at least lanesFirst lines the legend is left out as long as manyLanes lanes have no room
// beside it.
const (
	lanesFirst = 48
	manyLanes  = 40
)

func layTime(sc *Scene) timeLayout {
	h := sc.Layout.Body()
	if sc.Layout.Small {
		return timeLayout{lanes: max(h-2, 0), lower: min(h, 1)}
	}
	room, legend := h-6, min(max(h/5, 5), 9) // two rules, the times, the marks and the readout
	if first := sc.Layout.Height >= lanesFirst && room-legend < manyLanes; first != sc.Time.Swapped {
		legend = 0
	}
	lanes := max(sc.Time.Lanes.Len(), 4)
	l := timeLayout{lanes: min(lanes, room-legend), ruled: legend > 0 || lanes <= room}
	l.lower = h - l.lanes - 4
	if !l.ruled {
		l.lanes, l.lower = l.lanes+1, 2
	}
	return l
}

// LaneRows returns the greatest number of visible lanes.
func LaneRows(sc *Scene) int { return layTime(sc).lanes }

// timelineScreen draws a lane for each row, and the facts at the cursor below.
func timelineScreen(sc *Scene) Frame {
	w := sc.Layout.Width
	win := TimeWindow(sc)
	layout := layTime(sc)
	var lines []string
	if layout.ruled {
		lines = append(lines, sc.Theme.Line(w).Rule().Done())
	}
	axis := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "LANE").To(1+laneNames(sc)).Right(sc.Theme.Dim, "CHG", laneChanges-2).Skip(2)
	axis.Times(win, sc.Now.Location(), stripsAt(sc), sc.Time.End.IsZero())
	lines = append(lines, axis.Done())
	lines = append(lines, sc.Theme.Box(drawLanes(sc, win, w), w, layout.lanes)...)
	if sc.Layout.Small {
		return fixed(sc, append(lines, sc.Theme.Box(timeReadout(sc, win, w)[1:], w, layout.lower)...))
	}
	rule, more := sc.Theme.Line(w).Put(sc.Theme.Dim, sc.Theme.Rule).Skip(1), " "+sc.Keys.KeyIn(keys.InTimeline, keys.Legend)+" legend "
	rule.Fit(allLanes(sc), w-2).Skip(1)
	if n := w - 2 - format.Width(more) - rule.X; n > 0 {
		rule.Put(sc.Theme.Dim, strings.Repeat(sc.Theme.Rule, n)+more)
	}
	lines = append(lines, drawMarks(sc, win, w), rule.Rule().Done())
	return fixed(sc, append(lines, sc.Theme.Box(timeLower(sc, win, w, layout.lower), w, layout.lower)...))
}

// drawLanes draws the visible lanes, or why there are none.
func drawLanes(sc *Scene, win timeline.Window, w int) []string {
	if sc.Time.Lanes.Len() == 0 {
		if sc.Time.Changed && len(sc.Rows.Handles) > 0 {
			text := "no lane changed in this window: " + sc.Keys.KeyIn(keys.InTimeline, keys.OnlyChanged) + " shows all"
			return []string{sc.Theme.Line(w).Done(), sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, text).Done()}
		}
		return emptyLocks(sc, w)
	}
	selected, _ := sc.Time.Lanes.Selected()
	cursor := -1
	if !sc.Time.At.IsZero() {
		cursor = win.Column(sc.Time.At)
	}
	var lines []string
	var cells []timeline.Cell
	for _, h := range sc.Time.Lanes.Visible() {
		row, v := sc.Rows.At(h)
		if row == nil {
			continue
		}
		l, lane := laneHead(sc, row, v, win, w, h == selected), laneOf(sc, row)
		lane.Halves = true
		cells = cellsOf(sc, row, lane, win, cells)
		l.StripAt(cells, cursor)
		lines = append(lines, l.Done())
	}
	return lines
}

// laneHead begins the line of a lane with its name and the number of changes.
func laneHead(sc *Scene, row *sources.Row, v verdict.Verdict, win timeline.Window, w int, selected bool) *paint.Line {
	l := sc.Theme.Line(w)
	names, st := laneNames(sc), paint.When(v.Severity == verdict.Blind, sc.Theme.Dim)
	name := NameOf(sc, row.Ref)
	if alias := AliasOf(sc, row); alias != "" && paint.Numeric(name) {
		name = alias
	}
	l.Cursor(selected).Cell(st, sc.Theme.FitName(name, names), names)
	l.Over = ""
	n, ok := sc.Time.Counted[row]
	if !ok {
		sum, _ := SumLane(sc, row, win, nil)
		n = sum.Changes
	}
	return l.Right(sc.Theme.Dim, format.Count(n), laneChanges-2).Skip(2)
}

// shownTime describes, in at most room cells, the window of the lanes, their order, and whether they follow
// the present.
func shownTime(sc *Scene, room int) []paint.Part {
	th, win := &sc.Theme, TimeWindow(sc)
	follow := th.Good.Text("on")
	if !sc.Time.End.IsZero() {
		follow = th.Warn.Text("off")
	}
	dot := th.Dim.Text(" " + th.Dot + " ")
	parts := []paint.Part{th.Dim.Text("follow "), follow}
	for _, p := range [][]paint.Part{
		{th.Dim.Text("window "), paint.Plain(format.Age(win.Span()))},
		{th.Dim.Text("1 column = "), paint.Plain(format.Age(win.Step))},
		{th.Dim.Text(sc.Time.Order.String())},
	} {
		if p[0].Text == LanesAsList.String() || paint.PartsWidth(parts)+paint.PartsWidth(p)+3 > room {
			continue
		}
		parts = append(append(p, dot), parts...)
	}
	if sc.Time.Changed {
		parts = append([]paint.Part{th.Warn.Text("only changed"), dot}, parts...)
	}
	return parts
}
