package ui

import (
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// detailPane draws the pane of the row under the cursor: what matters first, because the
// pane may be five lines high.
func detailPane(sc *scene, w, h int) []string {
	row, v := sc.selected()
	if row == nil {
		return sc.th.Blank(w, h)
	}
	lines := []string{detailTitle(sc, row, v, w)}
	gap := sc.th.Line(w).Done()
	if h >= 9 {
		lines = append(lines, gap)
	}
	sections := [][]string{ownerTable(sc, row, v, w, h >= 9), waiterLines(sc, row, v, w, false), actionLines(sc, row, w), ifReleased(sc, row, v, w)}
	if h >= 14 {
		sections = append(sections, sawtoothLines(sc, row, v, w))
	}
	sections = append(sections, formerOwners(sc, row, w), candidateLines(sc, row, w, false))
	for i, section := range sections {
		if i > 0 && len(section) > 0 && h >= 9 {
			lines = append(lines, gap)
		}
		lines = append(lines, section...)
	}
	return sc.th.Box(lines, w, h)
}

// detailTitle names the row, what it is, where it is, and its state as a word. Of a row
// that is stale it says up to when it is known.
func detailTitle(sc *scene, row *sources.Row, v rows.Verdict, w int) string {
	l := sc.th.Line(w).Skip(1)
	state := stateText(v) + pendingText(sc, row.Ref)
	if v.Status == sources.StatusStale {
		state += ", as of " + paint.TimeOfDay(row.KnownAt(sc.st, sc.now), sc.now)
	}
	room := w - 5 - len(state)
	first, second := paint.Clean(row.Name), aliasOf(sc, row)
	if second != "" && paint.Numeric(first) {
		first, second = second, first
	}
	l.Put(sc.th.Strong, sc.th.Cut(first, room)).Skip(2)
	if l.X+format.Width(second)+len(state)+4 <= w && second != "" {
		l.Put(sc.th.Dim, second).Skip(2)
	}
	return l.Put(sc.th.SeverityText(v.Severity), state).Skip(2).Put(sc.th.Dim, strings.Join(placeOf(sc, row), " "+sc.th.Dot+" ")).Done()
}

// placeOf says what a row is and where.
func placeOf(sc *scene, row *sources.Row) []string {
	place := []string{row.Kind.String(), paint.Clean(row.Source)}
	address := ""
	for i := range sc.st.Sources {
		if s := &sc.st.Sources[i]; s.Name == row.Source {
			address = paint.Clean(s.Address)
			place = append(place, address)
		}
	}
	if space := paint.Clean(row.Space); space != "" && !strings.HasSuffix(address, "/"+space) && space != address {
		place = append(place, space)
	}
	return place
}

// stateText is a row's state in words.
func stateText(v rows.Verdict) string {
	text := v.Status.String()
	if v.Flapping {
		text += ", flapping: " + paint.Count(int(v.Changes), "change") + " in 1 h"
	}
	if v.Waiting {
		text += ", long wait"
	}
	return text
}

// formerTerms is how many terms before the running one are listed.
const formerTerms = 3

// formerOwners lists who owned it before and why they do not any more.
func formerOwners(sc *scene, row *sources.Row, w int) []string {
	var lines []string
	for i := len(row.Terms) - 1; i >= 0 && len(lines) < formerTerms; i-- {
		t := &row.Terms[i]
		if t.End.At.IsZero() {
			continue
		}
		l := sc.th.Line(w).Skip(2).Put(sc.th.OwnerLetter(t.Hue), paint.Letter(t.Hue)).Skip(1).Put("", paint.CleanLabel(t.Owner.Label)).Skip(2)
		l.Put(sc.th.Dim, sc.th.Roughly(t.Start)+paint.TimeOfDay(t.Start.At, sc.now)+" to "+sc.th.Roughly(t.End)+paint.TimeOfDay(t.End.At, sc.now)).Skip(2)
		l.Put("", sc.th.TermLength(t)).Skip(2).Put(sc.th.Dim, sc.th.Cause(t.Cause, t.How))
		lines = append(lines, l.Done())
	}
	if len(lines) == 0 {
		return nil
	}
	head := sc.th.Line(w).Skip(2).Put(sc.th.Dim, "BEFORE")
	if g := row.Gaps(sc.st, sc.now, rows.ChangesSpan); g.Count > 0 {
		head.Skip(2).Put(sc.th.Dim, "nobody "+paint.Count(g.Count, "time")+" in 1 h, "+paint.IntervalText(g.Sum)+" in all, longest "+paint.IntervalText(g.Longest))
	}
	return append([]string{head.Done()}, lines...)
}
