package operate

import (
	"slices"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// holding is a lease that one run has or waits for. Operator.mu guards all fields. The goroutine of the run sets over,
// once.
type holding struct {
	ref       sources.Ref
	label     string // ours for others
	run       *run
	session   *coord.Session // nil: not open yet
	lease     *coord.Lease   // nil: waiting
	term      *coord.Term    // nil: not an election
	waiting   bool
	enqueued  bool // see action.Holding
	over      bool
	since     time.Time
	data      []byte
	runsOut   bool
	place     int           // our last reported place in the queue; 0: none was reported
	told      time.Time     // when place was reported
	resigning *run          // the run that resigns the lease, or run itself if it gives it back; nil: none
	ended     chan struct{} // closed when nothing of the holding is left
}

func newHolding(n *run, now time.Time) *holding {
	return &holding{ref: n.Request.Target.Ref, run: n, waiting: true, since: now, ended: make(chan struct{})}
}

// owner returns our ID as the owner; "" if it is not known yet.
func (h *holding) owner() string {
	if h == nil || h.lease == nil {
		return ""
	}
	return h.lease.Owner()
}

// show returns the holding in the form for people.
func (h *holding) show() action.Holding {
	r := h.run.Request
	s := action.Holding{
		Ref: h.ref, Label: h.label, Permits: max(r.Permits, 1), Mode: r.Mode, Waiting: h.waiting, Enqueued: h.enqueued, Since: h.since, Data: h.data,
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

// PlaceIn returns our place in the row's queue, from 1; 0 if it is not known. It compares labels, because we do not
// know our ID while we wait.
func PlaceIn(row *sources.Row, identity string) int {
	if row == nil || identity == "" {
		return 0
	}
	return 1 + slices.IndexFunc(row.Queue.Waiters, func(w sources.Waiter) bool {
		return w.Label == identity || strings.HasPrefix(w.Label, identity+" ")
	})
}

// placeLocked returns our place in the row's queue, from 1; 0 if it is not known. atMost reports whether we may have an
// earlier place: some services report only the length of the queue, which is the upper bound of our place.
func (h *holding) placeLocked(row *sources.Row, identity string) (place int, atMost bool) {
	if place = PlaceIn(row, identity); place > 0 || h.place == 0 {
		return place, false
	}
	if row != nil && row.Queue.At.After(h.told) {
		h.place = min(h.place, max(row.Queue.Len, 1))
	}
	return h.place, h.place > 1
}

// owns returns the owner with that ID or session in a row; nil if the row is nil or has no such owner.
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
