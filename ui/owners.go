package ui

import (
	"strconv"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// owners is the owner table with what is known of each lease, or since when there is
// nobody. long: with the backend's facts about an owner that is alone.
func (m *model) owners(row *sources.Row, v verdict, w int, long bool) []string {
	if row.Note != "" {
		return []string{m.th.line(w).skip(2).put(m.th.warn, clean(row.Note)).done()}
	}
	if len(row.Owners) == 0 {
		return []string{m.nobody(row, v, w)}
	}
	g := grid{heads: []string{"", "OWNER", "SESSION", "MODE", "PERMITS", "FENCE", "SINCE", "", "LEASE", "DATA"},
		right: []bool{4: true, 5: true, 6: true}, leave: []int{2, 7}}
	for i := range row.Owners {
		m.ownerRow(&g, row, v, &row.Owners[i])
	}
	lines := g.lines(&m.th, w, 2)
	if len(row.Owners) != 1 {
		return lines
	}
	if note := m.leaseNote(row, v, w); note != "" {
		lines = append(lines, note)
	}
	if facts := m.facts(row.Owners[0].Attrs, w, 4); long && len(facts) > 0 {
		lines = append(lines, facts[:min(len(facts), paneFacts)]...)
	}
	return lines
}

// paneFacts is how many lines of a backend's facts the pane shows.
const paneFacts = 3

func (m *model) ownerRow(g *grid, row *sources.Row, v verdict, o *sources.Owner) {
	mark := part{"", " "}
	if hue, ok := termHue(row, o.ID); ok {
		mark = part{m.th.ownerLetter(hue), letter(hue)}
	}
	st := style("")
	if v.sev == sevBlind {
		st = m.th.dim
	}
	data := o.Data
	if data.Len == 0 {
		data = row.Data
	}
	g.add(mark, part{st, m.ownerLabel(row.Ref, o, 0)}, part{m.th.dim, m.shortSession(o.Session)}, part{m.th.dim, modeName(row, o.Mode)},
		part{st, permits(row, o.Permits)}, part{st, fence(o.Fence)}, part{st, m.ageAt(o.Since, m.asOf(row, v))}, part{m.th.dim, m.instant(o.Since)},
		m.leaseText(o, v), part{st, dataHead(data)})
}

// shortSession is a session fit for a table: of one that is named by its beginning, only the
// time of day.
func (m *model) shortSession(session string) string {
	who, since, _ := strings.Cut(session, "@")
	if t, err := time.Parse(time.RFC3339Nano, since); err == nil {
		return clean(who) + "@" + m.timeOfDay(t)
	}
	return clean(session)
}

// modeName is shown only where an owner may share.
func modeName(row *sources.Row, mode sources.Mode) string {
	for i := range row.Owners {
		if row.Owners[i].Mode == sources.Shared {
			return mode.String()
		}
	}
	return ""
}

func permits(row *sources.Row, n uint64) string {
	if row.Kind != sources.KindSemaphore {
		return ""
	}
	return strconv.FormatUint(max(n, 1), 10)
}

func fence(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// dataHead is the beginning of a value, on one line.
func dataHead(b sources.Blob) string {
	if b.Len == 0 {
		return ""
	}
	text := clean(b.Head)
	if b.Len > len(b.Head) {
		text += " (" + format.Count(b.Len) + " bytes)"
	}
	return text
}

// nobody says since when there is no owner, or that it is not known.
func (m *model) nobody(row *sources.Row, v verdict, w int) string {
	l := m.th.line(w).skip(2)
	switch {
	case v.status == sources.StatusNotObserved:
		l.put(m.th.dim, "not read yet: nothing is known")
	case row.Nobody.At.IsZero():
		l.put(m.th.dim, "owner ?  this backend does not tell")
	default:
		st := m.th.dim
		if v.sev == sevBad {
			st = m.th.bad
		}
		l.put(st, "nobody owns it")
		for _, p := range m.forAgeAt(row.Nobody, m.asOf(row, v)) {
			l.put(p.st, p.text)
		}
		l.put(m.th.dim, ", since "+m.instant(row.Nobody))
	}
	return l.done()
}
