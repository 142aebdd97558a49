package ui

import (
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/timeline"
)

// sawtooth draws how low the lease of an owner that is alone came in each column: every
// renewal lifts it, and one that is missed shows as a tooth that goes deeper. nil where
// no lease is told or it is old.
func (m *model) sawtooth(row *sources.Row, v verdict, w int) []string {
	if len(row.Owners) != 1 || v.status == sources.StatusStale || w < 24 {
		return nil
	}
	o := &row.Owners[0]
	if o.NoExpiry || o.Lease <= 0 || o.Expires.At.IsZero() {
		return nil
	}
	win := timeline.Fit(m.now, m.teeth(row, w-4), w-4)
	from := win.Start.Add(-o.Lease)
	if o.Since.How == sources.Seen && o.Since.At.After(from) {
		from = o.Since.At // what it had in an earlier term is not this lease
	}
	renewals := m.events.renewals.of(row.Ref, o.ID, from)
	if len(renewals) == 0 {
		return nil
	}
	head := m.th.line(w).skip(2).put(m.th.dim, "LEASE LEFT, the lowest in every "+format.Age(win.Step)+" ")
	longest := time.Duration(0)
	for i := 1; i < len(renewals); i++ {
		longest = max(longest, renewals[i].at-renewals[i-1].at)
	}
	if longest > 0 {
		head.put(m.th.dim, m.th.dot+" longest pause ").put("", format.Precise(longest))
	}
	axis, l := m.th.line(w).skip(2), m.th.line(w).skip(2)
	m.axis(axis, win)
	for i := range win.Columns {
		m.tooth(l, o, renewals, win.Start.Add(win.Step*time.Duration(i)), win.Step)
	}
	return []string{head.done(), axis.done(), l.done()}
}

// teeth is how much time the sawtooth shows: three columns for each renewal, so that the
// teeth can be seen, but no more than the strips.
func (m *model) teeth(row *sources.Row, columns int) time.Duration {
	return min(max(row.RenewEvery, time.Second)*time.Duration(columns)/3, m.span())
}

// tooth draws one column, [from, from+step).
func (m *model) tooth(l *line, o *sources.Owner, renewals []renewal, from time.Time, step time.Duration) {
	origin := m.events.renewals.origin
	start, end := from.Sub(origin), min(from.Add(step).Sub(origin), m.now.Sub(origin))
	lowest, known := o.Lease, false
	for i := range renewals {
		r := &renewals[i]
		next := end
		if i+1 < len(renewals) {
			next = min(renewals[i+1].at, end)
		}
		if r.at < end && next >= start { // what was left at the end of what this renewal gave
			lowest, known = min(lowest, o.Lease-(next-r.at)), true
		}
		if r.at >= start && r.at < end && r.left > 0 {
			lowest, known = min(lowest, r.left), true
		}
	}
	if !known || end <= start {
		l.skip(1)
		return
	}
	part := max(float64(lowest)/float64(o.Lease), 0)
	height := min(int(part*float64(len(m.th.eighths))), len(m.th.eighths)-1)
	l.put(m.leaseStyle(part), m.th.eighths[height])
}
