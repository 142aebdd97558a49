package pgsource

import "slices"

// line is the queue of one lock.
type line struct {
	waiters []place
	told    bool // the order is from the server; if false, it is inferred from the beginnings of the waits
}

// place is one waiter's place; row is the index of its row. Waiters with the same turn are served together; a turn of 0
// is unknown.
type place struct{ row, turn int }

// party is a session or a prepared transaction with the modes of one lock that it owns and wants.
type party struct {
	who   *lockRow // its first row
	owns  uint16   // modes as bits
	row   int      // index of the row with which it waits; -1 if it does not wait
	wants mode
}

// partiesOf sorts rows by session, in the order of their first rows.
func partiesOf(rows []lockRow) []*party {
	type name struct {
		pid     uint32
		virtual string
	}
	known := make(map[name]*party, len(rows))
	list := make([]*party, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		p := known[name{r.pid, r.virtual}]
		if p == nil {
			p = &party{who: r, row: -1}
			known[name{r.pid, r.virtual}] = p
			list = append(list, p)
		}
		if r.granted {
			p.owns |= 1 << r.mode
		} else {
			p.row, p.wants = i, r.mode
		}
	}
	return list
}

// needs reports whether p must wait because of a mode that other owns.
func (p *party) needs(other *party) bool { return p != other && conflicting[p.wants]&other.owns != 0 }

// inferQueue returns the waiting parties in the order in which the server will serve them, as far as that follows from
// the order of their rows. Each party goes to the end, except one that owns what a waiter needs; that goes before the
// first such waiter (Postgres, proc.c, ProcSleep). The function cannot consider waiters that have left, nor moves by
// the deadlock detector.
func inferQueue(parties []*party) []*party {
	waiting := slices.DeleteFunc(parties, func(p *party) bool { return p.row < 0 })
	slices.SortFunc(waiting, func(p, q *party) int { return p.row - q.row })
	var queue []*party
	for _, p := range waiting {
		at := len(queue)
		if p.owns != 0 {
			if i := slices.IndexFunc(queue, func(w *party) bool { return w.needs(p) }); i >= 0 {
				at = i
			}
		}
		queue = slices.Insert(queue, at, p)
	}
	return queue
}

// turnsOf numbers the turns of a queue, in its order. It assumes that all owners that do not wait release the lock,
// then the first turn acquires and releases it, and so on. From the front, the server serves those who need nothing
// that another owns or that one before them wants (proc.c, ProcLockWakeup). Parties that wait for each other would
// never acquire the lock and have no turn. The call changes what the parties own.
func turnsOf(queue []*party) []place {
	var list []place
	for turn := 1; len(queue) > 0; turn++ {
		var rest []*party
		wanted := uint16(0)
		for _, p := range queue {
			if conflicting[p.wants]&wanted != 0 || slices.ContainsFunc(queue, p.needs) {
				wanted |= 1 << p.wants
				rest = append(rest, p)
				continue
			}
			p.owns |= 1 << p.wants
			list = append(list, place{row: p.row, turn: turn})
		}
		if len(rest) == len(queue) {
			for _, p := range rest {
				list = append(list, place{row: p.row})
			}
			break
		}
		queue = rest
	}
	return list
}

// blockers returns at most limit rows for which waiter i of a line waits: owners in a conflicting mode, and waiters
// before it in the queue that want a conflicting mode.
func blockers(rows []lockRow, l *line, i, limit int) []*lockRow {
	var list []*lockRow
	me := &rows[l.waiters[i].row]
	add := func(r *lockRow) {
		if len(list) < limit && me.mode.conflicts(r.mode) && (r.pid != me.pid || r.pid == 0) &&
			!slices.ContainsFunc(list, func(o *lockRow) bool { return o.pid == r.pid && o.virtual == r.virtual }) {
			list = append(list, r)
		}
	}
	for j := range rows {
		if rows[j].granted {
			add(&rows[j])
		}
	}
	for _, before := range l.waiters[:i] {
		add(&rows[before.row])
	}
	return list
}
