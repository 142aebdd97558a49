package rows

import (
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Mute notes which rows have a problem that is muted, and reports whether the order changed.
func (x *Index) Mute(muted func(sources.Ref) bool) bool {
	for slot := range x.problems {
		e := &x.entries[slot]
		if is := muted(e.row.Ref); is != e.muted {
			x.count(e, -1)
			e.muted = is
			e.key = x.key(e)
			x.count(e, +1)
			x.moved = append(x.moved, slot)
		}
	}
	return x.place()
}

// ListedProblems counts the problems of rows that are listed, by severity; those that are muted are left out.
func (x *Index) ListedProblems() (count [verdict.Warn + 1]int) {
	for slot := range x.problems {
		if e := &x.entries[slot]; e.listed && !e.muted {
			count[e.v.Known]++
		}
	}
	return count
}

// Matcher returns a function that reports whether a filter selects a row of a State at now. A filter with a mistake
// selects none.
func Matcher(st *sources.State, now time.Time) func(text string, row *sources.Row, v verdict.Verdict) bool {
	parsed := map[string]*Selection{}
	return func(text string, row *sources.Row, v verdict.Verdict) bool {
		f := parsed[text]
		if f == nil {
			f = &Selection{st: st, now: now}
			f.Parse(text, func() []string { return labelsOf(st) })
			parsed[text] = f
		}
		return f.Mistake == nil && !f.Expr.Empty() && f.Passes(row, v)
	}
}
