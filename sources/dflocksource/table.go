package dflocksource

import (
	"fmt"
	"time"

	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/sources"
)

// mostKeys is the maximum number of watched keys of all servers of a source. Each needs some 5 kB in the whole program,
// including garbage, if all are often renewed. A server has at most 1,024, unless its --max-locks is higher.
const mostKeys = 40_000

// table holds the keys of one server. It compares listings, and has neither a clock nor a connection.
type table struct {
	o     *Options
	space string
	rows  map[string]*row // by the shown name

	asked, answered time.Time // of the newest listing; zero before the first
	restarts        int
	longest         time.Duration   // the longest pause after which the server did not end a connection
	owners          map[uint64]bool // in the listing being compared
	lowest          uint64          // lowest id of an owner since the last restart; 0 if there was no owner
	memory          time.Duration   // how long the server remembers a key that nobody uses, as far as known
	strays          int             // number of keys of another server
	stray           string          // one such key
	untaken         int             // number of keys beyond mostKeys
	inexact         int             // number of keys whose names are not listed exactly
	unclear         string          // one such key
}

// row is one key.
type row struct {
	name  string // as shown
	rule  Selection
	exact bool // selected by its whole name
	use
	here   bool      // in the newest listing
	next   listed    // the key in the listing being compared
	lease  lease     // of the owner
	unused time.Time // since when nobody owns it; zero if it is owned or was never listed
	shown  *sources.Primitive
}

func newTable(o *Options, space string) *table {
	t := &table{o: o, space: space, rows: map[string]*row{}, owners: map[uint64]bool{}, longest: longestPoll, memory: usualMemory}
	for _, s := range o.Selections {
		name, exact := glob.Pattern(s.Pattern).Literal()
		if _, twice := t.rows[name]; exact && !twice && o.elsewhere(name, space) == "" {
			t.rows[name] = &row{name: name, rule: s, exact: true, use: use{semaphore: s.Kind == sources.KindSemaphore}}
		}
	}
	return t
}

// unread returns the rows that are configured and were not read yet.
func (t *table) unread() []*sources.Primitive {
	t.begin()
	var list []*sources.Primitive
	for _, r := range t.rows {
		if r.shown == nil {
			p := t.primitive(r, &dflockwire.Stats{})
			p.OwnersHow, p.Queue.How = sources.Unknown, sources.Unknown
			list = append(list, p)
		}
	}
	return list
}

// compare stores a listing, whose keys list has recorded. The Change has the rows that differ. For the first listing of
// a connection (fresh) it has all rows. moved reports whether an owner or a count changed.
func (t *table) compare(s *dflockwire.Stats, fresh bool) (c sources.Change, moved bool) {
	anew := fresh && t.restarted(s)
	if anew {
		t.restarts++
		t.lowest = 0
	}
	c = sources.Change{Scope: t.space, After: t.asked, At: s.Answered}
	for name, r := range t.rows {
		l := r.next
		r.next = listed{}
		if !l.here { // nobody uses the key
			l.semaphore, l.limit = r.semaphore, r.limit
			if r.here && !fresh {
				t.forgotten(r)
			}
		}
		differs := r.use != l.use
		if r.owner != 0 && (anew && r.lease.from.Before(s.Answered) || !fresh && r.owner != l.owner && r.lease.to.After(t.asked) &&
			(r.lease.from.Before(s.Answered) || !t.owners[r.owner])) {
			c.Ended = append(c.Ended, sources.Ending{Ref: r.shown.Ref, Owner: dflockcoord.OwnerID(r.owner), How: sources.Inferred})
		}
		if anew {
			r.lease = lease{}
		}
		r.use, r.here = l.use, l.here
		if r.owner != 0 && (t.lowest == 0 || r.owner < t.lowest) {
			t.lowest = r.owner
		}
		told := t.follow(r, l.left, s)
		switch {
		case l.taken > 0:
			r.unused = time.Time{}
		case r.unused.IsZero() || l.here:
			since := s.Answered.Add(-l.idle)
			if !r.unused.IsZero() && s.Asked.Add(-l.idle).After(r.unused.Add(jitter)) { // the key was used between two looks
				c.Unseen = append(c.Unseen, sources.Unseen{Ref: r.shown.Ref, From: t.asked, To: since})
			}
			r.unused = since
		case !r.exact && s.Answered.Sub(r.unused) > t.o.Forget:
			delete(t.rows, name) // the Hub also drops it
			continue
		}
		moved = moved || differs
		if differs || told || fresh || r.shown == nil {
			r.shown = t.primitive(r, s)
			c.Set = append(c.Set, r.shown)
		}
	}
	t.asked, t.answered = s.Asked, s.Answered
	return c, moved
}

// unseen lists the rows that may have changed and changed back in a stretch.
func (t *table) unseen(from, to time.Time) (list []sources.Unseen) {
	for _, r := range t.rows {
		if r.shown != nil {
			list = append(list, sources.Unseen{Ref: r.shown.Ref, From: from, To: to})
		}
	}
	return list
}

// follow updates the lease of a row, whose remaining time is left. It reports whether the change must be published.
func (t *table) follow(r *row, left time.Duration, s *dflockwire.Stats) bool {
	from, to := s.Asked.Add(left), s.Answered.Add(left)
	if left == 0 {
		from = from.Add(-sweep)
	}
	switch {
	case r.owner == 0:
		r.lease = lease{}
	case r.lease.owner != r.owner:
		r.lease = lease{owner: r.owner, from: from, to: to}
		r.lease.tell()
		if !t.asked.IsZero() {
			r.lease.learn(t.asked, s.Answered)
		}
	case left == 0:
	case r.lease.moved(from, to):
		r.lease.from, r.lease.to = from, to
		r.lease.tell()
		r.lease.learn(t.asked, s.Answered)
		r.lease.renewed = sources.StampBetween(t.asked, s.Answered, sources.Seen)
		return true
	default:
		return r.lease.sharper()
	}
	return false
}

// sweep is the pause after which a server removes leases that have run out, unless --lease-sweep-interval sets another.
const sweep = time.Second

func (t *table) incarnation() string { return fmt.Sprintf("start %d that we saw", t.restarts+1) }

// primitive returns the Primitive of a row.
func (t *table) primitive(r *row, s *dflockwire.Stats) *sources.Primitive {
	p := &sources.Primitive{
		Ref: sources.Ref{Source: t.o.Name, Space: t.space, Name: r.name}, Kind: r.rule.Kind, Expected: r.rule.Expected,
		Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, Taken: uint64(r.taken), At: s.Answered,
		Queue:  sources.Queue{How: sources.Told, Len: r.waiters, At: s.Asked},
		Labels: t.o.Labels, ForgetAfter: t.o.Forget, Incarnation: t.incarnation(),
	}
	if r.exact || r.rule.Expected {
		p.ForgetAfter = never
	}
	switch {
	case r.semaphore:
		p.Kind, p.Limit = sources.KindSemaphore, uint64(r.limit)
		if r.limit == 0 {
			p.LimitHow = sources.Unknown
		} else {
			p.OwnersHow = sources.Unknown // only the number is known
		}
	case p.Kind == sources.KindUnknown:
		p.Kind = sources.KindMutex
	}
	if r.owner != 0 {
		p.Owners = []sources.Owner{t.ownerOf(r)}
	}
	p.OnWallClock()
	return p
}

func (t *table) ownerOf(r *row) sources.Owner {
	id := dflockcoord.OwnerID(r.owner)
	o := sources.Owner{
		ID: id, Session: id, Label: id, Permits: 1, Guard: id + " of " + t.incarnation(),
		Lease: r.lease.length(), Renewed: r.lease.renewed, Expires: r.lease.told,
	}
	if home := t.o.elsewhere(r.name, t.space); home != "" {
		o.Attrs = []sources.Attr{{Key: sources.WrongServer, Value: "its hash says " + home, Odd: true}}
	}
	return o
}

// facts returns the facts about the server as a whole.
func (t *table) facts() []sources.Attr {
	if t.strays == 0 {
		return nil
	}
	return []sources.Attr{{Key: sources.Strays, Value: fmt.Sprintf("%s, such as %s", format.Count(t.strays), format.Clean(t.stray, 60)), Odd: true}}
}

// warnings returns sentences about the server as a whole.
func (t *table) warnings() []string {
	var list []string
	if t.strays > 0 {
		list = append(list, fmt.Sprintf("keys that belong to another server by their hash: %s, such as %s; some client lists other "+
			"servers, or in another order, and does not see who owns them", format.Count(t.strays), format.Clean(t.stray, 60)))
	}
	if t.untaken > 0 {
		list = append(list, fmt.Sprintf("%s keys more than are watched: select some with keys=", format.Count(t.untaken)))
	}
	if t.inexact > 0 {
		list = append(list, fmt.Sprintf("keys that cannot be shown exactly, and are left out: %s, such as %s; they have a NUL, or bytes that are no UTF-8, "+
			"which the server lists as U+FFFD whatever they are", format.Count(t.inexact), format.Clean(t.unclear, 60)))
	}
	return list
}

// use is the use of a key in a listing.
type use struct {
	semaphore      bool
	limit          int // 0 if not listed, for a semaphore that nobody uses
	taken, waiters int
	owner          uint64 // of a lock; 0 if nobody
}

// listed is one key in a listing.
type listed struct {
	use
	here bool          // the key is in the listing
	left time.Duration // of the owner's lease
	idle time.Duration // how long nobody has used it
}

// begin prepares for a listing, even after one that broke off.
func (t *table) begin() {
	t.strays, t.untaken, t.inexact = 0, 0, 0
	clear(t.owners)
	for name, r := range t.rows {
		if r.next = (listed{}); r.shown == nil && !r.exact {
			delete(t.rows, name)
		}
	}
}

// list records an entry of a listing in the key's row. It makes a row for a new key.
func (t *table) list(e *dflockwire.Entry) {
	l := listed{use: use{semaphore: e.Semaphore, limit: e.Limit, taken: e.Taken, waiters: e.Waiters, owner: e.Owner}, here: true, left: e.Left, idle: e.Unused}
	r := t.rows[string(e.Key)]
	if r == nil && !e.Semaphore && len(t.rows) >= t.o.mostKeys() && len(t.o.Selections) == 0 {
		t.untaken++ // if there are many keys, most end here, without a copy
		return
	}
	if r == nil || r.semaphore || l.semaphore {
		key := string(e.Key)
		name := t.nameOf(key, l.semaphore)
		if r = t.rows[name]; r == nil {
			rule, exact, ok := t.o.find(key)
			switch {
			case !ok:
				return
			case (dflockwire.Key{Name: key}).Check() != nil:
				t.inexact++
				t.unclear = key
				return
			case len(t.rows) >= t.o.mostKeys():
				t.untaken++
				return
			}
			r = &row{name: name, rule: rule, exact: exact, use: use{semaphore: l.semaphore}}
			t.rows[name] = r
		}
	}
	if key := string(e.Key); t.o.elsewhere(key, t.space) != "" {
		t.strays++
		t.stray = key
	}
	if l.limit == 0 && r.semaphore {
		l.limit = r.limit
	}
	r.next = l
	t.owners[l.owner] = true
}

// nameOf returns the name under which a key is shown. Since version 1.14 a key can be a lock and a semaphore at
// once: the semaphore's name gets a suffix with a blank, which no key contains.
func (t *table) nameOf(key string, semaphore bool) string {
	if !semaphore {
		return key
	}
	apart := key + " (semaphore)"
	if r := t.rows[key]; t.rows[apart] != nil || r != nil && r.next.here && !r.next.semaphore {
		return apart
	}
	return key
}

// usualMemory is the default time after which a server forgets a key that nobody uses (--gc-max-idle). If the server
// is configured otherwise, the first key that it forgets shows that.
const usualMemory = time.Minute

// forgotten notes that the server forgot a key and learns from it how long the server remembers keys.
func (t *table) forgotten(r *row) {
	if r.unused.IsZero() {
		t.memory = 0
	}
	t.memory = min(t.memory, max(0, t.asked.Sub(r.unused)))
}

// restarted reports whether the server has lost its memory since the last listing. The new listing is the first after
// the connection broke. One unchanged key proves that the server was not restarted, whatever the other keys show.
func (t *table) restarted(s *dflockwire.Stats) bool {
	away := s.Answered.Sub(t.answered)
	var highest uint64
	for _, r := range t.rows {
		highest = max(highest, r.owner)
	}
	var missing, lower, owned int
	for _, r := range t.rows {
		if r.unused.IsZero() && r.taken == 0 || t.asked.IsZero() {
			continue // the key was never listed
		}
		l := r.next
		if l.here && l.taken == 0 && l.idle > away {
			return false
		}
		unused := away // at most this long, if it was released at once
		if r.taken == 0 {
			unused = s.Answered.Sub(r.unused)
		}
		if r.here && !l.here && unused < t.memory {
			missing++
		}
		if r.owner == 0 || !l.here {
			continue
		}
		owned++
		held := r.lease
		switch {
		case l.owner == r.owner && !held.moved(s.Asked.Add(l.left), s.Answered.Add(l.left)), l.owner > highest:
			return false
		case l.owner != 0 && l.owner < t.lowest && r.waiters == 0: // a waiter may have been connected for longer than the owner
			lower++
		}
	}
	return missing > 0 || lower > 1 && lower == owned
}
