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
func (x *Index) BySource() map[string]*SourceCounts {
	counts := map[string]*SourceCounts{}
	for i := range x.entries {
		row := x.entries[i].row
		if row == nil {
			continue
		}
		c := counts[row.Source]
		if c == nil {
			c = &SourceCounts{}
			counts[row.Source] = c
		}
		if row.Kind == sources.KindElection && len(row.Owners) > 0 {
			c.Led++
		}
		if x.entries[i].v.Faults.Has(verdict.NoLeader) {
			c.Leaderless++
		}
		c.Queued = c.Queued || row.Queue.How != sources.Unknown
		c.Waiting += row.Queue.Len
		if s := row.Queue.WaitingSince(); row.Queue.Len > 0 && s.How != sources.Unknown && (c.Longest.How == sources.Unknown || s.At.Before(c.Longest.At)) {
			c.Longest = s
		}
	}
	return counts
}
