package screen

import (
	"strings"

	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// termTable lists the terms of the selected lane that touch the window, newest first, in at most h lines
// around the term at the cursor, which is marked. A semaphore has lanes of its owners instead.
func termTable(sc *Scene, row *sources.Row, win timeline.Window, w, h int) []string {
	if h < 4 || row.Leveled() {
		return nil
	}
	th, l, now, at := &sc.Theme, LaneOf(sc, row), DrawnTo(sc), CursorAt(sc)
	if !at.Before(now) {
		at = now.Add(-1)
	}
	owned := -1
	for _, p := range l.Pieces(timeline.Span{From: at, To: at.Add(1)}, now) {
		if p.Kind == lane.Owned {
			owned = p.Term
		}
	}
	var listed []int
	place := 0 // of the first that began before the cursor
	for i := len(l.Terms) - 1; i >= 0; i-- {
		t := &l.Terms[i]
		if !t.Start.At.Before(win.End()) || !t.End.At.IsZero() && !t.End.At.After(win.Start) {
			continue
		}
		if t.Start.At.After(at) {
			place++
		}
		listed = append(listed, i)
	}
	room := h - 2
	first := max(min(place-room/2, len(listed)-room), 0)
	more := len(listed) - room
	g := paint.Grid{Heads: []string{"", "TERMS", "FROM", "TO", "LENGTH", "ENDED", "GAP AFTER"}, Right: []bool{4: true}, Leave: []int{5, 6}}
	for _, i := range listed[first:min(first+room, len(listed))] {
		t := &l.Terms[i]
		end, length := termEnd(sc, &l, i)
		cells := []paint.Part{th.OwnerLetter(t.Hue).Text(paint.Letter(t.Hue)), paint.Plain(paint.CleanLabel(t.Owner.Label)), paint.Plain(exactTime(sc, t.Start)), paint.Plain(end), paint.Plain(length), {}, {}}
		if !t.End.At.IsZero() {
			gap, st := "not read", th.Dim
			if i+1 == len(l.Terms) || !unreadBetween(&l, t.End.At, l.Terms[i+1].Start.At) {
				gap, st = gapText(sc, &l, i)
			}
			cells[5], cells[6] = th.Dim.Text(causeOf(sc, row, t)), st.Text(strings.TrimPrefix(gap, "gap "))
		}
		mark := " "
		if i == owned {
			mark, cells[1].Style, cells[2].Style, cells[3].Style, cells[4].Style = ">", th.Strong, th.Strong, th.Strong, th.Strong
		}
		cells[0].Text = mark + cells[0].Text
		g.Add(cells...)
	}
	if len(listed) == 0 {
		return nil
	}
	lines := append([]string{th.Line(w).Done()}, g.Lines(th, w, 1)...)
	if more > 0 {
		lines[0] = th.Line(w).Skip(4).Put(th.Dim, paint.Count(more, "more term")+" in the window").Done()
	}
	return lines
}
