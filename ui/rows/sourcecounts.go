package rows

import (
	"coordtop/sources"
	"coordtop/sources/verdict"
)

// SourceCounts counts the rows of a source.
type SourceCounts struct {
	Led        int // elections with a leader
	Leaderless int // rows without an owner that should have one
	Waiting    int // who waits, as far as Queued
	Queued     bool
	Longest    sources.Stamp // since when the first of them waits; How Unknown: not known
}

// BySource counts the rows of each source as they were judged last. It takes as long as there are rows.
func (x *Index) BySource() map[string]SourceCounts {
	all := map[string]*SourceCounts{}
	var c *SourceCounts
	last := ""
	for i := range x.entries {
		row := x.entries[i].row
		if row == nil {
			continue
		}
		if c == nil || row.Source != last {
			if last = row.Source; all[last] == nil {
				all[last] = &SourceCounts{}
			}
			c = all[last]
		}
		if row.Kind == sources.KindElection && len(row.Owners) > 0 {
			c.Led++
		}
		if x.entries[i].v.Faults.Has(verdict.NoLeader) {
			c.Leaderless++
		}
		if row.Queue.How == sources.Unknown {
			continue
		}
		c.Queued = true
		if c.Waiting += row.Queue.Len; row.Queue.Len == 0 {
			continue
		}
		if s := row.Queue.WaitingSince(); s.How != sources.Unknown && (c.Longest.How == sources.Unknown || s.At.Before(c.Longest.At)) {
			c.Longest = s
		}
	}
	counts := make(map[string]SourceCounts, len(all))
	for name, c := range all {
		counts[name] = *c
	}
	return counts
}
