package ui

import (
	"strconv"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// lease draws how much is left of the lease, or what there is instead of one.
func (m *model) lease(l *line, row *sources.Row, v verdict) {
	w := m.columns[colLease]
	switch {
	case v.status == sources.StatusStale && row.Limited():
		l.cell(m.th.dim, permitsText(row)+" old", w)
	case v.status == sources.StatusStale:
		l.cell(m.th.dim, "old", w)
	case row.Limited():
		m.permits(l, row, v, w)
	case len(row.Owners) == 0:
		l.cell(m.th.dim, nothing(v), w)
	case len(row.Owners) > 1:
		l.cell(m.th.dim, "", w)
	default:
		m.ownerLease(l, &row.Owners[0], v, w)
	}
}

// nothing is what stands for the lease where nobody owns the row.
func nothing(v verdict) string {
	if v.sev == sevBlind {
		return "?"
	}
	return "-"
}

func (m *model) permits(l *line, row *sources.Row, v verdict, w int) {
	st := m.th.good
	if v.full {
		st = m.th.warn
	}
	m.bar(l, st, float64(row.Taken)/float64(row.Limit), permitsText(row), w)
}

func permitsText(row *sources.Row) string {
	return strconv.FormatUint(row.Taken, 10) + "/" + strconv.FormatUint(row.Limit, 10)
}

// bySession reports whether an owner owns for as long as its session lives, whenever that
// ends.
func bySession(o *sources.Owner) bool {
	return o.Session != "" && (o.NoExpiry || o.Expires.How == sources.Unknown)
}

func (m *model) ownerLease(l *line, o *sources.Owner, v verdict, w int) {
	switch {
	case bySession(o):
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
	m.bar(l, m.leaseStyle(late(v)), part, text, w)
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

func (m *model) leaseText(o *sources.Owner, v verdict) part {
	switch {
	case v.status == sources.StatusStale:
		return part{m.th.dim, "old"}
	case bySession(o):
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

// leaseBar is how many cells the bar of a lease takes in the detail.
const leaseBar = 16

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
	stale := v.status == sources.StatusStale
	if !stale && !o.NoExpiry && o.Lease > 0 && !o.Expires.At.IsZero() {
		left := float64(leaseLeft(o, m.now)) / float64(o.Lease)
		m.bar(l, m.leaseStyle(late(v)), left, format.Left(leaseLeft(o, m.now)), leaseBar+1+barText)
		l.skip(1)
		start = l.x
	}
	asOf := m.asOf(row, v)
	if !o.Renewed.At.IsZero() {
		say(m.th.dim, "renewed "+format.Precise(asOf.Sub(o.Renewed.At))+" "+agoWord(stale))
	}
	if every := o.RenewEvery(); every > 0 {
		say(m.th.dim, "usually every "+format.Precise(every))
	}
	if late(v) {
		if n := o.Missed(m.now, m.st.Thresholds); n > 0 {
			say(m.th.warn, count(n, "renewal")+" missed")
		}
	}
	if row.LowestLease > 0 {
		say(m.th.dim, "lowest left "+format.Precise(row.LowestLease))
	}
	if l.x == start && start == 4 {
		return ""
	}
	return l.done()
}

// late says whether the renewal of an owner is judged to be late.
func late(v verdict) bool {
	return v.status == sources.StatusLedLate || v.status == sources.StatusHeldSilent
}

// leaseStyle is how a lease is drawn: a renewal that is late is worth a look.
func (m *model) leaseStyle(late bool) style {
	if late {
		return m.th.warn
	}
	return m.th.good
}
