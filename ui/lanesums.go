package ui

import (
	"cmp"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/timeline"
)

// summed is what was summed up of each lane in a window, and when.
type summed struct {
	window timeline.Window
	at     time.Time
	lanes  []summedLane

	totals   map[sources.Ref]history.Total // of the recording, for lanes that were not read
	totalsOf timeline.Window
	totalsAt time.Time
	wanted   bool // they are not known for the window, or old
}

// freshTotals is how long the sums of the recording are good enough.
const freshTotals = 10 * time.Second

// total is the sum of a lane that was not read, from those of the recording. Until others are read
// it is that of a window that has moved on since.
func (s *summed) total(row *sources.Row, sum timeline.Sum) timeline.Sum {
	of, win := s.totalsOf, s.window
	if s.totals == nil || of.Step != win.Step || of.Columns != win.Columns || win.Start.Sub(of.Start).Abs() > 4*win.Step {
		return sum
	}
	t, recorded := s.totals[row.Ref]
	switch {
	case !recorded:
		sum.Unseen, sum.Unread = sum.Unseen+sum.Unread, 0
		return sum
	case rows.LeaderMissed(row):
		return timeline.Sum{Changes: t.Changes, Gaps: t.Gaps, Nobody: t.Nobody, Longest: t.Longest, Unseen: t.Unseen}
	}
	return timeline.Sum{Changes: t.Changes, Unseen: t.Unseen}
}

type summedLane struct {
	rows.Handle
	timeline.Sum
}

// order returns the lanes that are to be seen, in an order.
func (s *summed) order(changed bool, o screen.LaneOrder) []rows.Handle {
	lanes := slices.Clone(s.lanes)
	switch o {
	case screen.LanesByChanges:
		slices.SortStableFunc(lanes, func(a, b summedLane) int { return cmp.Compare(b.Changes, a.Changes) })
	case screen.LanesByGaps:
		slices.SortStableFunc(lanes, func(a, b summedLane) int { return cmp.Compare(b.Nobody, a.Nobody) })
	}
	var handles []rows.Handle
	for i := range lanes {
		if l := &lanes[i]; !changed || l.Changes > 0 || l.Gaps > 0 {
			handles = append(handles, l.Handle)
		}
	}
	return handles
}

// summedLanes is how many lanes are summed up at most: no frame waits for more.
const summedLanes = 10_000

// sumLanes sums up the window of all lanes, once a second and where the window or the list is
// another.
func (m timelineScreen) sumLanes() {
	win, s := screen.TimeWindow(&m.Scene), &m.summed
	listed := m.Rows.Handles[:min(len(m.Rows.Handles), summedLanes)]
	if win == s.window && m.Now.Equal(s.at) && slices.EqualFunc(listed, s.lanes, func(h rows.Handle, l summedLane) bool { return h == l.Handle }) {
		return
	}
	s.window, s.at, s.lanes, s.wanted = win, m.Now, s.lanes[:0], false
	old := s.totalsOf != win || m.Clock.Sub(s.totalsAt) >= freshTotals
	all, counted := screen.Sums{}, make(map[*sources.Row]int, len(listed))
	for _, h := range listed {
		row, _ := m.Rows.At(h)
		if row == nil {
			continue
		}
		l := summedLane{h, screen.SumLane(&m.Scene, row)}
		if l.Unread > 0 {
			s.wanted = s.wanted || old
			l.Sum = s.total(row, l.Sum)
		}
		s.lanes, counted[row] = append(s.lanes, l), l.Changes
		all.Changes += l.Changes
		all.Gaps += l.Gaps
		all.Nobody += l.Nobody
		all.Unseen += l.Unseen
		all.Unread += l.Unread
		if l.Longest > all.Longest {
			all.Longest, all.LongestOf = l.Longest, paint.Clean(row.Name)
		}
		all.Vacant += screen.BoolInt(screen.Vacant(row))
	}
	m.Time.All, m.Time.Counted = all, counted
}
