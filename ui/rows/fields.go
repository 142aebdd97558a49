package rows

import (
	"math"
	"time"

	"coordtop/sources"
	"coordtop/ui/filter"
)

// fieldEntry is how rows answer to a field of a filter: by texts or by a number. What is not
// known is false.
type fieldEntry struct {
	text   func(s *rowSubject, match func(string) bool) (found, known bool)
	number func(s *rowSubject) (n int64, known bool)
	values func(r *sources.Row, v *Verdict, add func(string)) // that completion offers; nil: none
}

// fieldTable has all fields.
var fieldTable = [filter.FieldCount]fieldEntry{
	filter.Source: {
		text:   func(s *rowSubject, match func(string) bool) (found, known bool) { return match(s.row.Source), true },
		values: func(r *sources.Row, _ *Verdict, add func(string)) { add(r.Source) },
	},
	filter.Kind: {
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return match(s.row.Kind.String()), s.row.Kind != sources.KindUnknown
		},
		values: func(r *sources.Row, _ *Verdict, add func(string)) { add(r.Kind.String()) },
	},
	filter.Name: {
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return match(s.row.Name) || s.row.Alias != "" && match(s.row.Alias), true
		},
		values: func(r *sources.Row, _ *Verdict, add func(string)) {
			add(r.Name)
			add(r.Alias)
		},
	},
	filter.Owner: {
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return ownedBy(s.row, match), s.row.OwnersHow != sources.Unknown || len(s.row.Owners) > 0
		},
		values: func(r *sources.Row, _ *Verdict, add func(string)) {
			for i := range r.Owners {
				add(r.Owners[i].Label)
			}
		},
	},
	filter.State: {
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return match(stateWord(s.v.Status)) || s.v.Flapping && match("flapping"), s.v.Status != sources.StatusUnknown
		},
		values: func(_ *sources.Row, v *Verdict, add func(string)) { add(stateWord(v.Status)) },
	},
	filter.Since: {number: func(s *rowSubject) (n int64, known bool) {
		at, ok := sinceOf(s.row)
		return int64(s.now.Sub(at)), ok
	}},
	filter.Wait: {number: func(s *rowSubject) (n int64, known bool) {
		longest := waitsSince(s.row, s.now)
		return int64(longest), s.row.Queue.How != sources.Unknown && (s.row.Queue.Len == 0 || longest > 0)
	}},
	filter.Waiters: {number: func(s *rowSubject) (n int64, known bool) {
		return int64(s.row.Queue.Len), s.row.Queue.How != sources.Unknown
	}},
	filter.Lease: {number: func(s *rowSubject) (n int64, known bool) { return leaseOf(s.row, s.now) }},
	filter.Changes: {number: func(s *rowSubject) (n int64, known bool) {
		return int64(s.v.Changes), s.v.Status != sources.StatusNotObserved
	}},
	filter.Gap: {number: func(s *rowSubject) (n int64, known bool) {
		if r := s.row; len(r.Terms) == 0 && r.Nobody.How == sources.Unknown || r.Kind == sources.KindSemaphore {
			return 0, false
		}
		return int64(s.row.Gaps(s.st, s.now, ChangesSpan).Sum.Max), true
	}},
}

// stateWord is how a filter names a state.
func stateWord(s sources.Status) string {
	switch s { // those without a blank are themselves: nothing is allocated for most rows
	case sources.StatusNotObserved, sources.StatusLedLate, sources.StatusNoLeader, sources.StatusNoCandidates, sources.StatusHeldSilent:
		return filter.StateWord(s.String())
	}
	return s.String()
}

// sinceOf is since when a row is as it is; false: unknown.
func sinceOf(r *sources.Row) (time.Time, bool) {
	s := r.Nobody
	switch {
	case len(r.Owners) > 0:
		s = r.Owners[0].Since
	case r.OwnersHow == sources.Unknown:
		return time.Time{}, false
	}
	return s.At, s.How != sources.Unknown && !s.At.IsZero() && len(r.Owners) <= 1
}

// leaseOf is the least that is left of a lease of the row's owners. One without an end
// is longer than any other.
func leaseOf(r *sources.Row, now time.Time) (left int64, known bool) {
	left = math.MaxInt64 - 1
	for i := range r.Owners {
		switch o := &r.Owners[i]; {
		case o.NoExpiry:
			known = true
		case o.Expires.How != sources.Unknown && !o.Expires.At.IsZero():
			left, known = min(left, int64(LeaseLeft(o, now))), true
		}
	}
	return left, known
}
