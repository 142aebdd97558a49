package pgsource

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"coordtop/sources"
)

const (
	// blockingMost is the maximum number of calls of pg_blocking_pids in any second, because each call locks all
	// partitions of the server's lock table.
	blockingMost = 20
	// blockingStale is the age from which an answer is asked for again, because the deadlock detector may move a waiter
	// once, after deadlock_timeout.
	blockingStale = time.Second
	// askedMost is the length of the longest queue whose order is asked for.
	askedMost = 200
)

// queueOrder keeps the server's answers about the queue of the selected lock. The server is asked about each waiter
// when it arrives, and again when the number of calls allows it.
//
// An answer counts if the looks before and after it show the same wait, because the waiter was then in this queue all
// the time. If answers contradict each other, because somebody moved between two of them, all are dropped.
type queueOrder struct {
	ident                     // the selected lock; zero if none is
	answers map[wait]blocking // for the present waiters
}

// orderOf returns the known answers about the queue of a lock; nil means no lock.
func (t *lockTable) orderOf(l *lock) queueOrder {
	switch {
	case l == nil:
		return queueOrder{}
	case l.ident == t.order.ident:
		return t.order
	}
	return queueOrder{ident: l.ident}
}

// callTimes are the times of the last calls, and how many calls are allowed in a second.
type callTimes struct {
	at   []time.Time
	most int
}

// allowed returns the number of calls that may be made now.
func (c *callTimes) allowed(now time.Time) int {
	c.at = slices.DeleteFunc(c.at, func(at time.Time) bool { return now.Sub(at) > time.Second })
	return max(c.most-len(c.at), 0)
}

// wait identifies one wait of one process.
type wait struct {
	pid   uint32
	mode  mode
	since int64
}

func (r *lockRow) waiting() wait { return wait{r.pid, r.mode, r.wait} }

// blocking is the server's answer to the question which processes block a process.
type blocking struct {
	at      time.Time // when the question was sent
	blocked []uint32
}

// blockingSQL calls the function for each process in turn. It names the owners of the lock that the process wants, and
// the waiters before it that want a conflicting mode.
const blockingSQL = `select pid, pg_catalog.pg_blocking_pids(pid)::text from pg_catalog.unnest($1::int4[]) pid`

// due returns the waits in rows about which to ask: first those without an answer, in order, then those with the oldest
// answers.
func (q *queueOrder) due(rows []lockRow, now time.Time) []wait {
	waiting := waitsOf(rows)
	if len(waiting) > askedMost || inAnyOrder(rows) {
		return nil
	}
	waiting = slices.DeleteFunc(waiting, func(w wait) bool {
		a, ok := q.answers[w]
		return ok && now.Sub(a.at) < blockingStale
	})
	slices.SortStableFunc(waiting, func(a, b wait) int { return q.answers[a].at.Compare(q.answers[b].at) })
	return waiting
}

// inAnyOrder reports whether no two waiters exclude each other, so that the order of the queue means nothing.
func inAnyOrder(rows []lockRow) bool {
	wanted := uint16(0)
	for i := range rows {
		if r := &rows[i]; !r.granted {
			if conflicting[r.mode]&wanted != 0 {
				return false
			}
			wanted |= 1 << r.mode
		}
	}
	return true
}

func waitsOf(rows []lockRow) []wait {
	var list []wait
	for i := range rows {
		if !rows[i].granted {
			list = append(list, rows[i].waiting())
		}
	}
	return list
}

// askWaits asks the server which processes block some waiters. It returns the answers by process.
func (w *watcher) askWaits(ctx context.Context, some []wait) (map[uint32]blocking, error) {
	pids := make([]uint32, len(some))
	for i, w := range some {
		pids[i] = w.pid
	}
	answers := make(map[uint32]blocking, len(some))
	began := time.Now()
	err := w.each(ctx, "asking who waits for whom", &w.asks.blocking, pids, func(f fields) {
		answers[f.number32(0)] = blocking{at: began, blocked: readArray(f[1])}
	})
	w.calls.at = append(w.calls.at, slices.Repeat([]time.Time{time.Now()}, len(some))...)
	return answers, err
}

// readArray parses the text of an int4[].
func readArray(text []byte) []uint32 {
	var list []uint32
	for n := range bytes.SplitSeq(bytes.Trim(text, "{}"), []byte(",")) {
		if pid, err := strconv.ParseUint(string(n), 10, 32); err == nil {
			list = append(list, uint32(pid))
		}
	}
	return list
}

// keep keeps the server's answers about those waits that both the last look and s show. The rows of the lock in these
// looks are before and now, in order.
func (q *queueOrder) keep(s *snapshot, before, now []lockRow) {
	was, is := waitsOf(before), waitsOf(now)
	kept := make(map[wait]blocking, len(is))
	for _, w := range is {
		if a, ok := q.answers[w]; ok {
			kept[w] = a
		}
	}
	for _, w := range s.asked {
		if a, ok := s.blocking[w.pid]; ok && slices.Contains(was, w) && slices.Contains(is, w) {
			kept[w] = a
		}
	}
	q.answers = kept
}

// sort puts an inferred queue in the order of the answers. It returns false if the answers do not decide the order. If
// one waiter owns what another wants, the answer about the other names it in any case; only the answer about the owner
// shows which of them comes first.
func (q *queueOrder) sort(queue []*party, rows []lockRow) ([]*party, bool) {
	answers := make([]blocking, len(queue))
	for i, p := range queue {
		a, ok := q.answers[rows[p.row].waiting()]
		if !ok {
			return nil, false
		}
		answers[i] = a
	}
	ahead := make([][]int, len(queue)) // for each place, the places that come after it
	behind := make([]int, len(queue))  // for each place, how many come before it
	for i, v := range queue {
		for j := i + 1; j < len(queue); j++ {
			w := queue[j]
			if !v.wants.conflicts(w.wants) {
				continue
			}
			first, second := i, j
			switch sees, seen := slices.Contains(answers[j].blocked, v.who.pid), slices.Contains(answers[i].blocked, w.who.pid); {
			case w.needs(v) && v.needs(w), sees == seen && !w.needs(v) && !v.needs(w), !sees && w.needs(v), !seen && v.needs(w):
				q.answers = nil
				return nil, false
			case w.needs(v) && seen, v.needs(w) && !sees, seen && !sees:
				first, second = j, i
			}
			ahead[first] = append(ahead[first], second)
			behind[second]++
		}
	}
	return sorted(queue, ahead, behind)
}

// sorted returns the queue in an order that agrees with ahead. If there is no such order, it returns the queue
// unchanged and false.
func sorted(queue []*party, ahead [][]int, behind []int) ([]*party, bool) {
	list := make([]*party, 0, len(queue))
	for len(list) < len(queue) {
		i := slices.Index(behind, 0)
		if i < 0 {
			return nil, false
		}
		behind[i] = -1
		for _, j := range ahead[i] {
			behind[j]--
		}
		list = append(list, queue[i])
	}
	return list, true
}

// lineOf returns the queue of a lock with these rows.
func (q *queueOrder) lineOf(id ident, rows []lockRow) line {
	queue := inferQueue(partiesOf(rows))
	l := line{told: inAnyOrder(rows)}
	if q.ident == id && !l.told {
		if list, ok := q.sort(queue, rows); ok {
			queue, l.told = list, true
		}
	}
	l.waiters = turnsOf(queue)
	return l
}

func (l *line) how() sources.Known {
	if l.told {
		return sources.Told
	}
	return sources.Inferred
}
