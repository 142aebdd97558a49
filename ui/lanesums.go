package ui

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/timeline"
)

// laneTotals are the sums of each lane in the last window that was summed up, and those of the recording.
type laneTotals struct {
	summed

	totals   map[sources.Ref]history.Total // of the recording, for lanes that were not read
	totalsOf timeline.Window
	totalsAt time.Time
	rest     time.Time     // when they were asked for; afterwards the time until which none are
	recorded []rows.Handle // of what they have and the list has not

	work  *summing // nil: none is under way
	asked bool     // a sumMsg is on its way
}

// freshTotals is the age up to which the sums of the recording are used.
const freshTotals = 10 * time.Second

// totalsIn returns the sums of the recording for a window; nil: they are of another one. Until others are read they
// are those of a window that has moved on since.
func (s *laneTotals) totalsIn(win timeline.Window) map[sources.Ref]history.Total {
	if of := s.totalsOf; of.Step != win.Step || of.Columns != win.Columns || win.Start.Sub(of.Start).Abs() > 4*win.Step {
		return nil
	}
	return s.totals
}

type summedLane struct {
	rows.Handle
	lane.Sum
}

// order returns the lanes that are to be seen, in an order.
func (s *laneTotals) order(changed bool, o screen.LaneOrder) []rows.Handle {
	lanes := slices.Clone(s.lanes)
	switch o {
	case screen.LanesByChanges:
		slices.SortStableFunc(lanes, func(a, b summedLane) int { return cmp.Compare(b.Changes, a.Changes) })
	case screen.LanesByGaps:
		slices.SortStableFunc(lanes, func(a, b summedLane) int { return cmp.Compare(b.Nobody.Min, a.Nobody.Min) })
	}
	var handles []rows.Handle
	for i := range lanes {
		if l := &lanes[i]; !changed || l.Changes > 0 || l.Gaps > 0 {
			handles = append(handles, l.Handle)
		}
	}
	return handles
}

const (
	summedLanes = 10_000 // are summed up at most
	sumChunk    = 500    // of them for one frame: none waits for more
	sumPace     = 1000   // lanes are summed up in a second where nothing but the time is another
)

// summing is the state of an unfinished summing up, which continues in the next frames.
type summing struct {
	summed
	listed []rows.Handle
	next   int
}

// summed are the sums of each lane in a window, with the time at which they were made.
type summed struct {
	window  timeline.Window
	at      time.Time
	lanes   []summedLane
	all     screen.Sums
	counted map[*sources.Row]int
	wanted  bool // those of the recording are not known for the window, or old
}

// sumMsg continues the summing up.
type sumMsg struct{}

// sumMore returns the command that continues it; nil: there is nothing to sum up.
func (t *timelinePart) sumMore() tea.Cmd {
	if t.sums.work == nil || t.sums.asked || t.scene.Shown != screen.Timeline {
		return nil
	}
	t.sums.asked = true
	return func() tea.Msg { return sumMsg{} }
}

// sumLanes sums up the window of all lanes when the window or the list has changed, and again as
// time passes.
func (t *timelinePart) sumLanes() {
	win, s := screen.TimeWindow(t.scene), &t.sums
	listed := t.lanes(summedLanes)
	pace := time.Duration(len(listed)/sumPace) * time.Second
	if t.scene.Time.Summing = win != s.window; t.scene.Time.Summing {
		t.scene.Time.Counted = nil
	} else if s.work == nil && t.scene.Now.Sub(s.at).Abs() <= pace && slices.EqualFunc(listed, s.lanes, func(h rows.Handle, l summedLane) bool { return h == l.Handle }) {
		return
	}
	if s.work == nil || s.work.window != win || !slices.Equal(s.work.listed, listed) {
		s.work = &summing{summed: summed{window: win, at: t.scene.Now, counted: make(map[*sources.Row]int, len(listed))}, listed: slices.Clone(listed)}
	}
	w := s.work
	for _, h := range w.listed[w.next:min(w.next+sumChunk, len(w.listed))] {
		if row, _ := t.scene.Rows.At(h); row != nil {
			t.sumLane(w, h, row)
		}
	}
	if w.next += sumChunk; w.next >= len(w.listed) {
		s.summed, s.work = w.summed, nil
		t.scene.Time.All, t.scene.Time.Counted, t.scene.Time.Summing = w.all, w.counted, false
	}
}

// sumLane adds a lane to the sums.
func (t *timelinePart) sumLane(w *summing, h rows.Handle, row *sources.Row) {
	s := &t.sums
	sum, unread := screen.SumLane(t.scene, row, w.window, s.totalsIn(w.window))
	l := summedLane{h, sum}
	w.wanted = w.wanted || unread && (s.totalsOf != w.window || t.scene.Clock.Sub(s.totalsAt) >= freshTotals)
	w.lanes, w.counted[row] = append(w.lanes, l), l.Changes
	if l.Longest.Min > w.all.Longest.Min || w.all.LongestOf == "" && l.Gaps > 0 {
		w.all.LongestOf = screen.NameOf(t.scene, row.Ref)
	}
	mostUnseen, mostUnread := max(w.all.Unseen, l.Unseen), max(w.all.Unread, l.Unread)
	w.all.Sum = w.all.Plus(l.Sum)
	w.all.Unseen, w.all.Unread = mostUnseen, mostUnread // of the window, not of lanes added up
	w.all.Vacant += screen.BoolInt(screen.Vacant(row))
}
