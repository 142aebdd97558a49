package metrics

import (
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/rows"
)

// longestName bounds the name of a primitive, and of its space, in a label, in bytes.
const longestName = 200

// rowSamples appends the samples of the rows whose names are shown, and the number of those that are left out.
func (c *Collector) rowSamples(list []sample, st *sources.State, now time.Time) []sample {
	full := false
	seen, spare := map[[3]string]bool{}, &rowCounters{}
	types := map[string]string{}
	for i := range st.Sources {
		types[st.Sources[i].Name] = st.Sources[i].Type
	}
	list, shown, dropped := c.objectiveSamples(list, types) // the config names them, so they have room first
	for _, h := range c.index.Handles {
		row, v := c.index.At(h)
		if row == nil || !row.Fresh(st) || v.Last == sources.StatusNotObserved {
			continue
		}
		before, key, twice := len(list), [3]string{}, false
		b := rowBuilder{list: list, row: row, st: st, now: now, counters: spare}
		if !full {
			key = [3]string{row.Source, format.Clean(row.Space, longestName), format.Clean(row.Name, longestName)}
			twice = seen[key]
		}
		if !full && !twice { // else only the number of its samples matters
			b.labels = []string{format.Clean(row.Source, 0), types[row.Source], row.Kind.String(), key[1], key[2]}
			b.counters = c.of(row, now)
			b.counters.count(row, st)
		}
		b.build(v)
		more := len(b.list) - before
		full = full || !twice && shown+more > c.o.Series
		if full || twice {
			dropped += more
			list = b.list[:before]
			continue
		}
		shown += more
		seen[key], list = true, b.list
	}
	c.forget()
	return append(list, sample{family: series, value: float64(shown)}, sample{family: seriesDropped, value: float64(dropped)})
}

// rowBuilder makes the samples of a row that is not stale.
type rowBuilder struct {
	list     []sample
	row      *sources.Row
	st       *sources.State
	now      time.Time
	labels   []string
	counters *rowCounters
}

func (b *rowBuilder) add(f family, v float64, more ...string) {
	b.list = append(b.list, sample{f, v, b.labels, more})
}

func (b *rowBuilder) build(v verdict.Verdict) {
	row := b.row
	switch isElection := row.Kind == sources.KindElection; {
	case row.Leveled():
		b.add(permitsTaken, float64(row.Taken))
		if row.Limited() {
			b.add(permitsLimit, float64(row.Limit))
		}
	case v.Last == sources.StatusUnknown:
	case isElection:
		b.add(hasLeader, truth(!ownerless(v.Last)))
	default:
		b.add(owned, truth(!ownerless(v.Last)))
	}
	b.add(changes, b.counters.changes)
	b.add(losses, b.counters.losses)
	if row.Kind == sources.KindElection || row.Expected && !row.Leveled() {
		b.add(leaderless, b.counters.leaderless.Seconds())
		b.add(observed, b.counters.observed.Seconds())
	}
	b.leases()
	if q := &row.Queue; q.How != sources.Unknown {
		b.add(waiters, float64(q.Len))
		if since := q.WaitingSince(); q.Len > 0 && since.How != sources.Unknown {
			b.add(longestWait, max(b.now.Sub(since.At), 0).Seconds())
		}
	}
	if v.Problem() {
		b.add(problem, 1, v.Lead.String(), v.Known.String())
	}
}

// ownerless reports whether a state means that nobody owns the row.
func ownerless(s sources.Status) bool {
	switch s {
	case sources.StatusNoLeader, sources.StatusNoCandidates, sources.StatusFree, sources.StatusAbsent:
		return true
	}
	return false
}

// leases adds the samples of the owners' leases.
func (b *rowBuilder) leases() {
	row, most := b.row, -1
	// While a server is silent nobody knows of renewals.
	asOf := sources.Earlier(b.now, b.st.Scopes[row.Scope].Alive)
	for i := range row.Owners {
		o := &row.Owners[i]
		if !o.NoExpiry && o.RenewEvery() > 0 && o.Rhythm.Renewals() >= b.st.Thresholds.LateSeen {
			most = max(most, o.Missed(asOf, b.st.Thresholds))
		}
	}
	if left, known := rows.ShortestLease(row, b.now); known && left < rows.Endless {
		b.add(leaseLeft, left.Seconds())
		if low := row.LowestLeaseAt(b.now); low > 0 {
			b.add(lowestLease, low.Seconds())
		}
	}
	if most >= 0 {
		b.add(missed, float64(most))
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
