package rows

import (
	"cmp"
	"math"
	"slices"
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

// sweepRows bounds how many rows that nobody sees are judged again in one second
// because time passed, so that no frame and no key waits for 100,000 of them.
const sweepRows = 10_000

// Index keeps the list up to date from the rows that differ: what is shown, in which
// order, and how many rows are in which state.
type Index struct {
	st      *sources.State
	judge   verdict.Judge
	entries []entry // by slot
	Handles []Handle
	free    [2][]Handle // to be written over; the order before is one of them, so the next one never is in its place
	moved   []int32     // slots whose place is no longer right
	healths []health    // of the scopes
	next    int         // where the next sweep goes on
	origin  time.Time   // what entry.until is counted from
	swept   time.Duration
	soonest time.Duration // when a verdict is the next to change by itself, as the last sweep found

	recorded   []*sources.Row // by handle, see AddRecorded
	recordedAt map[sources.Ref]*sources.Row

	Filter   Selection
	Order    Order
	Problems bool         // show nothing else
	Kind     sources.Kind // KindUnknown: all
	Reverse  bool
	Held     bool // rows keep their places
	heldMore int  // moved up to here has been looked at since

	Total      int
	BySeverity [verdict.Blind + 1]int
	ByFault    [verdict.FaultCount][verdict.Warn + 1]int // problems, by the gravest fault of a row, and how grave it is
	Blind      int                                       // rows that cannot be judged now
	Unread     int                                       // those that were never read
	Stale      int
	// StaleProblems are the stale rows that were a problem when they were last known.
	StaleProblems int
}

type entry struct {
	row    *sources.Row
	key    int64         // its place in the order
	until  time.Duration // v holds, unless the row changes
	gen    uint32        // of the row: here because the rows themselves are far apart in memory
	v      verdict.Verdict
	listed bool // it passes the filter
	placed bool // it stands in order
}

// Update takes a new state and reports whether the order changed. Rows that are the same
// value as before cost a comparison.
func (x *Index) Update(st *sources.State, now time.Time) bool {
	all := x.healthChanged(st)
	if x.st == nil {
		x.origin, x.judge.Names = now, sources.Names{}
	}
	x.Filter.st, x.Filter.now = st, now
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

// Reset forgets all rows: the next State does not follow from the last. What is shown, and in
// which order, stays.
func (x *Index) Reset() {
	*x = Index{Filter: x.Filter, Order: x.Order, Problems: x.Problems, Kind: x.Kind, Reverse: x.Reverse}
}

// health is what of a scope decides how far its rows are believed.
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

// forever is an entry.until that does not come.
const forever = time.Duration(math.MaxInt64)

// Sweep judges the visible rows again because time passed, and those others whose verdict
// may be another by now, and reports whether the order changed.
func (x *Index) Sweep(now time.Time, visible []Handle) bool {
	x.Filter.now = now
	for _, h := range visible {
		if row, _ := x.At(h); row != nil && !h.Recorded() {
			x.refresh(h.Slot, row, now)
		}
	}
	at := now.Sub(x.origin)
	if at < x.swept { // somebody has set the clock back
		for i := range x.entries {
			x.entries[i].until = 0
		}
	}
	x.swept, x.soonest = at, forever
	all := !x.Filter.Expr.Empty() // it may ask for ages
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

// StaysFor reports whether no verdict changes by itself for so long after the last Sweep.
func (x *Index) StaysFor(d time.Duration) bool { return x.soonest-x.swept > d }

// refresh judges one slot, and those of the same lock elsewhere; row nil: it is free.
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
		x.count(old.v, -1)
	}
	*e = entry{row: row, placed: old.placed}
	if row != nil {
		e.gen = row.Gen
		e.until = forever
		var until time.Time
		if e.v, until = x.judge.Weigh(row, now); !until.IsZero() {
			e.until = until.Sub(x.origin)
		}
		e.key = x.key(row, &e.v)
		e.listed = x.lists(row, e.v)
		x.count(e.v, +1)
	}
	if e.listed != old.listed || e.listed && (old.row == nil || old.gen != e.gen || e.key != old.key || x.renamed(old.row, row)) {
		x.moved = append(x.moved, slot)
	}
}

// renamed reports whether a row is to be ordered by another text than before. The parts of a
// name stay for as long as its generation; looking at a row of long ago costs more than all
// the rest of weigh.
func (x *Index) renamed(old, row *sources.Row) bool {
	return x.Order == ByOwner && x.Order.text(old) != x.Order.text(row)
}

func (x *Index) lists(row *sources.Row, v verdict.Verdict) bool {
	return (!x.Problems || v.Problem()) && (x.Kind == sources.KindUnknown || row.Kind == x.Kind) && x.Filter.Passes(row, v)
}

func (x *Index) count(v verdict.Verdict, n int) {
	x.Total += n
	x.BySeverity[v.Known] += n
	if v.Problem() {
		x.ByFault[v.Lead][v.Known] += n
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

// place brings the order up to date with what moved, and reports whether it changed.
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
	kept := x.free[0][:0] // what stayed is still in order
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

// insert appends kept and fresh, each in order, to out. It looks the places of fresh up:
// a comparison with every row that stayed would read all of them.
func (x *Index) insert(out, kept, fresh []Handle) []Handle {
	for _, h := range fresh {
		i, _ := slices.BinarySearchFunc(kept, h, x.compare)
		out = append(append(out, kept[:i]...), h)
		kept = kept[i:]
	}
	return append(out, kept...)
}

// Rebuild makes the list anew after the filter or the order was changed.
func (x *Index) Rebuild() {
	out := x.free[0][:0]
	for i := range x.entries {
		e := &x.entries[i]
		e.listed = e.row != nil && x.lists(e.row, e.v)
		if e.row != nil {
			e.key = x.key(e.row, &e.v)
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
	if c := x.compareText(ra, rb); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(ra.Name, rb.Name), cmp.Compare(ra.Source, rb.Source), cmp.Compare(ra.Space, rb.Space),
		cmp.Compare(a.Slot, b.Slot))
}

// At returns the row and what is thought of it; nil if it is gone.
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

// ProblemRows is how many rows are trouble.
func (x *Index) ProblemRows() int { return x.BySeverity[verdict.Bad] + x.BySeverity[verdict.Warn] }

// ProblemsOf lists what is wrong with a row at now.
func (x *Index) ProblemsOf(row *sources.Row, now time.Time) []verdict.Problem {
	j := x.judge
	return j.Problems(row, now)
}

// Shown is how a primitive is called where nothing beside it says its source, see sources.Names.
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

// InList reports whether a row stands in the list.
func (x *Index) InList(h Handle) bool { return x.entries[h.Slot].listed }

// placeHeld takes out what is gone and puts what is new at the end; all others keep
// their places as long as the order is held. It reports whether anything changed.
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
