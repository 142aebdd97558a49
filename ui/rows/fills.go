package rows

import (
	"time"

	"coordtop/sources"
)

// Fill is a stretch that begins with a whole lease: from a renewal, or the beginning of a
// term, to the next renewal or the end of the term.
type Fill struct {
	At, Until time.Time
	Left      time.Duration // at the end of it
}

// Fills are those of a row since an instant, of all terms, as far as renewals are kept.
func (l *Log) Fills(row *sources.Row, lease time.Duration, since, now time.Time) []Fill {
	log := &l.renewals
	renewals := log.of(row.Ref, since)
	var fills []Fill
	for i := range row.Terms {
		t := &row.Terms[i]
		end := t.End.At
		if end.IsZero() {
			end = now
		}
		if !end.After(since) {
			continue
		}
		open := len(fills)
		if t.Start.How != sources.AtLeast && t.Start.How != sources.Unknown && !t.Start.At.Before(since) {
			fills = append(fills, Fill{At: t.Start.At})
		}
		for j := range renewals {
			r, at := &renewals[j], log.origin.Add(renewals[j].at)
			if !at.After(t.Start.At) || at.After(end) || r.who != log.hash(t.Owner.ID) {
				continue
			}
			if n := len(fills); n > open {
				fills[n-1].Until, fills[n-1].Left = at, r.left
			}
			fills = append(fills, Fill{At: at})
		}
		if n := len(fills); n > open {
			fills[n-1].Until = end
		}
	}
	known := fills[:0]
	for _, f := range fills {
		length := f.Until.Sub(f.At)
		switch long := length > lease+lease/4; { // then renewals in it are not kept any more
		case f.Left > 0 && long:
			f.At = f.Until.Add(f.Left - lease)
		case long:
			continue
		case f.Left == 0: // not told: counted down from a whole lease
			f.Left = max(lease-length, 0)
		}
		known = append(known, f)
	}
	return known
}
