package rows

import (
	"math"
	"strings"

	"coordtop/sources"
	"coordtop/sources/verdict"
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

// orderEntry is what there is to know of an order of the list.
type orderEntry struct {
	word   string                                           // how a command names it
	title  string                                           // how the header names it
	number func(row *sources.Row, v *verdict.Verdict) int64 // what rows are ordered by first; nil: nothing
	text   func(row *sources.Row) string                    // then this, before their names; nil: nothing
}

// orderTable lists all orders. A row that has no number has keyNone or keyUnknown.
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

// String is how the header names the order.
func (s Order) String() string { return orderTable[s].title }

// Word is how a command names the order.
func (s Order) Word() string { return orderTable[s].word }

// text is what rows with equal keys are ordered by, before their names.
func (s Order) text(row *sources.Row) string {
	if text := orderTable[s].text; text != nil {
		return text(row)
	}
	return ""
}

// Keys of rows that have no number to be ordered by: those stand last, what is not known
// last of all, also where the order is reversed.
const (
	keyNone    = math.MaxInt64 - 1
	keyUnknown = math.MaxInt64
)

// key is the number that a row is ordered by.
func (x *Index) key(row *sources.Row, v *verdict.Verdict) int64 {
	number := orderTable[x.Order].number
	if number == nil {
		return 0
	}
	n := number(row, v)
	if x.Reverse && n != keyNone && n != keyUnknown {
		return -n
	}
	return n
}

// troubleKey orders rows by trouble: what needs a person, leaders that are missed first; then what
// cannot be judged because its source is silent, by how bad it was when it was last known; then what is
// worth a look.
func troubleKey(_ *sources.Row, v *verdict.Verdict) int64 {
	switch {
	case v.Severity == verdict.Bad && v.Lead == verdict.NoLeader:
		return 0
	case v.Severity == verdict.Bad:
		return 1
	case v.Status == sources.StatusStale:
		return 2 + int64(min(v.Known, verdict.Well))
	case v.Severity == verdict.Warn:
		return 5
	}
	return 6
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

// leaseKey is when the first of a row's leases ends.
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

// waitKey is since when somebody waits for a row; where only their number is told, after
// all of those, most first.
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

// OrderText says how the list is ordered.
func (x *Index) OrderText() string {
	text := x.Order.String()
	if x.Reverse {
		text += ", reversed"
	}
	if x.Held {
		text += ", held"
	}
	return text
}

func (x *Index) compareText(a, b *sources.Row) int {
	c := strings.Compare(x.Order.text(a), x.Order.text(b))
	if x.Reverse {
		return -c
	}
	return c
}
