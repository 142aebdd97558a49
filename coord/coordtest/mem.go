package coordtest

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
)

// Shape is the unit that a service renews and ends: the session or each grant.
type Shape uint8

// The two shapes a driver can have.
const (
	SessionRenews Shape = iota // like YDB: one window covers all that a session owns
	GrantRenews                // like Redis: each grant has a window of its own
)

// String returns "session renews" or "grant renews".
func (s Shape) String() string {
	if s == GrantRenews {
		return "grant renews"
	}
	return "session renews"
}

// MemOptions configure a Mem. The zero value is usable.
type MemOptions struct {
	// TTL is for sessions that set none. 0: 5 s.
	TTL time.Duration
	// Poll is the pause between two tries of a waiting claim if each grant renews. 0: 50 ms.
	Poll time.Duration
	// MaxData is Caps.MaxData. 0: 1024.
	MaxData int
	// Without removes the abilities that are set in it.
	Without coord.Caps
	// Push makes the service notify a client at once when it ends one of its grants or sessions. Without Push the
	// client learns that from its next request.
	Push bool
}

// Mem is a coordination service that lives in memory. Its clock is time.Now, so that in a synctest bubble its time is
// virtual. It leaves no goroutine running. NewDriver makes clients; the other methods are for the test, not for
// clients. All methods are safe for concurrent use.
type Mem struct {
	shape Shape
	o     MemOptions

	mu         sync.Mutex
	items      map[itemKey]*item
	sessions   map[string]*remote
	serial     uint64       // the last number given to a client, session or place in a queue
	fence      uint64       // the last fence; it only grows
	ownerships []*ownership // every ownership since the start, in the order of their beginnings
	ended      []string     // names in the order in which an owner ceased to own them
	notices    []func()     // to be called when mu is free
}

// NewMem makes a service of the given shape.
func NewMem(shape Shape, o MemOptions) *Mem {
	o.TTL = cmp.Or(max(o.TTL, 0), 5*time.Second)
	if o.Poll <= 0 {
		o.Poll = 50 * time.Millisecond
	}
	o.MaxData = cmp.Or(max(o.MaxData, 0), 1024)
	return &Mem{shape: shape, o: o, items: map[itemKey]*item{}, sessions: map[string]*remote{}}
}

// Interval is a stretch of time in which the service counted somebody as an owner.
type Interval struct {
	Owner       string
	Fence       uint64 // 0 if the service issues none
	Permits     uint64
	From, Until time.Time // Until is zero while the ownership lasts
	Why         error     // nil while the ownership lasts; coord.ErrReleased, ErrExpired, ErrClosed or ErrLost (taken away)
}

// Intervals returns the owners of a primitive with their times, from the service's view: a grant that expired ended at
// its deadline, even if the service noticed later.
func (m *Mem) Intervals(kind coord.Kind, name string) []Interval {
	var all []Interval
	m.do(func(time.Time) {
		for _, s := range m.ownerships {
			if s.key == (itemKey{kind, name}) {
				all = append(all, s.Interval)
			}
		}
	})
	return all
}

// Endings lists the names of primitives in the order in which their ownership ended at the service; a name whose
// ownership ended twice is listed twice.
func (m *Mem) Endings() []string {
	var names []string
	m.do(func(time.Time) { names = slices.Clone(m.ended) })
	return names
}

// Owners returns the present owners of a primitive.
func (m *Mem) Owners(kind coord.Kind, name string) []coord.Owner {
	var owners []coord.Owner
	m.do(func(time.Time) { owners = ownersOf(m.itemLocked(itemKey{kind, name}).owners) })
	return owners
}

// Waiters returns the present waiters for a primitive, in the service's order. If each grant renews, there is no queue
// and the result is empty.
func (m *Mem) Waiters(kind coord.Kind, name string) []coord.Owner {
	var waiters []coord.Owner
	m.do(func(time.Time) { waiters = ownersOf(m.itemLocked(itemKey{kind, name}).queue) })
	return waiters
}

// Expire ends the ownership of a primitive before its time. If owners are given, it ends only theirs. If the session
// renews, the sessions of these owners end with all they own.
func (m *Mem) Expire(kind coord.Kind, name string, owners ...string) {
	m.do(func(now time.Time) {
		for _, e := range slices.Clone(m.itemLocked(itemKey{kind, name}).owners) {
			if len(owners) > 0 && !slices.Contains(owners, e.owner) {
				continue
			}
			if e.session != nil {
				m.endSessionLocked(e.session, now, coord.ErrLost)
			} else {
				m.endLocked(e, now, coord.ErrLost)
			}
		}
	})
}

// ExpireSession ends one session, by SessionInfo.ID, before its time. An unknown id is no error, because the session is
// over already.
func (m *Mem) ExpireSession(id string) {
	m.do(func(now time.Time) {
		if r := m.sessions[id]; r != nil {
			m.endSessionLocked(r, now, coord.ErrLost)
		}
	})
}

// try calls do for a request that may fail.
func (m *Mem) try(f func(now time.Time) error) (err error) {
	m.do(func(now time.Time) { err = f(now) })
	return err
}

// do runs f with the service's lock, after ending everything that has expired. When the lock is free again it notifies
// clients of their grants and sessions that have ended.
func (m *Mem) do(f func(now time.Time)) {
	m.mu.Lock()
	now := time.Now()
	m.runOutLocked(now)
	f(now)
	notices := m.notices
	m.notices = nil
	m.mu.Unlock()
	for _, tell := range notices {
		tell()
	}
}
