package ui

import (
	"strconv"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/timeline"
)

// list draws the heading and the visible rows of the table, or why there are none.
func (m *model) list(w, rows int) []string {
	win := timeline.Fit(m.now, m.span(), m.columns[colStrip])
	lines := append(make([]string, 0, rows+1), m.heading(w, win))
	if m.tbl.Len() == 0 {
		return m.th.box(append(lines, m.empty(w)...), w, rows+1)
	}
	selected, _ := m.tbl.Selected()
	for _, h := range m.tbl.Visible() {
		row, v := m.idx.at(h)
		if row == nil {
			continue
		}
		lines = append(lines, m.row(w, row, v, h == selected, win))
	}
	return m.th.box(lines, w, rows+1)
}

func (m *model) heading(w int, win timeline.Window) string {
	c, l, dim := &m.columns, m.th.line(w), m.th.dim
	l.skip(markWidth).cell(dim, "NAME", c[colName])
	head := func(col column, text string, right bool) {
		if c[col] == 0 {
			return
		}
		l.skip(columnGap[col])
		if right {
			l.right(dim, text, c[col])
			return
		}
		l.cell(dim, text, c[col])
	}
	head(colSource, "SOURCE", false)
	head(colKind, "KIND", false)
	head(colOwner, "  OWNER", false)
	head(colSince, "SINCE", true)
	head(colLease, "LEASE", false)
	head(colWait, "WAIT", true)
	head(colChanges, "CHG", true)
	if c[colStrip] > 0 {
		l.skip(columnGap[colStrip])
		m.axis(l, win)
	}
	return l.done()
}

// row draws one row of the list.
func (m *model) row(w int, row *sources.Row, v verdict, selected bool, win timeline.Window) string {
	c, l := &m.columns, m.th.line(w)
	plain := style("")
	if v.sev == sevBlind {
		plain = m.th.dim
	}
	cursor := " "
	if selected {
		l.over, cursor = m.th.selected, m.th.cursor
	}
	mark, st := m.th.marks[v.sev], m.th.severity(v.sev)
	under := m.under(row.Ref) != nil
	if under {
		mark, st = m.th.pending, m.th.accent
	}
	l.put("", cursor).put(st, mark)
	if m.marks[row.Ref] {
		l.put(m.th.accent, m.th.marked)
	} else {
		l.skip(1)
	}
	m.name(l, row, c[colName])
	m.put(l, colSource, m.th.dim, clean(row.Source))
	m.put(l, colKind, m.th.dim, row.Kind.String())
	l.skip(columnGap[colOwner])
	m.owner(l, row, v, plain, under)
	m.putRight(l, colSince, plain, m.since(row, v))
	if c[colLease] > 0 {
		l.skip(columnGap[colLease])
		m.lease(l, row, v)
	}
	wait, st := m.wait(row, v)
	m.putRight(l, colWait, st, wait)
	st = m.th.dim
	if v.changes > 0 && v.sev != sevBlind {
		st = ""
	}
	m.putRight(l, colChanges, st, changesText(v))
	l.over = ""
	if c[colStrip] > 0 {
		l.skip(columnGap[colStrip])
		m.strip(l, row, win)
	}
	return l.done()
}

func (m *model) put(l *line, col column, st style, text string) {
	if n := m.columns[col]; n > 0 {
		l.skip(columnGap[col]).cell(st, text, n)
	}
}

func (m *model) putRight(l *line, col column, st style, text string) {
	if n := m.columns[col]; n > 0 {
		l.skip(columnGap[col]).right(st, text, n)
	}
}

// severity is the style of a state's mark.
func (t *theme) severity(s severity) style {
	switch s {
	case sevBad:
		return t.bad
	case sevWarn:
		return t.warn
	}
	return t.dim
}

// owner draws who owns the row, or the word for nobody.
func (m *model) owner(l *line, row *sources.Row, v verdict, plain style, under bool) {
	w := m.columns[colOwner]
	word := func(st style, text string) { l.skip(2).cell(st, text, w-2) }
	switch {
	case row.Note != "":
		word(m.th.dim, clean(row.Note))
	case len(row.Owners) == 1:
		if hue, ok := ownerHue(row); ok {
			l.put(m.th.ownerLetter(hue), letter(hue)).skip(1)
		} else {
			l.skip(2)
		}
		l.cell(plain, m.ownerLabel(row.Ref, &row.Owners[0], w-2), w-2)
	case len(row.Owners) > 1:
		word(plain, count(len(row.Owners), "owner"))
	case row.Taken > 0: // a count is all that is told
		word(plain, "taken by ?")
	case under:
		word(m.th.accent, "pending")
	case v.sev == sevBad:
		word(m.th.bad, v.status.String())
	default:
		word(m.th.dim, v.status.String())
	}
}

// ownerHue is the colour and letter of the running term.
func ownerHue(row *sources.Row) (uint8, bool) {
	if n := len(row.Terms); n > 0 && row.Terms[n-1].End.At.IsZero() {
		return row.Terms[n-1].Hue, true
	}
	return 0, false
}

// name draws what a row is called in w cells. Where the name is only a number, what people
// call it stands first; elsewhere the other name stands behind if there is room.
func (m *model) name(l *line, row *sources.Row, w int) {
	name, alias := clean(row.Name), m.alias(row)
	room := w - format.Width(name) - 2
	end := l.x + w
	switch {
	case alias != "" && numeric(name) && room >= minAlias:
		l.put("", m.th.cut(alias, room)).skip(2).put(m.th.dim, name).to(end)
	case alias != "" && room >= format.Width(alias):
		l.put("", name).skip(2).put(m.th.dim, alias).to(end)
	default:
		l.cell("", m.th.fitName(name, w), w)
	}
}

// alias is the other name of a row; one that is only likely has a sign before it.
func (m *model) alias(row *sources.Row) string {
	if row.Alias != "" && row.AliasHow == sources.Inferred {
		return m.th.about + clean(row.Alias)
	}
	return clean(row.Alias)
}

// minAlias is how many cells an alias takes at least beside a number.
const minAlias = 6

// numeric says whether a name is only a number, or two.
func numeric(name string) bool {
	return name != "" && strings.Trim(name, "0123456789:-") == ""
}

// since is for how long the row has been as it is.
func (m *model) since(row *sources.Row, v verdict) string {
	now := m.asOf(row, v)
	switch {
	case len(row.Owners) == 1:
		return m.ageAt(row.Owners[0].Since, now)
	case len(row.Owners) == 0 && !row.Nobody.At.IsZero():
		return m.ageAt(row.Nobody, now)
	case len(row.Owners) > 1 || row.Taken > 0:
		return "" // of which one?
	}
	return "?"
}

// asOf is the instant to which the ages of a row are counted: where it is stale, they
// end when it was last known to be so.
func (m *model) asOf(row *sources.Row, v verdict) time.Time {
	if v.status != sources.StatusStale {
		return m.now
	}
	return row.KnownAt(m.st, m.now)
}

// age is ageAt now.
func (m *model) age(s sources.Stamp) string { return m.ageAt(s, m.now) }

// ageAt writes how long before now a stamp was: "≥" where it may be longer, "≤" where it
// may be less, "~" where the looks between which it lies are so far apart that it would
// read otherwise, in brackets where only the owner says so.
func (m *model) ageAt(s sources.Stamp, now time.Time) string {
	if s.How == sources.Unknown || s.At.IsZero() {
		return "?"
	}
	text := format.Age(now.Sub(s.At))
	switch {
	case s.How == sources.AtLeast:
		return m.th.atLeast + text
	case s.How == sources.Bound:
		return m.th.atMost + text
	case s.How == sources.Claimed:
		return "(" + text + ")"
	case ranged(s) && format.Age(now.Sub(s.After())) != text:
		return m.th.about + text
	}
	return text
}

// ranged says whether a stamp lies between two looks a second or more apart.
func ranged(s sources.Stamp) bool {
	return s.How == sources.Seen && !s.After().IsZero() && s.At.Sub(s.After()) >= time.Second
}

func (m *model) wait(row *sources.Row, v verdict) (string, style) {
	switch {
	case row.Queue.How == sources.Unknown:
		return "?", m.th.dim
	case v.waiting:
		return strconv.Itoa(row.Queue.Len), m.th.warn
	case row.Queue.Len == 0 || v.sev == sevBlind:
		return strconv.Itoa(row.Queue.Len), m.th.dim
	}
	return strconv.Itoa(row.Queue.Len), ""
}

func changesText(v verdict) string {
	if v.status == sources.StatusNotObserved {
		return "?"
	}
	return strconv.Itoa(int(v.changes))
}

// lease draws how much is left of the lease, or what there is instead of one.
func (m *model) lease(l *line, row *sources.Row, v verdict) {
	w := m.columns[colLease]
	switch {
	case v.status == sources.StatusStale && limited(row):
		l.cell(m.th.dim, permitsText(row)+" old", w)
	case v.status == sources.StatusStale:
		l.cell(m.th.dim, "old", w)
	case limited(row):
		m.permits(l, row, w)
	case len(row.Owners) == 0:
		l.cell(m.th.dim, nothing(v), w)
	case len(row.Owners) > 1:
		l.cell(m.th.dim, "", w)
	default:
		m.ownerLease(l, &row.Owners[0], w)
	}
}

// nothing is what stands for the lease where nobody owns the row.
func nothing(v verdict) string {
	if v.sev == sevBlind {
		return "?"
	}
	return "-"
}

// limited says whether the row is a semaphore with a limit that is known.
func limited(row *sources.Row) bool {
	return row.Kind == sources.KindSemaphore && row.LimitHow != sources.Unknown && row.Limit != sources.NoLimit && row.Limit > 0
}

func (m *model) permits(l *line, row *sources.Row, w int) {
	st := m.th.good
	if row.Taken >= row.Limit {
		st = m.th.warn
	}
	m.bar(l, st, float64(row.Taken)/float64(row.Limit), permitsText(row), w)
}

func permitsText(row *sources.Row) string {
	return strconv.FormatUint(row.Taken, 10) + "/" + strconv.FormatUint(row.Limit, 10)
}

func (m *model) ownerLease(l *line, o *sources.Owner, w int) {
	switch {
	case o.NoExpiry && o.Session != "":
		m.sessionState(l, o, w)
		return
	case o.NoExpiry:
		l.cell(m.th.warn, "no TTL", w)
		return
	case o.Expires.How == sources.Unknown || o.Expires.At.IsZero():
		l.cell(m.th.dim, "?", w)
		return
	}
	left := leaseLeft(o, m.now)
	text := format.Left(left)
	if o.Lease <= 0 {
		l.cell("", text, w)
		return
	}
	part := float64(left) / float64(o.Lease)
	st := m.th.good
	if part < 1.0/3 {
		st = m.th.bad
	}
	m.bar(l, st, part, text, w)
}

// sessionState says what an owner does that owns as long as its session lives: one that
// has left a transaction open is told by its backend, and is how locks are forgotten.
func (m *model) sessionState(l *line, o *sources.Owner, w int) {
	if idleInTransaction(attr(o.Attrs, "state")) {
		text := "idle in tx"
		if w < len(text) {
			text = "idle tx"
		}
		l.cell(m.th.warn, text, w)
		return
	}
	l.cell(m.th.dim, "session", w)
}

// idleInTransaction says whether pg_stat_activity's state is that of a session that has
// left a transaction open, also one that failed.
func idleInTransaction(state string) bool { return strings.HasPrefix(state, "idle in transaction") }

// attr is a backend's fact by its name; "": it is not told.
func attr(list []sources.Attr, key string) string {
	for i := range list {
		if list[i].Key == key {
			return list[i].Value
		}
	}
	return ""
}

// leaseLeft is what is left of a lease: never more than it is long, though our second
// may have begun before it was renewed.
func leaseLeft(o *sources.Owner, now time.Time) time.Duration {
	left := max(o.Expires.At.Sub(now), 0)
	if o.Lease > 0 {
		left = min(left, o.Lease)
	}
	return left
}

// barText is how many cells the number beside a bar takes at least.
const barText = 4

// bar draws a bar with its number in w cells; where there is no room, the number.
func (m *model) bar(l *line, st style, part float64, text string, w int) {
	cells := w - 1 - max(len(text), min(barText, w/2))
	if cells < 3 {
		l.cell("", text, w)
		return
	}
	full := min(int(part*float64(cells)+0.5), cells)
	if full == 0 && part > 0 {
		full = 1
	}
	end := l.x + w
	for i := range cells {
		if i < full {
			l.put(st, m.th.barFull)
		} else {
			l.put(m.th.dim, m.th.barEmpty)
		}
	}
	l.skip(1).put("", text).to(end)
}
