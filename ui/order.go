package ui

import (
	"math"
	"strings"
	"time"

	"coordtop/sources"
)

// sortMode is the order of the list.
type sortMode uint8

const (
	sortProblems sortMode = iota
	sortName
	sortSource
	sortKind
	sortOwner
	sortSince
	sortLease
	sortWait
	sortChanges
	sortModes // how many there are
)

func (s sortMode) String() string {
	return [...]string{"problems first", "by name", "by source", "by kind", "by owner", "newest first", "least lease first",
		"longest wait first", "most changes first"}[s]
}

// word is how a command names the order.
func (s sortMode) word() string {
	return [...]string{"problems", "name", "source", "kind", "owner", "since", "lease", "wait", "changes"}[s]
}

// orderText says how the list is ordered.
func (x *index) orderText() string {
	text := x.sort.String()
	if x.reverse {
		text += ", reversed"
	}
	switch {
	case x.held && x.sort == sortProblems && !x.reverse:
		return "order held"
	case x.held:
		return text + ", held"
	}
	return text
}

// Keys of rows that have no number to be ordered by: those stand last, what is not known
// last of all, also where the order is reversed.
const (
	keyNone    = math.MaxInt64 - 1
	keyUnknown = math.MaxInt64
)

// key is the number that a row is ordered by; text is what comes after it.
func (x *index) key(row *sources.Row, v verdict) int64 {
	n := x.number(row, v)
	if x.reverse && n != keyNone && n != keyUnknown {
		return -n
	}
	return n
}

func (x *index) number(row *sources.Row, v verdict) int64 {
	switch x.sort {
	case sortProblems:
		return int64(v.rank)
	case sortKind:
		if row.Kind == sources.KindUnknown {
			return keyUnknown
		}
		return int64(row.Kind)
	case sortOwner:
		if len(row.Owners) == 0 {
			return keyNone
		}
	case sortSince:
		if at, ok := sinceOf(row); ok {
			return -at.UnixNano()
		}
		return keyUnknown
	case sortLease:
		return leaseKey(row)
	case sortWait:
		return waitKey(row)
	case sortChanges:
		if v.status == sources.StatusNotObserved {
			return keyUnknown
		}
		return -int64(v.changes)
	}
	return 0
}

// leaseKey is when the first of a row's leases ends.
func leaseKey(row *sources.Row) int64 {
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
func waitKey(row *sources.Row) int64 {
	switch {
	case row.Queue.How == sources.Unknown:
		return keyUnknown
	case row.Queue.Len == 0:
		return keyNone
	}
	key := math.MaxInt64/2 - int64(row.Queue.Len)
	for i := range row.Queue.Waiters {
		if s := row.Queue.Waiters[i].Since; s.How != sources.Unknown && !s.At.IsZero() {
			key = min(key, s.At.UnixNano())
		}
	}
	return key
}

// text is what rows with equal keys are ordered by, before their names.
func (x *index) text(row *sources.Row) string {
	switch x.sort {
	case sortName:
		return row.Name
	case sortSource:
		return row.Source
	case sortOwner:
		if len(row.Owners) > 0 {
			return row.Owners[0].Label
		}
	}
	return ""
}

func (x *index) compareText(a, b *sources.Row) int {
	c := strings.Compare(x.text(a), x.text(b))
	if x.reverse {
		return -c
	}
	return c
}

// placeHeld takes out what is gone and puts what is new at the end; all others keep
// their places until the order is held no more. It says whether anything changed.
func (x *index) placeHeld() bool {
	fresh := x.moved[x.heldMore:]
	if len(fresh) == 0 {
		return false
	}
	x.heldMore = len(x.moved)
	next := x.free[0][:0]
	for _, h := range x.order {
		if row, _ := x.at(h); row != nil {
			next = append(next, h)
		} else {
			x.entries[h.slot].placed = false // another row may stand in the slot
		}
	}
	for _, s := range fresh {
		if e := &x.entries[s]; e.listed && !e.placed {
			e.placed = true
			next = append(next, handle{s, e.gen})
		}
	}
	x.free[0], x.order = x.order, next
	return true
}

func orderOf(i intent) (sortMode, bool) {
	s, ok := map[intent]sortMode{doByProblems: sortProblems, doByName: sortName, doBySource: sortSource, doByKind: sortKind, doByOwner: sortOwner,
		doBySince: sortSince, doByLease: sortLease, doByWait: sortWait, doByChanges: sortChanges}[i]
	return s, ok
}

// order orders the list; the same order again is reversed.
func (m *model) order(s sortMode) {
	m.idx.reverse = m.idx.sort == s && !m.idx.reverse
	m.idx.sort = s
	m.switchTo(viewList)
	m.relist()
}

// holdTime is how long rows keep their places after the cursor was last used: nobody
// should act on a row that moved in under the eye.
const holdTime = 5 * time.Second

// used notes that the person works with the rows as they stand.
func (m *model) used(i intent) {
	switch i {
	case doUp, doDown, doHalfUp, doHalfDown, doPageUp, doPageDown, doTop, doBottom, doMark, doNext, doPrevious, doBack:
		if m.view == viewList && m.tbl.Moved() {
			m.idx.held, m.heldUntil = true, m.clock.Add(holdTime)
		}
	}
}

// release lets the rows move again when the cursor was not used for a while.
func (m *model) release() {
	if m.idx.held && !m.clock.Before(m.heldUntil) {
		m.idx.held = false
	}
}
