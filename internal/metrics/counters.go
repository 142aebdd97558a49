package metrics

import (
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// tally counts the events of a source or row.
type tally struct{ changes, losses float64 }

// add counts an event.
func (t *tally) add(e *sources.Event) {
	if e.ChangesOwner() {
		t.changes++
	}
	if e.Loss {
		t.losses++
	}
}

// rowCounters are the counters of a row with a name.
type rowCounters struct {
	tally
	leaderless, observed time.Duration
	until                time.Time // up to when they count
	look                 uint64    // the last one that showed the row
}

// countEvents counts the events of the State with that LastSeq. It returns the number of events in all.
func (c *Collector) countEvents(last uint64) uint64 {
	fresh, missed := c.news.Events(0)
	c.unseen += missed
	c.pending = append(c.pending, fresh...)
	n := 0
	for ; n < len(c.pending) && c.pending[n].Seq <= last; n++ {
		e := &c.pending[n]
		t := c.bySrc[e.Ref.Source]
		if t == nil {
			t = &tally{}
			c.bySrc[e.Ref.Source] = t
		}
		t.add(e)
		if row := c.byRow[e.Ref]; row != nil {
			row.add(e)
		}
	}
	c.pending = slices.Delete(c.pending, 0, n)
	return last
}

// of returns the counters of a row, which begin now if there are none.
func (c *Collector) of(row *sources.Row, now time.Time) *rowCounters {
	r := c.byRow[row.Ref]
	if r == nil {
		r = &rowCounters{until: now}
		c.byRow[row.Ref] = r
	}
	r.look = c.looks
	return r
}

// kept is the number of looks for which the counters of a row that is gone are kept, so that they go on if it comes
// back.
const kept = 3600

// forget drops the counters of rows that are gone for long, or of all that are gone if there are too many.
func (c *Collector) forget() {
	old := uint64(kept)
	if len(c.byRow) > 2*c.o.Series {
		old = 0
	}
	for ref, r := range c.byRow {
		if c.looks-r.look > old {
			delete(c.byRow, ref)
		}
	}
}

// count adds the time since the last look as far as the server has answered: so nothing that it
// says later is about that time.
func (r *rowCounters) count(row *sources.Row, st *sources.State) {
	l := row.Lane(st)
	span := lane.Span{From: sources.Later(r.until, l.Since), To: sources.Earlier(st.Scopes[row.Scope].Alive, st.At)}
	if l.Since.IsZero() || !span.To.After(span.From) {
		return
	}
	r.until = span.To
	sum := l.Sum(span, span.To)
	nobody := sum.Vacant().Min
	r.leaderless += nobody
	r.observed += nobody + sum.Owned
}
