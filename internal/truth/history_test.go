package truth

import (
	"sync"
	"time"
)

// deed is what happened to an owner or waiter of a row.
type deed uint8

const (
	begins    deed = iota // it owns the row from now on
	ends                  // it does not any more
	renews                // it goes on, with a longer lease
	joins                 // it waits
	leaves                // it does not any more: it gave up, or owns it now
	proclaims             // it, or anybody, wrote other data
)

func (d deed) String() string {
	return [...]string{"take", "end", "renewal", "join", "leave", "proclamation"}[d]
}

// change is one true change of a row. It happened after from, and at to or before.
type change struct {
	row, who string // the printed name and label
	id       string // the printed id, up to an @; "": of nobody
	what     deed
	fence    string // of a take; "": it has none
	data     string // of a proclamation, as it is quoted
	from, to time.Time
	cause    string // of an end, as it is printed; "": not known

	sessionEnds *time.Time // of an end: when the session of that owner, or its server, ended; nil: it has none that can
	leaseEnds   time.Time  // of an end: not before this its lease would have been over; zero: it had none
	granted     bool       // of a leave: it owns the row from then on, which the next change says
	mute        bool       // no line need tell of it: the data of what was deleted is gone with it
	first       bool       // it was so before the program looked: no line is expected to tell of it
}

// history is what really happened, row by row in the true order.
type history struct {
	mu   sync.Mutex
	rows map[string][]change
	sum  int
}

func newHistory() *history { return &history{rows: map[string][]change{}} }

// add writes changes down, in the order in which they happened.
func (h *history) add(changes ...change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range changes {
		h.rows[c.row] = append(h.rows[c.row], c)
		h.sum++
	}
}

// owners are who owns each row at the end, waiters who waits.
func (h *history) owners() map[string]map[string]int { return h.present(begins, ends) }

func (h *history) waiters() map[string]map[string]int { return h.present(joins, leaves) }

func (h *history) present(in, out deed) map[string]map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := map[string]map[string]int{}
	for row, changes := range h.rows {
		all[row] = map[string]int{}
		for _, c := range changes {
			switch c.what {
			case in:
				all[row][c.id]++
			case out:
				less(all[row], c.id)
			}
		}
	}
	return all
}

// less takes one of who away.
func less(of map[string]int, who string) {
	if of[who]--; of[who] <= 0 {
		delete(of, who)
	}
}
