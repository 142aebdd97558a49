package rows

import (
	"math"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
	"coordtop/ui/filter"
)

// fieldEntry is a field of filters and its values in rows: texts or a number; known is false if the
// row does not tell it. Both are nil for fields that only the audit has.
type fieldEntry struct {
	filter.Field
	text   func(s *rowSubject, match func(string) bool) (found, known bool)
	number func(s *rowSubject) (r filter.Range, known bool)
	count  func(s *rowSubject) (r filter.Range, known bool)            // compared with plain numbers, where Counts
	event  func(s *eventSubject, match func(string) bool) (found bool) // of the event itself; nil: of its row
	audit  func(e *action.AuditEntry) []string                         // nil: the audit does not have it
	values func(r *sources.Row, v *verdict.Verdict, add func(string))  // offered by completion; nil: none
}

// exactly returns the range of a known number.
func exactly[N ~int | ~int64](n N) filter.Range { return filter.Range{Low: int64(n), High: int64(n)} }

// fieldTable has all fields.
func fieldTable() []fieldEntry {
	return []fieldEntry{{
		Field:  filter.Field{Name: "source", Op: "=", Also: []string{"backend"}},
		text:   func(s *rowSubject, match func(string) bool) (found, known bool) { return match(s.row.Source), true },
		event:  func(s *eventSubject, match func(string) bool) bool { return match(s.event.Ref.Source) },
		audit:  func(e *action.AuditEntry) []string { return []string{e.Ref.Source} },
		values: func(r *sources.Row, _ *verdict.Verdict, add func(string)) { add(r.Source) },
	}, {
		Field: filter.Field{Name: "kind", Op: "=", Also: []string{"type"}},
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return match(s.row.Kind.String()), s.row.Kind != sources.KindUnknown
		},
		audit:  func(e *action.AuditEntry) []string { return []string{e.Kind} },
		values: func(r *sources.Row, _ *verdict.Verdict, add func(string)) { add(r.Kind.String()) },
	}, {
		Field: filter.Field{Name: "name", Op: "~", Also: []string{"key", "lock"}},
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return match(s.row.Name) || s.row.Alias != "" && match(s.row.Alias), true
		},
		event: (*eventSubject).named,
		audit: func(e *action.AuditEntry) []string { return []string{e.Ref.Name, e.Alias} },
		values: func(r *sources.Row, _ *verdict.Verdict, add func(string)) {
			add(r.Name)
			add(r.Alias)
		},
	}, {
		Field: filter.Field{Name: "owner", Op: "~", Also: []string{"leader", "holder"}},
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return ownedBy(s.row, match), s.row.OwnersHow != sources.Unknown || len(s.row.Owners) > 0
		},
		event: (*eventSubject).owners,
		audit: func(e *action.AuditEntry) []string { return []string{e.Before.Name(), e.After.Name()} },
		values: func(r *sources.Row, _ *verdict.Verdict, add func(string)) {
			for i := range r.Owners {
				add(r.Owners[i].Label)
			}
		},
	}, originField(origin.ByHost), originField(origin.ByProgram), originField(origin.BySession), {
		Field: filter.Field{Name: "state", Op: "=", Value: filter.OneWord, Also: []string{"status"}},
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			return match(stateWord(s.v.Status)) || s.v.Faults.Has(verdict.Flapping) && match(flapping), s.v.Status != sources.StatusUnknown
		},
		values: func(_ *sources.Row, v *verdict.Verdict, add func(string)) { add(stateWord(v.Status)) },
	}, {
		Field:  filter.Field{Name: "since", Op: "<", Is: filter.Length, Also: []string{"age"}},
		number: func(s *rowSubject) (filter.Range, bool) { return ageRange(sinceOf(s.row), s.now) },
	}, {
		Field:  filter.Field{Name: "wait", Op: ">", Is: filter.Length, Counts: true, Also: []string{"waiters", "waiting", "queue"}},
		number: waitOf,
		count: func(s *rowSubject) (filter.Range, bool) {
			return exactly(s.row.Queue.Len), s.row.Queue.How != sources.Unknown
		},
	}, {
		Field: filter.Field{Name: "chg", Op: ">", Is: filter.Count, Also: []string{"changes"}},
		number: func(s *rowSubject) (filter.Range, bool) {
			return exactly(int64(s.v.Changes)), s.v.Status != sources.StatusNotObserved
		},
	}, {
		Field: filter.Field{Name: "lease", Op: "<", Is: filter.Length, Also: []string{"ttl", "expires"}},
		number: func(s *rowSubject) (filter.Range, bool) {
			left, known := ShortestLease(s.row, s.now)
			return exactly(left), known
		},
	}, {
		Field: filter.Field{Name: "gap", Op: ">", Is: filter.Length},
		number: func(s *rowSubject) (filter.Range, bool) {
			if r := s.row; len(r.Terms) == 0 && r.Nobody.How == sources.Unknown || r.Kind == sources.KindSemaphore {
				return filter.Range{}, false
			}
			sum := s.row.Gaps(s.st, s.now, verdict.ChangesSpan).Sum
			return filter.Range{Low: int64(sum.Min), High: int64(sum.Max)}, true
		},
	}, {
		Field: filter.Field{Name: "action", Op: "=", Also: []string{"verb"}},
		audit: func(e *action.AuditEntry) []string { return []string{e.Action} },
	}, {
		Field: filter.Field{Name: "result", Op: "=", Value: filter.OneWord},
		audit: func(e *action.AuditEntry) []string { return []string{filter.OneWord(e.Result)} },
	}, {
		Field: filter.Field{Name: "user", Op: "=", Also: []string{"who"}},
		audit: func(e *action.AuditEntry) []string { return []string{e.User(), e.Who} },
	}}
}

// originField is the field of a way to join owners: it selects what somebody owns or awaits, or owned last where nobody
// owns it now.
func originField(by origin.By) fieldEntry {
	return fieldEntry{
		Field: filter.Field{Name: by.String(), Op: "="},
		text: func(s *rowSubject, match func(string) bool) (found, known bool) {
			s.origins(func(o origin.Origin) { found = found || match(o.Under(by)) })
			return found, s.row.OwnersHow != sources.Unknown || len(s.row.Owners) > 0
		},
		values: func(r *sources.Row, _ *verdict.Verdict, add func(string)) {
			(&rowSubject{row: r}).origins(func(o origin.Origin) { add(o.Under(by)) })
		},
	}
}

// fields is fieldTable(), and language its filter.Fields.
var (
	fields   = fieldTable()
	language = languageOf(fields, func(*fieldEntry) bool { return true })
)

func languageOf(table []fieldEntry, has func(*fieldEntry) bool) filter.Fields {
	var fs filter.Fields
	for i := range table {
		if has(&table[i]) {
			fs = append(fs, table[i].Field)
		}
	}
	return fs
}

// flapping is a value of the field state, besides the states themselves.
const flapping = "flapping"

// stateWord returns the name of a state in filters.
func stateWord(s sources.Status) string {
	switch s { // those without a blank are themselves: nothing is allocated for most rows
	case sources.StatusNotObserved, sources.StatusLedLate, sources.StatusNoLeader, sources.StatusNoCandidates, sources.StatusHeldSilent:
		return filter.OneWord(s.String())
	}
	return s.String()
}

// sinceOf returns the time since which a row has its present state.
func sinceOf(r *sources.Row) sources.Stamp {
	switch {
	case len(r.Owners) == 1:
		return r.Owners[0].Since
	case len(r.Owners) > 1 || r.OwnersHow == sources.Unknown:
		return sources.Stamp{}
	}
	return r.Nobody
}

// ageRange returns the bounds of the time since a stamp; false: it is unknown.
func ageRange(s sources.Stamp, now time.Time) (filter.Range, bool) {
	if s.How == sources.Unknown || s.At.IsZero() {
		return filter.Range{}, false
	}
	r := exactly(now.Sub(s.At))
	switch after := s.After(); {
	case s.How == sources.AtLeast:
		r.High = math.MaxInt64
	case s.How == sources.Bound:
		r.Low = min(0, r.High)
	case !after.IsZero():
		r.High = int64(now.Sub(after))
	}
	return r, true
}

// waitOf returns the length of the longest wait of a row.
func waitOf(s *rowSubject) (longest filter.Range, known bool) {
	q := &s.row.Queue
	for i := range q.Waiters {
		if r, ok := ageRange(q.Waiters[i].Since, s.now); ok {
			longest.Low, longest.High, known = max(longest.Low, r.Low), max(longest.High, r.High), true
		}
	}
	return longest, q.How != sources.Unknown && (q.Len == 0 || known)
}

// Endless is the time left of a lease without an end.
const Endless = time.Duration(math.MaxInt64)

// ShortestLease returns the shortest time left of the leases of a row's owners.
func ShortestLease(r *sources.Row, now time.Time) (least time.Duration, known bool) {
	least = Endless
	for i := range r.Owners {
		switch o := &r.Owners[i]; {
		case o.NoExpiry:
			known = true
		case o.Expires.How != sources.Unknown && !o.Expires.At.IsZero():
			least, known = min(least, LeaseLeft(o, now)), true
		}
	}
	return least, known
}

// LeaseLeft returns the time left of a lease: never more than its length, though now, which is a
// whole second, may lie before its renewal.
func LeaseLeft(o *sources.Owner, now time.Time) time.Duration {
	left := max(o.Expires.At.Sub(now), 0)
	if o.Lease > 0 {
		left = min(left, o.Lease)
	}
	return left
}
