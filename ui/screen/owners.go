package screen

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// ownerTable draws the owners with their leases, or since when there is none. long: with the first
// facts of the backend about a single owner.
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
	mark := paint.Plain(" ")
	if hue, ok := termHue(row, o.ID); ok {
		mark = sc.Theme.OwnerLetter(hue).Text(paint.Letter(hue))
	}
	st := paint.When(v.Severity == verdict.Blind, sc.Theme.Dim)
	data := o.Data
	if data.Len == 0 {
		data = row.Data
	}
	dim := sc.Theme.Dim
	g.Add(mark, st.Text(ownerLabel(sc, row.Ref, o, 0)), dim.Text(shortSession(sc, o.Session)),
		dim.Text(modeName(row, o.Mode)), st.Text(permits(row, o.Permits)), st.Text(Fence(o.Fence)),
		st.Text(sc.Theme.Age(o.Since, asOf(sc, row, v))), dim.Text(paint.Instant(o.Since, sc.Now)),
		LeaseText(sc, o, v), st.Text(DataHead(data)))
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
