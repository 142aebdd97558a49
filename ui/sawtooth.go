package ui

import (
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
	"coordtop/ui/paint"
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
	fills := m.fills(row, o.Lease, win.Start.Add(-o.Lease))
	if len(fills) == 0 {
		return nil
	}
	head := m.th.Line(w).Skip(2).Put(m.th.Dim, "LEASE LEFT, the lowest in every "+format.Age(win.Step)+" ")
	longest := time.Duration(0)
	for _, f := range fills {
		longest = max(longest, f.until.Sub(f.at))
	}
	head.Put(m.th.Dim, m.th.Dot+" longest without a renewal ").Put("", format.Precise(longest))
	axis, l := m.th.Line(w).Skip(2), m.th.Line(w).Skip(2)
	axis.Axis(win, m.now.Location())
	for i := range win.Columns {
		m.tooth(l, o.Lease, fills, win.Start.Add(win.Step*time.Duration(i)), win.Step)
	}
	return []string{head.Done(), axis.Done(), l.Done()}
}

// fill is a stretch that begins with a whole lease: from a renewal, or the beginning of a
// term, to the next renewal or the end of the term.
type fill struct {
	at, until time.Time
	left      time.Duration // at the end of it
}

// fills are those of a row since an instant, of all terms.
func (m *model) fills(row *sources.Row, lease time.Duration, since time.Time) []fill {
	log := &m.events.renewals
	renewals := log.of(row.Ref, since)
	var fills []fill
	for i := range row.Terms {
		t := &row.Terms[i]
		end := t.End.At
		if end.IsZero() {
			end = m.now
		}
		if !end.After(since) {
			continue
		}
		open := len(fills)
		if t.Start.How != sources.AtLeast && t.Start.How != sources.Unknown && !t.Start.At.Before(since) {
			fills = append(fills, fill{at: t.Start.At})
		}
		for j := range renewals {
			r, at := &renewals[j], log.origin.Add(renewals[j].at)
			if !at.After(t.Start.At) || at.After(end) || r.who != log.hash(t.Owner.ID) {
				continue
			}
			if n := len(fills); n > open {
				fills[n-1].until, fills[n-1].left = at, r.left
			}
			fills = append(fills, fill{at: at})
		}
		if n := len(fills); n > open {
			fills[n-1].until = end
		}
	}
	for i := range fills {
		if f := &fills[i]; f.left == 0 { // not told: counted down from a whole lease
			f.left = max(lease-f.until.Sub(f.at), 0)
		}
	}
	return fills
}

// teeth is how much time the sawtooth shows: three columns for each renewal, so that the
// teeth can be seen, but no more than the strips.
func (m *model) teeth(row *sources.Row, columns int) time.Duration {
	return min(max(row.RenewEvery(), time.Second)*time.Duration(columns)/3, m.span(columns))
}

// tooth draws one column, [from, from+step).
func (m *model) tooth(l *paint.Line, lease time.Duration, fills []fill, from time.Time, step time.Duration) {
	to, lowest, known := from.Add(step), lease, false
	for _, f := range fills {
		if !f.at.Before(to) || !f.until.After(from) {
			continue
		}
		left := f.left
		if f.until.After(to) {
			left += f.until.Sub(to)
		}
		lowest, known = min(lowest, left), true
	}
	if !known {
		l.Skip(1)
		return
	}
	part := float64(lowest) / float64(lease)
	height := min(int(part*float64(len(m.th.Eighths))), len(m.th.Eighths)-1)
	l.Put(m.leaseStyle(part < m.st.Thresholds.LateLeft), m.th.Eighths[height])
}
