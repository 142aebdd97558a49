package operate

import (
	"slices"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// holding is what one run took or waits for. All of it is guarded by Operator.mu; over is
// set, once, by the goroutine of the run.
type holding struct {
	ref       sources.Ref
	run       *run
	session   *coord.Session // nil: not open yet
	lease     *coord.Lease   // nil: waiting
	term      *coord.Term    // nil: not an election
	waiting   bool
	over      bool
	since     time.Time
	data      []byte
	runsOut   bool
	place     int           // in the queue at most, as the service told it; 0: it did not
	told      time.Time     // when it did
	resigning *run          // that resigns it, or run itself, giving it back; nil: none
	ended     chan struct{} // closed when nothing of it is left
}

func newHolding(n *run, now time.Time) *holding {
	return &holding{ref: n.Request.Target.Ref, run: n, waiting: true, since: now, ended: make(chan struct{})}
}

// owner is our identity there; "" while it is not known.
func (h *holding) owner() string {
	if h.lease == nil {
		return ""
	}
	return h.lease.Owner()
}

// show is what people see of it.
func (h *holding) show() action.Holding {
	r := h.run.Request
	s := action.Holding{
		Ref: h.ref, Kind: r.Target.Kind, Permits: max(r.Permits, 1), Mode: r.Mode, Waiting: h.waiting, Since: h.since, Data: h.data,
		RunsOut: h.runsOut,
	}
	if h.waiting && r.Wait > 0 {
		s.GivesUp = h.since.Add(r.Wait)
	}
	if h.session != nil {
		s.Owner = h.session.ID()
	}
	if h.lease != nil {
		s.Owner, s.Fence, s.Until = h.lease.Owner(), h.lease.Fence(), h.lease.TrustedUntil()
	}
	return s
}

// placeIn finds our place in the row's queue, from 1; 0: it is not told. Waiters have no
// identity that we knew before we own, so it is our name that is looked for.
func placeIn(row *sources.Row, identity string) int {
	if row == nil || identity == "" {
		return 0
	}
	return 1 + slices.IndexFunc(row.Queue.Waiters, func(w sources.Waiter) bool {
		return w.Label == identity || strings.HasPrefix(w.Label, identity+" ")
	})
}

// placeLocked is our place in the row's queue, from 1; 0: it is not known. atMost: it may also be
// an earlier one, because the service only counts the queue, and serves it in order: nobody is
// before us who was not in it when its length was told or read.
func (h *holding) placeLocked(row *sources.Row, identity string) (place int, atMost bool) {
	if place = placeIn(row, identity); place > 0 || h.place == 0 {
		return place, false
	}
	if row != nil && row.Queue.At.After(h.told) {
		h.place = min(h.place, max(row.Queue.Len, 1))
	}
	return h.place, h.place > 1
}

// owns finds the owner of that identity in a row; nil: the row, which may be nil, shows none.
func owns(row *sources.Row, id string) *sources.Owner {
	if row == nil || id == "" {
		return nil
	}
	i := slices.IndexFunc(row.Owners, func(w sources.Owner) bool { return w.ID == id || w.Session == id })
	if i < 0 {
		return nil
	}
	return &row.Owners[i]
}
