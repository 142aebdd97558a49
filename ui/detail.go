package ui

import (
	"strconv"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// detail draws the pane of the row under the cursor: what matters first, because the
// pane may be five lines high.
func (m *model) detail(w, h int) []string {
	row, v := m.selected()
	if row == nil {
		return m.th.blank(w, h)
	}
	lines := []string{m.detailTitle(row, v, w)}
	gap := m.th.line(w).done()
	if h >= 9 {
		lines = append(lines, gap)
	}
	for i, section := range [][]string{m.owners(row, v, w), m.waiters(row, w), m.ourActions(row, w), m.former(row, w), m.candidates(row, w), m.backendFacts(row, w)} {
		if i > 0 && len(section) > 0 && h >= 9 {
			lines = append(lines, gap)
		}
		lines = append(lines, section...)
	}
	return m.th.box(lines, w, h)
}

// detailTitle names the row, what it is, where it is, and its state as a word.
func (m *model) detailTitle(row *sources.Row, v verdict, w int) string {
	l := m.th.line(w).skip(1)
	where := strings.Join(m.place(row), " "+m.th.dot+" ")
	state := stateText(v) + m.pendingText(row.Ref)
	room := w - 5 - len(state)
	l.put(m.th.strong, m.th.cut(clean(row.Name), room)).skip(2)
	l.put(m.th.severityText(v.sev), state).skip(2).put(m.th.dim, where)
	return l.done()
}

// place says what a row is and where.
func (m *model) place(row *sources.Row) []string {
	place := []string{row.Kind.String(), clean(row.Source)}
	address := ""
	for i := range m.st.Sources {
		if s := &m.st.Sources[i]; s.Name == row.Source {
			address = clean(s.Address)
			place = append(place, address)
		}
	}
	if space := clean(row.Space); space != "" && !strings.HasSuffix(address, "/"+space) && space != address {
		place = append(place, space)
	}
	return place
}

// stateText is a row's state in words.
func stateText(v verdict) string {
	text := v.status.String()
	if v.flapping {
		text += ", flapping: " + count(int(v.changes), "change") + " in 1 h"
	}
	if v.waiting {
		text += ", long wait"
	}
	return text
}

// severityText is the style of a state's word.
func (t *theme) severityText(s severity) style {
	if s == sevWell {
		return t.good
	}
	return t.severity(s)
}

// owners is the owner table with what is known of each lease, or since when there is
// nobody.
func (m *model) owners(row *sources.Row, v verdict, w int) []string {
	if row.Note != "" {
		return []string{m.th.line(w).skip(2).put(m.th.warn, clean(row.Note)).done()}
	}
	if len(row.Owners) == 0 {
		return []string{m.nobody(row, v, w)}
	}
	g := grid{heads: []string{"", "OWNER", "SESSION", "MODE", "PERMITS", "FENCE", "SINCE", "", "LEASE", "DATA"},
		right: []bool{false, false, false, false, true, true, true, false, false, false}}
	for i := range row.Owners {
		m.ownerRow(&g, row, v, &row.Owners[i])
	}
	lines := g.lines(&m.th, w, 2)
	if len(row.Owners) == 1 {
		if note := m.leaseNote(row, v, w); note != "" {
			lines = append(lines, note)
		}
	}
	return lines
}

func (m *model) ownerRow(g *grid, row *sources.Row, v verdict, o *sources.Owner) {
	mark := part{"", " "}
	if hue, ok := ownerHue(row); ok && len(row.Owners) == 1 {
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
	g.add(mark, part{st, m.ownerLabel(row.Ref, o, 0)}, part{m.th.dim, clean(o.Session)}, part{m.th.dim, modeName(row, o.Mode)},
		part{st, permits(row, o.Permits)}, part{st, fence(o.Fence)}, part{st, m.age(o.Since)}, part{m.th.dim, m.instant(o.Since)},
		m.leaseText(o, v), part{st, dataHead(data)})
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

// instant is the time of day of a stamp, with how it is known.
func (m *model) instant(s sources.Stamp) string {
	if s.How == sources.Unknown || s.At.IsZero() {
		return ""
	}
	return m.timeOfDay(s.At) + " " + knownText(s.How)
}

// timeOfDay writes a time of today as hours, another one with its date.
func (m *model) timeOfDay(t time.Time) string {
	t = t.In(m.now.Location())
	if m.now.Sub(t) < 12*time.Hour || t.YearDay() == m.now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("Jan 2 15:04")
}

func (m *model) leaseText(o *sources.Owner, v verdict) part {
	switch {
	case v.status == sources.StatusStale:
		return part{m.th.dim, "old"}
	case o.NoExpiry && o.Session != "":
		return part{m.th.dim, "session"}
	case o.NoExpiry:
		return part{m.th.warn, "no TTL"}
	case o.Expires.How == sources.Unknown || o.Expires.At.IsZero():
		return part{m.th.dim, "?"}
	case o.Lease > 0:
		return part{"", format.Left(leaseLeft(o, m.now)) + " of " + format.Left(o.Lease)}
	}
	return part{"", format.Left(leaseLeft(o, m.now))}
}

// dataHead is the beginning of a value, on one line.
func dataHead(b sources.Blob) string {
	if b.Len == 0 {
		return ""
	}
	text := clean(string(b.Head))
	if b.Len > len(b.Head) {
		text += " (" + format.Count(b.Len) + " bytes)"
	}
	return text
}

// leaseNote says how well the lease is renewed; "" where nothing is known.
func (m *model) leaseNote(row *sources.Row, v verdict, w int) string {
	o, l := &row.Owners[0], m.th.line(w).skip(4)
	start := l.x
	say := func(st style, text string) {
		if l.x > start {
			l.put(m.th.dim, ", ")
		}
		l.put(st, text)
	}
	if v.status == sources.StatusStale {
		say(m.th.warn, "not heard of for "+format.Precise(m.now.Sub(row.At)))
	} else if !o.Renewed.At.IsZero() {
		say(m.th.dim, "renewed "+format.Precise(m.now.Sub(o.Renewed.At))+" ago")
	}
	if row.RenewEvery > 0 {
		say(m.th.dim, "usually every "+format.Precise(row.RenewEvery))
	}
	if n := row.Missed(m.now); n > 0 && v.status != sources.StatusStale {
		say(m.th.bad, count(n, "renewal")+" missed")
	}
	if row.LowestLease > 0 {
		say(m.th.dim, "lowest lease left "+format.Precise(row.LowestLease))
	}
	for _, a := range o.Attrs {
		say(m.th.dim, clean(a.Key)+" "+clean(a.Value))
	}
	if l.x == start {
		return ""
	}
	return l.done()
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
		l.put(st, "nobody owns it").put(m.th.dim, " for ").put("", m.age(row.Nobody))
		l.put(m.th.dim, ", since "+m.instant(row.Nobody))
	}
	return l.done()
}

// waiters is the queue in server order, as far as it is told.
func (m *model) waiters(row *sources.Row, w int) []string {
	l := m.th.line(w).skip(2).put(m.th.dim, "WAITING")
	q := &row.Queue
	switch {
	case q.How == sources.Unknown:
		return []string{l.put("", " ?").put(m.th.dim, "  this backend tells no queue").done()}
	case q.Len == 0:
		return []string{l.put(m.th.dim, " nobody").done()}
	}
	l.put("", " "+format.Count(q.Len)).put(m.th.dim, " in server order, read "+format.Precise(m.now.Sub(q.At))+" ago")
	if len(q.Waiters) == 0 {
		return []string{l.put(m.th.dim, ", not told who").done()}
	}
	return append([]string{l.done()}, m.waiterTable(q.Waiters, w, true)...)
}

// candidates are those that may take it, where they are seen.
func (m *model) candidates(row *sources.Row, w int) []string {
	if len(row.Candidates) == 0 {
		return nil
	}
	l := m.th.line(w).skip(2).put(m.th.dim, "CANDIDATES seen or probable")
	return append([]string{l.done()}, m.waiterTable(row.Candidates, w, false)...)
}

func (m *model) waiterTable(waiters []sources.Waiter, w int, ordered bool) []string {
	g := grid{heads: make([]string, 6), right: []bool{true, false, false, true, false, false}}
	for i := range waiters {
		q := &waiters[i]
		place, next := "", part{}
		if ordered {
			place = strconv.Itoa(i + 1)
			if i == 0 {
				next = part{m.th.accent, m.th.arrow + " next if released"}
			}
		}
		g.add(part{m.th.dim, place}, part{"", clean(q.Label)}, part{m.th.dim, clean(q.Session)}, part{"", m.age(q.Since)},
			part{m.th.dim, dataHead(q.Data)}, next)
	}
	return g.lines(&m.th, w, 2)[1:] // no heading: the line above says what they are
}

// formerTerms is how many terms before the running one are listed.
const formerTerms = 3

// former lists who owned it before and why they do not any more.
func (m *model) former(row *sources.Row, w int) []string {
	var lines []string
	for i := len(row.Terms) - 1; i >= 0 && len(lines) < formerTerms; i-- {
		t := &row.Terms[i]
		if t.End.At.IsZero() {
			continue
		}
		l := m.th.line(w).skip(2).put(m.th.ownerLetter(t.Hue), letter(t.Hue)).skip(1).put("", clean(t.Owner.Label)).skip(2)
		l.put(m.th.dim, m.timeOfDay(t.Start.At)+" to "+m.timeOfDay(t.End.At)).skip(2)
		l.put("", format.Age(t.End.At.Sub(t.Start.At))).skip(2).put(m.th.dim, m.cause(t.Cause, t.How))
		lines = append(lines, l.done())
	}
	if len(lines) == 0 {
		return nil
	}
	head := m.th.line(w).skip(2).put(m.th.dim, "BEFORE")
	if g := row.Gaps(m.now, changesSpan); g.Count > 0 {
		head.skip(2).put(m.th.dim, "nobody "+count(g.Count, "time")+" in 1 h, "+intervalText(g.Sum)+" in all, longest "+intervalText(g.Longest))
	}
	return append([]string{head.done()}, lines...)
}

// backendFacts are the row's own facts under the backend's names.
func (m *model) backendFacts(row *sources.Row, w int) []string {
	var facts []string
	for _, a := range row.Labels {
		facts = append(facts, clean(a.Key)+"="+clean(a.Value))
	}
	if len(facts) == 0 {
		return nil
	}
	return []string{m.th.line(w).skip(2).put(m.th.dim, strings.Join(facts, "  ")).done()}
}
