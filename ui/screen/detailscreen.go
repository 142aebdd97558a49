package screen

import (
	"slices"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/timeline"
)

// rowEvents bounds the events of a row on its own screen.
const rowEvents = 200

// whyInFull is the most lines of the cause on the screen of one row.
const whyInFull = 8

// detailScreen draws everything about the row under the cursor.
func detailScreen(sc *Scene, w int) []string {
	row, v := sc.Selected()
	gap := sc.Theme.Line(w).Done()
	if row == nil {
		return []string{gap, sc.Theme.Line(w).Skip(1).Put(sc.Theme.Dim, "this row does not exist any more").Done()}
	}
	lines := []string{gap, detailTitle(sc, row, v, w, 0)}
	if why := whyLines(sc, w, whyInFull); len(why) > 0 {
		lines = append(append(lines, gap), why...)
	}
	for _, section := range [][]string{
		ownerTable(sc, row, v, w, true), waiterLines(sc, row, v, w, true), actionLines(sc, row, w), candidateLines(sc, row, w, true), ifReleased(sc, row, v, w),
		formerOwners(sc, row, w), sawtoothLines(sc, row, v, w), wideStrip(sc, row, w), ownersOverTime(sc, row, w), ownerFacts(sc, row, w), dataSections(sc, row, w),
		labelFacts(sc, row, w), eventsOfRow(sc, row, w, rowEvents),
	} {
		if len(section) > 0 {
			lines = append(append(lines, gap), section...)
		}
	}
	return lines
}

// wideStrip draws the row's strip over the whole width.
func wideStrip(sc *Scene, row *sources.Row, w int) []string {
	if len(row.Terms) == 0 && row.Nobody.At.IsZero() && row.Kind != sources.KindSemaphore {
		return nil
	}
	win := timeline.Fit(sc.Now, spanOf(sc, w-4), w-4)
	what := "OWNERS"
	if row.Kind == sources.KindSemaphore {
		what = "PERMITS TAKEN"
	}
	axis, strip := sc.Theme.Line(w).Skip(2), sc.Theme.Line(w).Skip(2)
	axis.Axis(win, sc.Now.Location())
	strip.Strip(cellsOf(sc, row, laneOf(sc, row), win, nil))
	title := what + " in the last " + format.Age(win.Span()) + ", 1 column = " + format.Age(win.Step)
	return titled(sc, title, []string{axis.Done(), strip.Done()}, w)
}

// dataSections draws the data of the row and of its owners.
func dataSections(sc *Scene, row *sources.Row, w int) []string {
	var lines []string
	show := func(title string, b sources.Blob) {
		if b.Len == 0 {
			return
		}
		first := paint.When(b.Len > len(b.Head), ", the first "+format.Count(len(b.Head)))
		title += ", " + paint.Count(b.Len, "byte") + first
		lines = append(lines, sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, title).Done())
		for _, s := range paint.BlobLines(b, w-4) {
			lines = append(lines, sc.Theme.Line(w).Skip(2).Put("", s).Done())
		}
	}
	show("DATA", row.Data)
	for i := range row.Owners {
		show("DATA of "+paint.CleanLabel(row.Owners[i].Label), row.Owners[i].Data)
	}
	return lines
}

// ownerFacts draws the backend's facts about each owner.
func ownerFacts(sc *Scene, row *sources.Row, w int) []string {
	var lines []string
	for i := range row.Owners {
		o := &row.Owners[i]
		attrs := o.Attrs
		if session := paint.Clean(o.Session); shortSession(sc, o.Session) != session {
			attrs = append(slices.Clone(attrs), sources.Attr{Key: "session", Value: session})
		}
		lines = append(lines, titled(sc, "FACTS of "+paint.CleanLabel(o.Label), factList(sc, attrs, w), w)...)
	}
	return lines
}

// titled adds a title above lines, if there are any.
func titled(sc *Scene, title string, lines []string, w int) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, title).Done()}, lines...)
}

// labelFacts draws the labels that the configuration gives the row.
func labelFacts(sc *Scene, row *sources.Row, w int) []string {
	return titled(sc, "LABELS", factList(sc, row.Labels, w), w)
}

// eventsOfRow lists at most n of the row's events.
func eventsOfRow(sc *Scene, row *sources.Row, w, n int) []string {
	var lines []string
	for e := range sc.Events.Newest {
		if e.Ref == row.Ref && len(lines) < n {
			l := sc.Theme.Line(w).Skip(2)
			drawEvent(sc, l, e, 0)
			lines = append(lines, l.Done())
		}
	}
	return titled(sc, "EVENTS of this row, newest first", lines, w)
}
