package rows

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// Handle is a row of a State: a slot that may be used again, and its generation.
type Handle struct {
	Slot int32
	Gen  uint32
}

// HandleOf is the handle of a row of a State.
func HandleOf(row *sources.Row) Handle { return Handle{int32(row.Slot), row.Gen} }

// sweepRows bounds the invisible rows that are judged again in one second because time passed, so
// that no frame and no key waits for 100,000 of them.
const sweepRows = 10_000

// Index keeps the list up to date from the rows that differ: the listed rows in their order, and
// the number of rows in each state.
type Index struct {
	st      *sources.State
	judge   verdict.Judge
	entries []entry // by slot
	Handles []Handle
	free    [2][]Handle // for reuse; the previous order is one of them and is not overwritten by the next one
	moved   []int32     // slots whose place is no longer right
	healths []health    // of the scopes
	next    int         // the slot at which the next sweep continues
	origin  time.Time   // entry.until is counted from it
	swept   time.Duration
	soonest time.Duration // when the next verdict changes by itself, according to the last sweep

	problems   map[int32]bool // the slots of the rows with a problem
	recorded   []*sources.Row // by handle, see ListRecorded
	recordedAt map[sources.Ref]*sources.Row

	Filter   Selection
	Order    Order
	Problems bool         // show nothing else
	Kind     sources.Kind // KindUnknown: all
	Reverse  bool
	Held     bool // rows keep their places
	heldMore int  // moved up to here is in the list

	Counts
}

// Counts are the numbers of the header: of all rows, whatever the filter leaves out.
type Counts struct {
	Total         int
	BySeverity    [verdict.Blind + 1]int
	ByFault       [verdict.FaultCount][verdict.Warn + 1]int // problems, by the gravest fault of a row and its severity
	Blind         int                                       // rows that cannot be judged now
	Unread        int                                       // rows that were never read
	Stale         int
	StaleProblems int // stale rows that were a problem when last known
	Muted         int // rows with a problem that is muted: the numbers by severity and fault are without them
}

type entry struct {
	row    *sources.Row
	key    int64         // see Index.key
	until  time.Duration // v holds until then, unless the row changes
	gen    uint32        // of the row: copied because the rows themselves are far apart in memory
	v      verdict.Verdict
	listed bool // it passes the filter
	placed bool // it is at its place in the order
	muted  bool // its problem is
}

// Update reads a new state and reports whether the order changed. Rows with the same pointer as
// before cost a comparison.
func (x *Index) Update(st *sources.State, now time.Time) bool {
	all := x.healthChanged(st)
	if x.st == nil {
		x.origin, x.judge.Names = now, sources.Names{}
	}
	x.Filter.At(st, now)
	x.st, x.judge.State = st, st
	for len(x.entries) < len(st.Rows) {
		x.entries = append(x.entries, entry{})
	}
	for i, row := range st.Rows {
		if e := &x.entries[i]; e.row != row || all && row != nil {
			x.refresh(int32(i), row, now)
		}
	}
	for i := len(st.Rows); i < len(x.entries); i++ {
		if x.entries[i].row != nil {
			x.refresh(int32(i), nil, now)
		}
	}
	return x.place()
}

// Reset forgets all rows, because the next State does not follow from the last. Filter and order
// stay.
func (x *Index) Reset() {
	*x = Index{Filter: x.Filter, Order: x.Order, Problems: x.Problems, Kind: x.Kind, Reverse: x.Reverse}
}

// health is the part of a scope that changes the verdicts of its rows.
type health struct {
	state  sources.Health
	synced bool
}

// healthChanged reports whether a scope became silent or came back, and remembers it.
func (x *Index) healthChanged(st *sources.State) bool {
	changed := len(x.healths) != len(st.Scopes)
	x.healths = slices.Grow(x.healths[:0], len(st.Scopes))[:len(st.Scopes)]
	for i := range st.Scopes {
		if now := (health{st.Scopes[i].Health, st.Scopes[i].Synced}); x.healths[i] != now {
			x.healths[i], changed = now, true
		}
	}
	return changed
}

// forever is the entry.until of a verdict that time does not change.
const forever = time.Duration(math.MaxInt64)

// Sweep judges the visible rows again because time passed, and other rows whose verdict may have
// changed by now, and reports whether the order changed.
func (x *Index) Sweep(now time.Time, visible []Handle) bool {
	x.Filter.now = now
	for _, h := range visible {
		if row, _ := x.At(h); row != nil && !h.Recorded() {
			x.refresh(h.Slot, row, now)
		}
	}
	at := now.Sub(x.origin)
	if at < x.swept { // the clock was set back
		for i := range x.entries {
			x.entries[i].until = 0
		}
	}
	x.swept, x.soonest = at, forever
	all := !x.Filter.Expr.Empty() // it may compare ages
	for left, looked := sweepRows, 0; left > 0 && looked < len(x.entries); looked++ {
		if x.next++; x.next >= len(x.entries) {
			x.next = 0
		}
		if e := &x.entries[x.next]; e.row != nil && (all || at >= e.until) {
			x.refresh(int32(x.next), e.row, now)
			left--
		}
		if e := &x.entries[x.next]; e.row != nil {
			x.soonest = min(x.soonest, e.until)
		}
	}
	return x.place()
}

// StaysFor reports whether no verdict changes by itself within d after the last Sweep.
func (x *Index) StaysFor(d time.Duration) bool { return x.soonest-x.swept > d }

// refresh judges the row of a slot, and those of the same lock elsewhere. row nil: the slot is free.
func (x *Index) refresh(slot int32, row *sources.Row, now time.Time) {
	old := x.entries[slot].row
	same := old != nil && row != nil && row.Gen == x.entries[slot].gen
	if old != nil && !same {
		x.judge.Names.Remove(old.Name, int(slot))
	}
	if row != nil && !same {
		x.judge.Names.Add(row.Name, int(slot))
	}
	x.weigh(slot, row, now)
	for _, changed := range [...]*sources.Row{old, row} {
		if changed == nil || same && changed == old {
			continue
		}
		for _, peer := range x.judge.Peers(changed) {
			if peer != slot {
				x.weigh(peer, x.entries[peer].row, now)
			}
		}
	}
}

func (x *Index) weigh(slot int32, row *sources.Row, now time.Time) {
	e := &x.entries[slot]
	old := *e
	if old.row != nil {
		x.count(&old, -1)
	}
	*e = entry{row: row, placed: old.placed}
	delete(x.problems, slot)
	if row != nil {
		e.gen = row.Gen
		e.until = forever
		var until time.Time
		if e.v, until = x.judge.Weigh(row, now); !until.IsZero() {
			e.until = until.Sub(x.origin)
		}
		e.muted = old.muted && old.gen == e.gen && old.v.Lead == e.v.Lead && old.v.Known == e.v.Known
		e.key = x.key(e)
		e.listed = x.lists(row, e.v)
		x.count(e, +1)
		if e.v.Problem() {
			if x.problems == nil {
				x.problems = map[int32]bool{}
			}
			x.problems[slot] = true
		}
	}
	if e.listed != old.listed || e.listed && (old.row == nil || old.gen != e.gen || e.key != old.key || x.renamed(old.row, row)) {
		x.moved = append(x.moved, slot)
	}
}

// renamed reports whether the text by which a row is ordered has changed. Names do not change within
// a generation, so only owners are compared: reading an old row costs more than the rest of weigh.
func (x *Index) renamed(old, row *sources.Row) bool {
	return x.Order == ByOwner && x.Order.text(old) != x.Order.text(row)
}

func (x *Index) lists(row *sources.Row, v verdict.Verdict) bool {
	return (!x.Problems || v.Problem()) && (x.Kind == sources.KindUnknown || row.Kind == x.Kind) && x.Filter.Passes(row, v)
}

func (x *Index) count(e *entry, n int) {
	v := &e.v
	switch x.Total += n; {
	case e.muted:
		x.Muted += n
	case v.Problem():
		x.ByFault[v.Lead][v.Known] += n
		fallthrough
	default:
		x.BySeverity[v.Known] += n
	}
	if v.Severity == verdict.Blind {
		x.Blind += n
	}
	switch v.Status {
	case sources.StatusNotObserved:
		x.Unread += n
	case sources.StatusStale:
		if x.Stale += n; v.Problem() {
			x.StaleProblems += n
		}
	}
}

// place updates the order from x.moved, and reports whether it changed.
func (x *Index) place() bool {
	if x.Held {
		return x.placeHeld()
	}
	if x.heldMore = 0; len(x.moved) == 0 {
		return false
	}
	for _, s := range x.moved {
		x.entries[s].placed = false
	}
	kept := x.free[0][:0] // still in order
	for _, h := range x.Handles {
		if e := &x.entries[h.Slot]; e.placed && e.gen == h.Gen {
			kept = append(kept, h)
		}
	}
	fresh := make([]Handle, 0, len(x.moved))
	for _, s := range x.moved {
		if e := &x.entries[s]; e.listed && !e.placed {
			e.placed = true
			fresh = append(fresh, Handle{s, e.gen})
		}
	}
	slices.SortFunc(fresh, x.compare)
	next := x.insert(x.free[1][:0], kept, fresh)
	x.free, x.Handles = [2][]Handle{x.Handles, kept}, next
	x.moved = x.moved[:0]
	return true
}

// insert merges kept and fresh, both sorted, into out. It searches the places of fresh in kept:
// a merge would read every row of kept.
func (x *Index) insert(out, kept, fresh []Handle) []Handle {
	for _, h := range fresh {
		i, _ := slices.BinarySearchFunc(kept, h, x.compare)
		out = append(append(out, kept[:i]...), h)
		kept = kept[i:]
	}
	return append(out, kept...)
}

// Rebuild lists and sorts all rows again after the filter or the order was changed.
func (x *Index) Rebuild() {
	out := x.free[0][:0]
	for i := range x.entries {
		e := &x.entries[i]
		e.listed = e.row != nil && x.lists(e.row, e.v)
		if e.row != nil {
			e.key = x.key(e)
		}
		if e.placed = e.listed; e.listed {
			out = append(out, Handle{int32(i), e.gen})
		}
	}
	slices.SortFunc(out, x.compare)
	x.moved, x.Held, x.heldMore = x.moved[:0], false, 0
	x.free[0], x.Handles = x.Handles, out
}

func (x *Index) compare(a, b Handle) int {
	ea, eb := &x.entries[a.Slot], &x.entries[b.Slot]
	if c := cmp.Compare(ea.key, eb.key); c != 0 {
		return c
	}
	ra, rb := ea.row, eb.row
	c := strings.Compare(x.Order.text(ra), x.Order.text(rb))
	if x.Reverse {
		c = -c
	}
	if c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(ra.Name, rb.Name), cmp.Compare(ra.Source, rb.Source), cmp.Compare(ra.Space, rb.Space),
		cmp.Compare(a.Slot, b.Slot))
}

// At returns a row and its verdict; nil if it is gone.
func (x *Index) At(h Handle) (*sources.Row, verdict.Verdict) {
	switch {
	case h.Recorded():
		return x.recordedRow(h)
	case int(h.Slot) >= len(x.entries):
		return nil, verdict.Verdict{}
	}
	e := &x.entries[h.Slot]
	if e.row == nil || e.gen != h.Gen {
		return nil, verdict.Verdict{}
	}
	return e.row, e.v
}

// Shown returns the name of a primitive for places that do not show its source, see sources.Names.
func (x *Index) Shown(ref sources.Ref) string {
	return x.judge.Names.Shown(ref, func(slot int32) sources.Ref {
		if slot < 0 {
			return x.recorded[-1-slot].Ref
		}
		return x.entries[slot].row.Ref
	})
}

// Rows yields the rows that are listed, in their order.
func (x *Index) Rows(yield func(*sources.Row) bool) {
	for _, h := range x.Handles {
		if row, _ := x.At(h); row != nil && !yield(row) {
			return
		}
	}
}

// InList reports whether a row is in the list. One that exists in a recording only is if it passes the filter.
func (x *Index) InList(h Handle) bool {
	if h.Recorded() {
		row, v := x.recordedRow(h)
		return row != nil && x.lists(row, v)
	}
	return x.entries[h.Slot].listed
}

// placeHeld removes rows that are gone and appends new ones; all others keep their places while the
// order is held. It reports whether the list changed.
func (x *Index) placeHeld() bool {
	fresh := x.moved[x.heldMore:]
	if len(fresh) == 0 {
		return false
	}
	x.heldMore = len(x.moved)
	next := x.free[0][:0]
	for _, h := range x.Handles {
		if row, _ := x.At(h); row != nil {
			next = append(next, h)
		} else {
			x.entries[h.Slot].placed = false // another row may stand in the slot
		}
	}
	for _, s := range fresh {
		if e := &x.entries[s]; e.listed && !e.placed {
			e.placed = true
			next = append(next, Handle{s, e.gen})
		}
	}
	x.free[0], x.Handles = x.Handles, next
	return true
}
