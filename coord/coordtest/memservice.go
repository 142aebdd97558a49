package coordtest

import (
	"slices"
	"time"

	"coordtop/coord"
)

// This file is the service's model: primitives, queues and who is served next. Requests, answers and faults are
// elsewhere.

type itemKey struct {
	kind coord.Kind
	name string
}

// item is one primitive. It stays in the map when nobody owns it, so that watchers need not start again; exists reports
// whether clients may see it.
type item struct {
	limit     uint64
	exists    bool // semaphores only
	ephemeral bool
	data      []byte
	owners    []*entry // in the order in which they were served
	queue     []*entry // in the order of arrival
	changed   chan struct{}
}

// handle names one claim of one client. ask distinguishes an old claim from a newer one of the same owner, so that a
// late release cannot end the newer one.
type handle struct {
	key   itemKey
	owner string
	ask   uint64
}

// entry is one claim as the service knows it, waiting or served.
type entry struct {
	handle
	session *remote // nil if each grant renews
	permits uint64
	mode    coord.Mode
	data    []byte
	granted chan struct{} // closed when the claim is served
	over    chan struct{} // closed when the claim is no longer waiting or served
	why     error         // set before over is closed
	life    life          // used if each grant renews
	owned   *ownership    // nil while the claim waits
	tell    func(error)   // notifies the client that the service ended the grant
}

type ownership struct {
	key itemKey
	Interval
}

// remote is a client's session as the service knows it.
type remote struct {
	id      string
	life    life
	entries []*entry // in the order of the claims
	tell    func(error)
}

func (m *Mem) itemLocked(k itemKey) *item {
	it := m.items[k]
	if it == nil {
		it = &item{limit: 1, changed: make(chan struct{})}
		m.items[k] = it
	}
	return it
}

// changedLocked wakes all who watch the primitive.
func (it *item) changedLocked() {
	close(it.changed)
	it.changed = make(chan struct{})
}

// vanishLocked deletes a semaphore.
func (it *item) vanishLocked() {
	it.exists, it.ephemeral, it.data, it.limit = false, false, nil, 1
	it.changedLocked()
}

// roomLocked reports whether e could be served beside the present owners.
func (it *item) roomLocked(e *entry) bool {
	if e.key.kind != coord.KindSemaphore {
		return !slices.ContainsFunc(it.owners, func(o *entry) bool {
			return o.mode == coord.Exclusive || e.mode == coord.Exclusive
		})
	}
	return takenOf(it.owners)+e.permits <= it.limit
}

// claimLocked adds the claim e. It is served at once if there is room and nobody waits. Else it stays in the queue if
// queue is set, or is forgotten. served and waits report what happened.
func (m *Mem) claimLocked(e *entry, now time.Time, queue bool) (served, waits bool) {
	it := m.itemLocked(e.key)
	switch {
	case len(it.queue) == 0 && it.roomLocked(e):
		m.serveLocked(it, e, now)
		served = true
	case queue:
		it.queue = append(it.queue, e)
		waits = true
	default:
		return false, false
	}
	if e.session != nil {
		e.session.entries = append(e.session.entries, e)
	}
	it.changedLocked()
	return served, waits
}

func (m *Mem) serveLocked(it *item, e *entry, now time.Time) {
	it.owners = append(it.owners, e)
	s := &ownership{key: e.key, Interval: Interval{Owner: e.owner, Permits: e.permits, From: now}}
	if !m.o.Without.Fence {
		m.fence++
		s.Fence = m.fence
	}
	e.owned = s
	m.ownerships = append(m.ownerships, s)
	close(e.granted)
}

// endLocked ends a claim, served or waiting, at the given time and serves the waiters. It does nothing for a claim that
// is over already.
func (m *Mem) endLocked(e *entry, at time.Time, why error) {
	it := m.itemLocked(e.key)
	isIt := func(o *entry) bool { return o == e }
	if !slices.ContainsFunc(it.owners, isIt) && !slices.ContainsFunc(it.queue, isIt) {
		return
	}
	it.owners = slices.DeleteFunc(it.owners, isIt)
	it.queue = slices.DeleteFunc(it.queue, isIt)
	e.life.stop()
	if e.session != nil {
		e.session.entries = slices.DeleteFunc(e.session.entries, isIt)
	}
	if e.owned != nil {
		e.owned.Until, e.owned.Why = at, why
		m.ended = append(m.ended, e.key.name)
	}
	e.why = why
	if e.session != nil && m.sessions[e.session.id] == nil {
		e.why = errSessionOver
	}
	close(e.over)
	if m.o.Push && e.tell != nil {
		m.notices = append(m.notices, func() { e.tell(why) })
	}
	m.serveWaitersLocked(it)
	if it.ephemeral && len(it.owners)+len(it.queue) == 0 {
		it.vanishLocked()
		return
	}
	it.changedLocked()
}

// serveWaitersLocked serves the head of the queue while there is room. Their ownership begins now, not at the deadline
// that made the room, because the service grants nothing before it has processed that deadline.
func (m *Mem) serveWaitersLocked(it *item) {
	for len(it.queue) > 0 && it.roomLocked(it.queue[0]) {
		e := it.queue[0]
		it.queue = it.queue[1:]
		m.serveLocked(it, e, time.Now())
	}
}

func (m *Mem) endSessionLocked(r *remote, at time.Time, why error) {
	if m.sessions[r.id] != r {
		return
	}
	delete(m.sessions, r.id)
	r.life.stop()
	for _, e := range slices.Backward(slices.Clone(r.entries)) {
		e.tell = nil // the session notifies the client
		m.endLocked(e, at, why)
	}
	if m.o.Push && r.tell != nil {
		m.notices = append(m.notices, func() { r.tell(why) })
	}
}

// findLocked returns the claim that h names, or nil if the claim is over or was never made.
func (m *Mem) findLocked(h handle) *entry {
	it := m.itemLocked(h.key)
	for _, e := range slices.Concat(it.owners, it.queue) {
		if e.handle == h {
			return e
		}
	}
	return nil
}

func (m *Mem) describeLocked(k itemKey) (coord.Description, error) {
	it := m.itemLocked(k)
	if k.kind == coord.KindSemaphore && !it.exists && m.shape == SessionRenews {
		return coord.Description{}, noSemaphore(k.name)
	}
	d := coord.Description{
		Kind: k.kind, Name: k.name, Limit: it.limit, Taken: takenOf(it.owners),
		Ephemeral: it.ephemeral, Data: slices.Clone(it.data), Owners: ownersOf(it.owners),
	}
	if m.shape == SessionRenews {
		d.Waiters, d.WaitersKnown = ownersOf(it.queue), true
	}
	return d, nil
}

func takenOf(entries []*entry) uint64 {
	var sum uint64
	for _, e := range entries {
		sum += e.permits
	}
	return sum
}

func ownersOf(entries []*entry) []coord.Owner {
	var owners []coord.Owner
	for _, e := range entries {
		o := coord.Owner{ID: e.owner, Mode: e.mode, Permits: e.permits, Data: slices.Clone(e.data)}
		if e.owned != nil {
			o.Fence = e.owned.Fence
		}
		owners = append(owners, o)
	}
	return owners
}
