package coordtest

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"coordtop/coord"
)

// Shape is the unit of a service that is renewed, lost and trusted: the session or each grant.
type Shape uint8

// The two shapes a driver can have.
const (
	SessionRenews Shape = iota // as YDB: one window covers all that a session owns
	GrantRenews                // as Redis: each grant has a window of its own
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
	// TTL is that of sessions that ask for none. 0: 5 s.
	TTL time.Duration
	// Poll is the pause between two tries of a waiting claim where each grant renews.
	// 0: 50 ms.
	Poll time.Duration
	// MaxData is Caps.MaxData. 0: 1024.
	MaxData int
	// Without removes the abilities that are set in it.
	Without coord.Caps
	// Push makes the service notify its clients at once when it ends a grant or session of theirs. Without
	// it they learn that from their next request.
	Push bool
}

// Mem is a coordination service that lives in memory. Its clock is time.Now, so in
// a synctest bubble its time is virtual; it starts no goroutine that stays. Clients
// are made with NewDriver, and the other methods are a back door that no client has.
// All methods are safe for concurrent use.
type Mem struct {
	shape Shape
	o     MemOptions

	mu         sync.Mutex
	items      map[itemKey]*item
	sessions   map[string]*remote
	serial     uint64       // the last number given to a client, session or place in a queue
	fence      uint64       // the last fence; it only grows
	ownerships []*ownership // all ownership there was, in the order of its beginning
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
	Fence       uint64 // 0 where the service issues none
	Permits     uint64
	From, Until time.Time // Until is zero while it lasts
	Why         error     // nil while it lasts; coord.ErrReleased, ErrExpired, ErrClosed or ErrLost (taken away)
}

// Intervals returns the owners of a primitive with their times, as the service saw it: a grant that expired
// ended at its deadline, also if that was noticed later.
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

// Endings lists the names of primitives in the order in which the service saw their
// ownership end; a name that ended twice is listed twice.
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

// Waiters returns the present waiters for a primitive, in the service's order. Where each
// grant renews there is no queue and the answer is empty.
func (m *Mem) Waiters(kind coord.Kind, name string) []coord.Owner {
	var waiters []coord.Owner
	m.do(func(time.Time) { waiters = ownersOf(m.itemLocked(itemKey{kind, name}).queue) })
	return waiters
}

// Expire ends the ownership of a primitive before its time; only that of the given
// owners, if there are any. Where the session renews, their sessions end with all they own.
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

// ExpireSession ends one session, by SessionInfo.ID, before its time. An unknown id
// is no error: the session is over already.
func (m *Mem) ExpireSession(id string) {
	m.do(func(now time.Time) {
		if r := m.sessions[id]; r != nil {
			m.endSessionLocked(r, now, coord.ErrLost)
		}
	})
}

// try is do for a request that may fail.
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
