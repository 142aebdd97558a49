package coordtest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"coordtop/coord"
)

// errSessionOver is the service's answer about a session that it does not know (any more). errNotOwner is its answer
// about such a grant.
var (
	errSessionOver = fmt.Errorf("the session is over: %w", coord.ErrLost)
	errNotOwner    = fmt.Errorf("not the owner: %w", coord.ErrLost)
)

func noSemaphore(name string) error { return fmt.Errorf("semaphore %q: %w", name, coord.ErrNotFound) }

// The requests of clients to the service. Each method is one request, executed at one instant; its result is the
// answer.

// attach makes a session (SessionRenews) that lives for ttl.
func (m *Mem) attach(ttl time.Duration, tell func(error)) *remote {
	var r *remote
	m.do(func(now time.Time) {
		m.serial++
		r = &remote{id: "session-" + strconv.FormatUint(m.serial, 10), tell: tell}
		m.startLocked(&r.life, ttl, now)
		m.sessions[r.id] = r
	})
	return r
}

// number returns a number for a client that no other client has.
func (m *Mem) number() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.serial++
	return m.serial
}

// prolong renews a session.
func (m *Mem) prolong(id string) error {
	return m.try(func(now time.Time) error {
		r := m.sessions[id]
		if r == nil {
			return errSessionOver
		}
		r.life.extend(now)
		return nil
	})
}

// detach ends a session at its client's request.
func (m *Mem) detach(id string) {
	m.do(func(now time.Time) {
		if r := m.sessions[id]; r != nil {
			r.tell = nil
			m.endSessionLocked(r, now, coord.ErrClosed)
		}
	})
}

// claim claims a primitive. e is nil if the claim was neither served nor queued.
func (m *Mem) claim(h handle, c coord.Claim, ttl time.Duration, queue bool, tell func(error)) (e *entry, err error) {
	m.do(func(now time.Time) {
		e = &entry{
			handle: h, permits: max(c.Permits, 1), mode: c.Mode, data: slices.Clone(c.Data), tell: tell,
			granted: make(chan struct{}), over: make(chan struct{}),
		}
		if m.shape == SessionRenews {
			if e.session = m.sessions[h.owner]; e.session == nil {
				e, err = nil, errSessionOver
				return
			}
			if old := m.ownedLocked(h); old != nil {
				// The service changes the claim that is there, as YDB does: there is no second place, and the fence
				// stays.
				old.ask, old.data, old.tell = h.ask, e.data, tell
				e = old
				return
			}
		}
		if err = m.admitLocked(c); err != nil {
			e = nil
			return
		}
		served, waits := m.claimLocked(e, now, queue)
		switch {
		case served && m.shape == GrantRenews:
			m.startLocked(&e.life, ttl, now)
		case !served && !waits:
			e = nil
		}
	})
	return e, err
}

func (m *Mem) ownedLocked(h handle) *entry {
	for _, e := range m.itemLocked(h.key).owners {
		if e.owner == h.owner {
			return e
		}
	}
	return nil
}

// admitLocked checks a claim against the limit of its semaphore; if each grant renews, the first claim sets the limit.
func (m *Mem) admitLocked(c coord.Claim) error {
	if c.Kind != coord.KindSemaphore {
		return nil
	}
	it := m.itemLocked(itemKey{c.Kind, c.Name})
	switch {
	case m.shape == GrantRenews && len(it.owners) == 0:
		if c.Limit == 0 {
			return fmt.Errorf("a claim on a semaphore needs its limit: %w", coord.ErrRefused)
		}
		it.limit = c.Limit
	case m.shape == GrantRenews && c.Limit != it.limit:
		return fmt.Errorf("the limit is %d, not %d: %w", it.limit, c.Limit, coord.ErrRefused)
	case m.shape == SessionRenews && !it.exists && c.Ephemeral:
		it.exists, it.ephemeral, it.limit = true, true, max(c.Limit, c.Permits, 1)
	case m.shape == SessionRenews && !it.exists:
		return noSemaphore(c.Name)
	}
	if c.Permits > it.limit {
		return fmt.Errorf("%d permits of a limit of %d: %w", c.Permits, it.limit, coord.ErrRefused)
	}
	return nil
}

// withdraw ends a claim, served or waiting, at its client's request. It is no error if there is no such claim.
func (m *Mem) withdraw(h handle) {
	m.do(func(now time.Time) {
		if e := m.findLocked(h); e != nil {
			e.tell = nil
			m.endLocked(e, now, coord.ErrReleased)
		}
	})
}

// takeAway ends one grant before its time, as an operator would.
func (m *Mem) takeAway(h handle) {
	m.do(func(now time.Time) {
		if e := m.findLocked(h); e != nil {
			m.endLocked(e, now, coord.ErrLost)
		}
	})
}

// grant calls do with a claim that is served.
func (m *Mem) grant(h handle, do func(e *entry, now time.Time)) error {
	return m.try(func(now time.Time) error {
		e := m.findLocked(h)
		if e == nil || e.owned == nil {
			return errNotOwner
		}
		do(e, now)
		return nil
	})
}

// describe reads a primitive; changed is closed when the primitive changes after that.
func (m *Mem) describe(k itemKey) (d coord.Description, changed <-chan struct{}, err error) {
	m.do(func(time.Time) {
		d, err = m.describeLocked(k)
		changed = m.itemLocked(k).changed
	})
	return d, changed, err
}
