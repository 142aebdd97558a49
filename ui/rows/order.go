package rows

import (
	"math"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// Order is the order of the list.
type Order uint8

const (
	ByProblems Order = iota
	ByName
	BySource
	ByKind
	ByOwner
	BySince
	ByLease
	ByWait
	ByChanges
	Orders // how many there are
)

// orderEntry describes an order of the list. Rows are sorted by number, then by text, then by name.
type orderEntry struct {
	word   string // in commands
	title  string // in the header
	number func(row *sources.Row, v *verdict.Verdict) int64
	text   func(row *sources.Row) string
}

// orderTable lists all orders. A row without a number has keyNone or keyUnknown.
var orderTable = [Orders]orderEntry{
	ByProblems: {word: "problems", title: "worst first", number: troubleKey},
	ByName:     {word: "name", title: "by name", text: func(row *sources.Row) string { return row.Name }},
	BySource:   {word: "source", title: "by source", text: func(row *sources.Row) string { return row.Source }},
	ByKind:     {word: "kind", title: "by kind", number: kindKey},
	ByOwner:    {word: "owner", title: "by owner", number: ownerKey, text: ownerText},
	BySince:    {word: "since", title: "newest first", number: sinceKey},
	ByLease:    {word: "lease", title: "least lease first", number: leaseKey},
	ByWait:     {word: "wait", title: "longest wait first", number: waitKey},
	ByChanges:  {word: "changes", title: "most changes first", number: changesKey},
}

// String returns the name of the order in the header.
func (s Order) String() string { return orderTable[s].title }

// Word returns the name of the order in commands.
func (s Order) Word() string { return orderTable[s].word }

// text returns the text by which rows with equal keys are ordered, before their names.
func (s Order) text(row *sources.Row) string {
	if text := orderTable[s].text; text != nil {
		return text(row)
	}
	return ""
}

// The keys of rows without a number, which stand last, unknown ones last of all, in reversed orders too.
const (
	keyNone    = math.MaxInt64 - 1
	keyUnknown = math.MaxInt64
)

// key returns the number by which a row is ordered.
func (x *Index) key(e *entry) int64 {
	number := orderTable[x.Order].number
	if number == nil {
		return 0
	}
	n := number(e.row, &e.v)
	if x.Order == ByProblems {
		switch {
		case e.muted:
			n = mutedKey
		case n == badKey: // how long it is one
			n = x.badSince(e.row, e.v.Lead)
		}
	}
	if x.Reverse && n != keyNone && n != keyUnknown {
		return -n
	}
	return n
}

// The keys of troubleKey, the first one first. Rows that need a person stand in the order in which they came to that,
// so their keys are the milliseconds of that instant.
const (
	leaderlessKey = -math.MaxInt64
	badKey        = math.MaxInt64/2 + iota
	staleKey      // and the next ones, by how bad they were when last known
	warnKey       = staleKey + 1 + int64(verdict.Well)
	mutedKey      = warnKey + 1
	calmKey       = mutedKey + 1
)

// troubleKey orders rows by trouble: rows that need a person, missing leaders first; then stale rows, by
// how bad they were when last known; then rows with a warning, then those with a muted problem.
func troubleKey(_ *sources.Row, v *verdict.Verdict) int64 {
	switch {
	case v.Severity == verdict.Bad && v.Lead == verdict.NoLeader:
		return leaderlessKey
	case v.Severity == verdict.Bad:
		return badKey
	case v.Status == sources.StatusStale:
		return staleKey + int64(min(v.Known, verdict.Well))
	case v.Severity == verdict.Warn:
		return warnKey
	}
	return calmKey
}

// badSince is the key of a row that needs a person: those that need one for longest first.
func (x *Index) badSince(row *sources.Row, lead verdict.Fault) int64 {
	for _, p := range x.judge.Problems(row, x.Filter.now) {
		if p.Fault == lead && p.Since.How != sources.Unknown {
			return p.Since.At.UnixMilli()
		}
	}
	return badKey
}

func kindKey(row *sources.Row, _ *verdict.Verdict) int64 {
	if row.Kind == sources.KindUnknown {
		return keyUnknown
	}
	return int64(row.Kind)
}

func ownerKey(row *sources.Row, _ *verdict.Verdict) int64 {
	if len(row.Owners) == 0 {
		return keyNone
	}
	return 0
}

func ownerText(row *sources.Row) string {
	if len(row.Owners) == 0 {
		return ""
	}
	return row.Owners[0].Label
}

func sinceKey(row *sources.Row, _ *verdict.Verdict) int64 {
	if s := sinceOf(row); s.How != sources.Unknown && !s.At.IsZero() {
		return -s.At.UnixNano()
	}
	return keyUnknown
}

func changesKey(_ *sources.Row, v *verdict.Verdict) int64 {
	if v.Status == sources.StatusNotObserved {
		return keyUnknown
	}
	return -int64(v.Changes)
}

// leaseKey returns the time at which the first of a row's leases ends.
func leaseKey(row *sources.Row, _ *verdict.Verdict) int64 {
	key := int64(keyUnknown)
	for i := range row.Owners {
		switch o := &row.Owners[i]; {
		case o.NoExpiry:
			key = min(key, keyNone)
		case o.Expires.How != sources.Unknown && !o.Expires.At.IsZero():
			key = min(key, o.Expires.At.UnixNano())
		}
	}
	return key
}

// waitKey returns the time since which somebody waits for a row. Rows that only tell the number of
// waiters follow, most waiters first.
func waitKey(row *sources.Row, _ *verdict.Verdict) int64 {
	switch {
	case row.Queue.How == sources.Unknown:
		return keyUnknown
	case row.Queue.Len == 0:
		return keyNone
	}
	if first := row.Queue.WaitingSince(); first.How != sources.Unknown {
		return first.At.UnixNano()
	}
	return math.MaxInt64/2 - int64(row.Queue.Len)
}

// OrderText returns the order of the list in words.
func (x *Index) OrderText() string {
	return x.Order.String() + paint.When(x.Reverse, ", reversed") + paint.When(x.Held, ", held")
}
