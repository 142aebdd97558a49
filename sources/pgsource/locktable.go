package pgsource

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

// lockTable is the state of the server's locks after a look. It outlives a connection, so that the next connection can
// publish what is gone. It is never changed; connected and compare return a new one.
type lockTable struct {
	o     *Options
	names map[pgcoord.Key]string

	server      *server // of the connection; nil before the first
	keys        map[pgcoord.Key]*rule
	incarnation string
	became      became            // why the incarnation has changed
	databases   map[uint32]string // names by oid; each name once
	locks       []*lock           // by ident
	sessions    map[uint32]*session
	pids        []uint32   // processes for which the next look must find out whether they are alive
	order       queueOrder // of the selected lock
	rights      *rights    // of our role
	rightsLook  uint64     // the first look with these rights

	looks    uint64    // number of looks
	sent     time.Time // of the last look; zero: none yet
	got      time.Time // its answer
	answered int64     // when the last look was answered, on the server's clock
	fresh    bool      // no look was compared yet on this connection
	waiters  int       // rows of pg_locks for watched locks that are not granted
	rows     int       // of pg_locks, all of them
	hidden   bool      // most facts about some session are hidden from us
	swept    time.Time
	dropped  bool // locks without an owner were dropped because there were too many
}

// compare orders identities.
func (id *ident) compare(other *ident) int {
	x, y := &id.key, &other.key
	return cmp.Or(cmp.Compare(id.space, other.space), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Object, y.Object), cmp.Compare(x.Sub, y.Sub))
}

// connected returns the table at the beginning of a connection. A new incarnation shares no session with the last one.
func (t *lockTable) connected(s *server, keys map[pgcoord.Key]*rule) *lockTable {
	next := *t
	next.incarnation, next.became = t.incarnationOf(s)
	next.locks = slices.Clone(t.locks)
	if next.incarnation != t.incarnation {
		next.sessions, next.databases, next.pids = nil, nil, nil
		for i, l := range next.locks {
			l := *l
			l.rows, l.owners = nil, nil
			next.locks[i] = &l
		}
	}
	next.server, next.keys, next.fresh, next.order, next.rights = s, keys, true, queueOrder{}, &rights{}
	next.name(s.oid, s.database)
	for _, r := range keys {
		l := lock{ident: ident{s.database, r.key}, oid: s.oid, read: t.sent}
		i, known := slices.BinarySearchFunc(next.locks, &l.ident, func(l *lock, id *ident) int { return l.ident.compare(id) })
		if known {
			l = *next.locks[i]
		} else {
			next.locks = slices.Insert(next.locks, i, nil)
		}
		l.rule = r
		next.locks[i] = &l
	}
	return &next
}

// shownAs returns the lock that a row shows, or nil.
func (t *lockTable) shownAs(ref sources.Ref) *lock {
	if ref.Name == "" {
		return nil
	}
	for _, l := range t.locks {
		if l.shown != nil && l.shown.Ref == ref {
			return l
		}
	}
	return nil
}

// unseen lists the rows that may have changed and changed back between the sending of the last look and this one.
func (t *lockTable) unseen(since time.Time) (list []sources.Unseen) {
	for _, l := range t.locks {
		if l.shown != nil {
			list = append(list, sources.Unseen{Ref: l.shown.Ref, From: since, To: t.got})
		}
	}
	return list
}

// sweepEvery is the pause between two counts of the locks without an owner, and freeKept the maximum number of them
// that is kept, because programs that lock by a row's number leave thousands.
const (
	sweepEvery = 10 * time.Second
	freeKept   = 5000
)

// sweep drops the locks that nobody has owned for long, from a table under construction. The Hub drops their rows by
// itself. If more than freeKept remain, sweep also drops the oldest and returns them, to be published as gone.
func (t *lockTable) sweep() []sources.Ref {
	if t.got.Sub(t.swept) < sweepEvery {
		return nil
	}
	t.swept = t.got
	var free []*lock
	for _, l := range t.locks {
		if !l.selected(t.server.database) && !l.free.IsZero() && t.got.Sub(l.free) < t.o.Forget {
			free = append(free, l)
		}
	}
	slices.SortStableFunc(free, func(x, y *lock) int { return x.free.Compare(y.free) })
	excess := free[:max(len(free)-freeKept, 0)]
	t.dropped = len(excess) > 0
	gone := make(map[*lock]bool, len(excess))
	var refs []sources.Ref
	for _, l := range excess {
		gone[l] = true
		refs = append(refs, l.shown.Ref)
	}
	t.locks = slices.DeleteFunc(t.locks, func(l *lock) bool {
		return gone[l] || !l.selected(t.server.database) && !l.free.IsZero() && t.got.Sub(l.free) >= t.o.Forget
	})
	return refs
}

// name records the name of a database, which no other has, in a table under construction. Locks and rows are identified
// by that name. A database that was created again, or one of another cluster, has the same name with another oid and
// keeps the rows.
func (t *lockTable) name(oid uint32, name string) {
	if name == "" || t.databases[oid] == name {
		return
	}
	databases := map[uint32]string{}
	maps.Copy(databases, t.databases)
	maps.DeleteFunc(databases, func(_ uint32, n string) bool { return n == name })
	databases[oid] = name
	t.databases = databases
}

// space returns the name of a database.
func (t *lockTable) space(oid uint32) string {
	if name, ok := t.databases[oid]; ok {
		return name
	}
	return "oid " + utoa(oid)
}

// nameDatabases reads the names of the databases that a look shows, for a table under construction, and sets them in
// the look's rows.
func (t *lockTable) nameDatabases(s *snapshot) {
	for i := range s.sessions {
		t.name(s.sessions[i].who.db, s.sessions[i].who.database)
	}
	for i := range s.locks {
		if r := &s.locks[i]; r.pid == 0 {
			t.name(r.oid, s.prepared[r.virtual].database)
		}
	}
	for i := range s.locks {
		s.locks[i].ident.space = t.space(s.locks[i].oid)
	}
}
