package ui

import (
	"strconv"
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// lease draws how much is left of the lease, or what there is instead of one.
func (m *model) lease(l *paint.Line, row *sources.Row, v rows.Verdict) {
	w := m.columns[colLease]
	switch {
	case v.Status == sources.StatusStale && row.Limited():
		l.Cell(m.th.Dim, permitsText(row)+" old", w)
	case v.Status == sources.StatusStale:
		l.Cell(m.th.Dim, "old", w)
	case row.Limited():
		m.permits(l, row, v, w)
	case len(row.Owners) == 0:
		l.Cell(m.th.Dim, nothing(v), w)
	case len(row.Owners) > 1:
		l.Cell(m.th.Dim, "", w)
	default:
		m.ownerLease(l, &row.Owners[0], v, w)
	}
}

// nothing is what stands for the lease where nobody owns the row.
func nothing(v rows.Verdict) string {
	if v.Severity == paint.Blind {
		return "?"
	}
	return "-"
}

func (m *model) permits(l *paint.Line, row *sources.Row, v rows.Verdict, w int) {
	st := m.th.Good
	if v.Full {
		st = m.th.Warn
	}
	l.Bar(st, float64(row.Taken)/float64(row.Limit), permitsText(row), w)
}

func permitsText(row *sources.Row) string {
	return strconv.FormatUint(row.Taken, 10) + "/" + strconv.FormatUint(row.Limit, 10)
}

// bySession reports whether an owner owns for as long as its session lives, whenever that
// ends.
func bySession(o *sources.Owner) bool {
	return o.Session != "" && (o.NoExpiry || o.Expires.How == sources.Unknown)
}

func (m *model) ownerLease(l *paint.Line, o *sources.Owner, v rows.Verdict, w int) {
	switch {
	case bySession(o):
		m.sessionState(l, o, w)
		return
	case o.NoExpiry:
		l.Cell(m.th.Warn, "no TTL", w)
		return
	case o.Expires.How == sources.Unknown || o.Expires.At.IsZero():
		l.Cell(m.th.Dim, "?", w)
		return
	}
	left := rows.LeaseLeft(o, m.now)
	text := format.Left(left)
	if o.Lease <= 0 {
		l.Cell("", text, w)
		return
	}
	part := float64(left) / float64(o.Lease)
	l.Bar(m.leaseStyle(v.Late()), part, text, w)
}

// sessionState says what an owner does that owns as long as its session lives: one that
// has left a transaction open is told by its backend, and is how locks are forgotten.
func (m *model) sessionState(l *paint.Line, o *sources.Owner, w int) {
	if idleInTransaction(rows.Attr(o.Attrs, "state")) {
		text := "idle in tx"
		if w < len(text) {
			text = "idle tx"
		}
		l.Cell(m.th.Warn, text, w)
		return
	}
	l.Cell(m.th.Dim, "session", w)
}

// idleInTransaction says whether pg_stat_activity's state is that of a session that has
// left a transaction open, also one that failed.
func idleInTransaction(state string) bool { return strings.HasPrefix(state, "idle in transaction") }

func (m *model) leaseText(o *sources.Owner, v rows.Verdict) paint.Part {
	switch {
	case v.Status == sources.StatusStale:
		return m.th.Dim.Text("old")
	case bySession(o):
		return m.th.Dim.Text("session")
	case o.NoExpiry:
		return m.th.Warn.Text("no TTL")
	case o.Expires.How == sources.Unknown || o.Expires.At.IsZero():
		return m.th.Dim.Text("?")
	case o.Lease > 0:
		return paint.Plain(format.Left(rows.LeaseLeft(o, m.now)) + " of " + format.Left(o.Lease))
	}
	return paint.Plain(format.Left(rows.LeaseLeft(o, m.now)))
}

// leaseBar is how many cells the bar of a lease takes in the detail.
const leaseBar = 16

// leaseNote says how well the lease is renewed; "" where nothing is known.
func (m *model) leaseNote(row *sources.Row, v rows.Verdict, w int) string {
	o, l := &row.Owners[0], m.th.Line(w).Skip(4)
	start := l.X
	say := func(st paint.Style, text string) {
		if l.X > start {
			l.Put(m.th.Dim, ", ")
		}
		l.Put(st, text)
	}
	stale := v.Status == sources.StatusStale
	if !stale && !o.NoExpiry && o.Lease > 0 && !o.Expires.At.IsZero() {
		left := float64(rows.LeaseLeft(o, m.now)) / float64(o.Lease)
		l.Bar(m.leaseStyle(v.Late()), left, format.Left(rows.LeaseLeft(o, m.now)), leaseBar+1+paint.BarText)
		l.Skip(1)
		start = l.X
	}
	asOf := m.asOf(row, v)
	if !o.Renewed.At.IsZero() {
		say(m.th.Dim, "renewed "+format.Precise(asOf.Sub(o.Renewed.At))+" "+paint.AgoWord(stale))
	}
	if every := o.RenewEvery(); every > 0 {
		say(m.th.Dim, "usually every "+format.Precise(every))
	}
	if v.Late() {
		if n := o.Missed(m.now, m.st.Thresholds); n > 0 {
			say(m.th.Warn, paint.Count(n, "renewal")+" missed")
		}
	}
	if row.LowestLease > 0 {
		say(m.th.Dim, "lowest left "+format.Precise(row.LowestLease))
	}
	if l.X == start && start == 4 {
		return ""
	}
	return l.Done()
}

// leaseStyle is how a lease is drawn: a renewal that is late is worth a look.
func (m *model) leaseStyle(late bool) paint.Style {
	if late {
		return m.th.Warn
	}
	return m.th.Good
}

// since is for how long the row has been as it is.
func (m *model) since(row *sources.Row, v rows.Verdict) string {
	now := m.asOf(row, v)
	switch {
	case len(row.Owners) == 1:
		return m.th.Age(row.Owners[0].Since, now)
	case len(row.Owners) == 0 && !row.Nobody.At.IsZero():
		return m.th.Age(row.Nobody, now)
	case len(row.Owners) > 1 || row.Taken > 0:
		return "" // of which one?
	}
	return "?"
}

// asOf is the instant to which the ages of a row are counted: where it is stale, they
// end when it was last known to be so.
func (m *model) asOf(row *sources.Row, v rows.Verdict) time.Time {
	if v.Status != sources.StatusStale {
		return m.now
	}
	return row.KnownAt(m.st, m.now)
}
