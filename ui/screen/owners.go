package screen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// ownerTable draws the owners with their leases. Without an owner it draws the time since the last one. long: with the
// first facts of the backend about a single owner.
func ownerTable(sc *Scene, row *sources.Row, v verdict.Verdict, w int, long bool) []string {
	if row.Note != "" {
		return []string{sc.Theme.Line(w).Skip(2).Put(sc.Theme.Warn, paint.Clean(row.Note)).Done()}
	}
	if len(row.Owners) == 0 {
		return []string{nobodyLine(sc, row, v, w)}
	}
	g := paint.Grid{Heads: []string{"", "OWNER", "SESSION", "MODE", "PERMITS", "FENCE", "SINCE", "", "LEASE", "DATA"},
		Right: []bool{4: true, 5: true, 6: true}, Leave: []int{2, 7}}
	for i := range row.Owners {
		addOwner(sc, &g, row, v, &row.Owners[i])
	}
	lines := g.Lines(&sc.Theme, w, 2)
	if len(row.Owners) != 1 {
		return lines
	}
	lines = append(lines, leaseNote(sc, row, v, w)...)
	if facts := factLines(sc, row.Owners[0].Attrs, w, 4); long && len(facts) > 0 {
		lines = append(lines, facts[:min(len(facts), paneFacts)]...)
	}
	return lines
}

// paneFacts is the number of lines of facts below an owner.
const paneFacts = 3

func addOwner(sc *Scene, g *paint.Grid, row *sources.Row, v verdict.Verdict, o *sources.Owner) {
	st := paint.When(v.Severity == verdict.Blind, sc.Theme.Dim)
	data := o.Data
	if data.Len == 0 {
		data = row.Data
	}
	dim := sc.Theme.Dim
	g.Add(ownerMark(sc, row, o), st.Text(ownerLabel(sc, row.Ref, o, 0)), dim.Text(shortSession(sc, o.Session)),
		dim.Text(modeName(row, o.Mode)), st.Text(permits(row, o.Permits)), st.Text(Fence(o.Fence)),
		st.Text(sc.Theme.Age(o.Since, asOf(sc, row, v))), dim.Text(paint.Instant(o.Since, sc.Now)),
		LeaseText(sc, o, v), st.Text(DataHead(data)))
}

// ownerMark returns the letter of an owner; a blank for an owner without a letter.
func ownerMark(sc *Scene, row *sources.Row, o *sources.Owner) paint.Part {
	if hue, ok := termHue(row, o.ID); ok {
		return sc.Theme.OwnerLetter(hue).Text(paint.Letter(hue))
	}
	return paint.Plain(" ")
}

// shortSession returns a session for a table. If the time of its beginning is part of its name, only the
// time of day is kept of it.
func shortSession(sc *Scene, session string) string {
	who, since, _ := strings.Cut(session, "@")
	if t, err := time.Parse(time.RFC3339Nano, since); err == nil {
		return paint.Clean(who) + "@" + paint.TimeOfDay(t, sc.Now)
	}
	return paint.Clean(session)
}

// modeName returns a mode; "" if no owner is in shared mode.
func modeName(row *sources.Row, mode sources.Mode) string {
	mixed := slices.ContainsFunc(row.Owners, func(o sources.Owner) bool { return o.Mode == sources.Shared })
	return paint.When(mixed, mode.String())
}

// permits writes a number of permits; "" for rows that are not semaphores.
func permits(row *sources.Row, n uint64) string {
	return paint.When(row.Kind == sources.KindSemaphore, strconv.FormatInt(sources.Permits(max(n, 1)), 10))
}

// Fence writes a fencing number; "": none.
func Fence(n uint64) string { return paint.When(n != 0, strconv.FormatUint(n, 10)) }

// DataHead returns the beginning of a value, on one line.
func DataHead(b sources.Blob) string {
	if b.Len == 0 {
		return ""
	}
	text := paint.Clean(b.Head)
	if b.Len > len(b.Head) {
		text += " (" + format.Count(b.Len) + " bytes)"
	}
	return text
}

// nobodyLine tells since when there is no owner, or that this is unknown.
func nobodyLine(sc *Scene, row *sources.Row, v verdict.Verdict, w int) string {
	l := sc.Theme.Line(w).Skip(2)
	switch {
	case v.Status == sources.StatusNotObserved:
		l.Put(sc.Theme.Dim, "not read yet: nothing is known")
	case row.Nobody.At.IsZero():
		l.Put(sc.Theme.Dim, "owner ?  this backend does not tell")
	default:
		st := sc.Theme.Dim
		if v.Severity == verdict.Bad {
			st = sc.Theme.Bad
		}
		l.Put(st, "nobody owns it")
		l.Parts(sc.Theme.ForAge(row.Nobody, asOf(sc, row, v))...)
		l.Put(sc.Theme.Dim, ", since "+paint.Instant(row.Nobody, sc.Now))
	}
	return l.Done()
}

// maxOwnerLanes bounds the owners of a semaphore that have lanes of their own.
const maxOwnerLanes = 16

// ownerLane is the time in which one program owned permits.
type ownerLane struct {
	hue   uint8
	label string
	terms []sources.Term // without overlaps
	owned time.Duration  // in the window
}

// ownerLanes draws when each owner of a semaphore owned permits, in at most h lines: the owners that
// owned permits longest in the window.
func ownerLanes(sc *Scene, row *sources.Row, win timeline.Window, w, h int) []string {
	lanes := lanesOfOwners(sc, row, win)
	if len(lanes) == 0 || h < 1 {
		return nil
	}
	var lines []string
	_, since := QueryOf(sc, row).Owners()
	whole := laneOf(sc, row)
	lane := timeline.Lane{Halves: true}
	lane.Since, lane.Dark, lane.Unread = since, whole.Dark, whole.Unread
	for i := range lanes {
		if left := len(lanes) - i; i == h-1 && left > 1 {
			return append(lines, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, paint.Count(left, "more owner")).Done())
		}
		o := &lanes[i]
		l := sc.Theme.Line(w).Skip(2).Put(sc.Theme.OwnerLetter(o.hue), paint.Letter(o.hue)).Skip(1)
		names := laneNames(sc) - 3
		l.Cell("", sc.Theme.FitWords(paint.CleanLabel(o.label), names), names).Right(sc.Theme.Dim, format.Count(len(o.terms)), laneChanges-2).Skip(2)
		lane.Terms = o.terms
		l.Strip(win.Strip(nil, lane, DrawnTo(sc)))
		lines = append(lines, l.Done())
	}
	return lines
}

// ownersOverTime draws when each owner of a semaphore owned permits, up to now.
func ownersOverTime(sc *Scene, row *sources.Row, w int) []string {
	if !row.Leveled() {
		return nil
	}
	n := laneColumns(sc)
	win := timeline.Fit(sc.Now, spanOf(sc, n), n)
	lanes := ownerLanes(sc, row, win, w, maxOwnerLanes+1)
	if len(lanes) == 0 {
		return nil
	}
	axis := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "OWNERS").To(1+laneNames(sc)).Right(sc.Theme.Dim, "TERMS", laneChanges-2).Skip(2)
	axis.Times(win, sc.Now.Location(), sc.Now, true)
	return append([]string{axis.Done()}, lanes...)
}

// lanesOfOwners returns the lanes of a semaphore's owners in the window, the one that owned permits
// longest first. Terms of one owner that overlap are joined.
func lanesOfOwners(sc *Scene, row *sources.Row, win timeline.Window) []ownerLane {
	terms, _ := QueryOf(sc, row).Owners()
	slices.SortStableFunc(terms, func(a, b sources.Term) int { return a.Start.At.Compare(b.Start.At) })
	var lanes []ownerLane
	at := map[uint8]int{}
	for _, t := range terms {
		i, ok := at[t.Hue]
		if !ok {
			i = len(lanes)
			at[t.Hue] = i
			lanes = append(lanes, ownerLane{hue: t.Hue})
		}
		o := &lanes[i]
		o.label = t.Owner.Label
		if n := len(o.terms) - 1; n >= 0 && (o.terms[n].End.At.IsZero() || !o.terms[n].End.At.Before(t.Start.At)) {
			if last := &o.terms[n]; !last.End.At.IsZero() && (t.End.At.IsZero() || t.End.At.After(last.End.At)) {
				last.End = t.End
			}
			continue
		}
		o.terms = append(o.terms, t)
	}
	for i := range lanes {
		whole := lane.Lane{Terms: lanes[i].terms, Since: win.Start}
		for _, s := range whole.Shares(win.Stretch(), DrawnTo(sc)) {
			lanes[i].owned = s.Owned
		}
	}
	lanes = slices.DeleteFunc(lanes, func(o ownerLane) bool { return o.owned == 0 })
	slices.SortStableFunc(lanes, func(a, b ownerLane) int {
		return cmp.Or(cmp.Compare(b.owned, a.owned), cmp.Compare(a.hue, b.hue))
	})
	return lanes
}

// leaseLane draws the lowest time left of the selected lane's lease in each column; nil if no lease is
// told.
func leaseLane(sc *Scene, row *sources.Row, win timeline.Window, w int) []string {
	if !leased(row) {
		return nil
	}
	fills := leaseFills(sc, row, win, sources.Earlier(DrawnTo(sc), win.End()))
	l := sc.Theme.Line(w).Skip(1).Cell(sc.Theme.Dim, "lease left", laneNames(sc)).Right(sc.Theme.Dim, format.Age(row.Owners[0].Lease), laneChanges-2).Skip(2)
	teeth(sc, l, row, fills, win)
	return []string{l.Done()}
}

// termTable lists the terms of the selected lane that touch the window, newest first, in at most h lines
// around the term at the cursor, which is marked. A semaphore has lanes of its owners instead.
func termTable(sc *Scene, row *sources.Row, win timeline.Window, w, h int) []string {
	if h < 4 || row.Leveled() {
		return nil
	}
	th, l, now, at := &sc.Theme, laneOf(sc, row), DrawnTo(sc), CursorAt(sc)
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
