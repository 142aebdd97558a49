package pgsource

import (
	"maps"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
	"coordtop/sources/kit"
)

// lookDiff is the comparison of a look with the table before it, in progress.
type lookDiff struct {
	before, after *lockTable // after is under construction
	s             *snapshot
	focus         kit.OnScreen
	entries       []entry // by ident
	pids          map[uint32]bool

	updates []update
	result  lookResult
}

// lookResult is the outcome of a look.
type lookResult struct {
	changes []sources.Change // at least one if continuity was lost
	again   bool             // something changed during the look, so look again soon
	moved   bool             // an owner or a waiter changed
}

// entry is one lock in a comparison.
type entry struct {
	*lock             // before the look
	now    []lockRow  // its rows in this look, owners first
	trying []*session // its candidates in this look
}

// update is a lock to be published, and the earliest time of its change.
type update struct {
	prim  *sources.Primitive
	after time.Time
	ended []sources.Ending
}

const (
	// unsteadyMost bounds the consecutive looks that fail to show the owners of a lock, because sessions end between
	// the two statements. After that the lock is published without them.
	unsteadyMost = 3
	// Rows on screen are published at each look. For other rows, a session's activity is published every doingsEvery,
	// and an unchanged queue every queueEvery, so that its age is known.
	doingsEvery = 10 * time.Second
	queueEvery  = 2 * time.Second
	// settledAfter is the idle time after which a session gets a proof. A session that works more often would have its
	// rows published at each look, and its proofs would soon be invalid.
	settledAfter = time.Second
)

// compare returns the table after a look, and what the look changed. It changes none of its arguments, except that it
// sets the names of databases in the rows of s.
func (t *lockTable) compare(s *snapshot, f kit.OnScreen) (*lockTable, lookResult) {
	after := *t
	after.looks++
	after.sent, after.got, after.answered, after.fresh = s.sent, s.got, s.clock.server, false
	after.sessions = t.sessionsAfter(s, after.looks)
	after.nameDatabases(s)
	after.order = t.orderOf(t.shownAs(f.Selected))
	d := &lookDiff{before: t, after: &after, s: s, focus: f, pids: map[uint32]bool{}}
	d.enter()
	d.count()
	d.candidates()
	after.locks = make([]*lock, 0, len(d.entries))
	for i := range d.entries {
		if l := d.lock(&d.entries[i]); l != nil {
			after.locks = append(after.locks, l)
		}
	}
	after.pids = slices.Sorted(maps.Keys(d.pids))
	d.finish(after.sweep())
	return &after, d.result
}

// enter pairs the known locks with the rows of the look.
func (d *lookDiff) enter() {
	locks, rows := d.after.locks, d.s.locks
	if d.after.server.major < toldWaits {
		rows = d.guessWaits(rows)
	}
	rows = inOrder(rows)
	d.entries = make([]entry, 0, len(locks)+16)
	for len(locks) > 0 || len(rows) > 0 {
		var e entry
		if len(rows) == 0 || len(locks) > 0 && locks[0].ident.compare(&rows[0].ident) <= 0 {
			e.lock, locks = locks[0], locks[1:]
		} else {
			e.lock = &lock{ident: rows[0].ident, oid: rows[0].oid, rule: d.after.keys[rows[0].ident.key], read: d.before.sent}
		}
		n := 0
		for n < len(rows) && rows[n].ident == e.ident {
			n++
		}
		e.now, rows = rows[:n:n], rows[n:]
		d.entries = append(d.entries, e)
	}
}

// entry returns the entry of a lock, or nil.
func (d *lookDiff) entry(id ident) *entry {
	i, found := slices.BinarySearchFunc(d.entries, id, func(e entry, id ident) int { return e.ident.compare(&id) })
	if !found {
		return nil
	}
	return &d.entries[i]
}

// count counts the rows and those that wait, and notes whether a session is hidden from us.
func (d *lookDiff) count() {
	t := d.after
	t.waiters, t.rows, t.hidden = 0, d.s.rows, false
	for i := range d.s.locks {
		r := &d.s.locks[i]
		if !r.granted {
			t.waiters++
		}
		if s := t.sessions[r.pid]; s != nil {
			t.hidden = t.hidden || s.who.hidden
		}
	}
	d.ask(d.s.locks)
}

// ask makes the next look read the sessions of rows, to see whether they are alive.
func (d *lookDiff) ask(rows []lockRow) {
	for i := range rows {
		if d.after.sessions[rows[i].pid] != nil {
			d.pids[rows[i].pid] = true
		}
	}
}

// lock returns the state of a lock after the look, or nil if nothing is known about it.
func (d *lookDiff) lock(e *entry) *lock {
	was, rows := e.lock, e.now
	fresh := d.before.fresh
	unknown := func(r lockRow) bool { return !d.known(&r) }
	if slices.ContainsFunc(rows, unknown) {
		if d.result.again = true; was.unsteady < unsteadyMost && !fresh {
			return d.postpone(was)
		}
		rows = slices.DeleteFunc(rows, unknown)
		e.now = rows
	}
	moved := !slices.Equal(rows, was.rows)
	selected := d.after.order.ident == was.ident
	if selected {
		d.after.order.keep(d.s, was.rows, rows)
	}
	line := was.line
	if moved || selected || was.asked || fresh || was.shown == nil {
		line = d.after.order.lineOf(was.ident, rows)
	}
	same := !moved && line.told == was.line.told && slices.Equal(line.waiters, was.line.waiters) && !d.differs(e)
	if same && selected == was.asked && was.unsteady == 0 {
		return was
	}
	l := *was
	l.line, l.asked, l.unsteady = line, selected, 0
	if same {
		return &l
	}
	if _, named := d.after.databases[l.oid]; !named && l.shown == nil && len(rows) == 0 {
		return nil // its database was dropped during the look
	}
	if l.rows = slices.Clone(rows); len(rows) > 0 {
		l.oid = rows[0].oid
	}
	l.shown = d.primitive(&l, e.trying)
	u := update{prim: l.shown, after: d.before.sent}
	if was.unsteady > 0 {
		u.after = was.read
	}
	if !fresh {
		u.ended = d.endings(was.shown, l.shown)
		if e, ok := d.evicted(l.oid, l.key); ok && !e.waiting {
			for i := range u.ended {
				if end := &u.ended[i]; end.Cause == sources.CauseSession && strings.HasPrefix(end.Owner, utoa(e.pid)+"@") {
					end.Cause = sources.CauseEvicted
				}
			}
		}
	}
	d.result.moved = d.result.moved || moved
	d.updates = append(d.updates, u)
	l.published, l.publishedAt, l.candidates = d.after.looks, d.s.got, e.trying
	if len(l.shown.Owners) > 0 {
		l.free = time.Time{}
	} else if l.free.IsZero() {
		l.free = d.s.got
	}
	return &l
}

// postpone keeps the old state of a lock until a look shows its owners. That look then publishes the ends of former
// owners.
func (d *lookDiff) postpone(was *lock) *lock {
	d.ask(was.rows)
	l := *was
	if l.unsteady == 0 {
		l.read = d.before.sent
	}
	l.unsteady++
	return &l
}

// toldWaits is the first version of Postgres that reports since when a session waits.
const toldWaits = 14

// guessWaits returns rows in which the waiters of an older server have waited since their
// statements began.
func (d *lookDiff) guessWaits(rows []lockRow) []lockRow {
	rows = slices.Clone(rows)
	for i := range rows {
		if s := d.after.sessions[rows[i].pid]; s != nil && !rows[i].granted {
			rows[i].wait = s.does.queried
		}
	}
	return rows
}

// known reports whether the look shows the session of a row.
func (d *lookDiff) known(r *lockRow) bool {
	if r.pid == 0 {
		_, ok := d.s.prepared[r.virtual]
		return ok
	}
	s := d.after.sessions[r.pid]
	if s == nil {
		return false
	}
	// A session that began during the look may have the process number of the one in the row. Both times are from the
	// server's clock.
	window := d.s.clock.got.Sub(d.s.sent)
	return d.s.clock.age(s.who.start) > window // true as well if the start is hidden
}

// differs reports whether a lock must be published although its rows are the same.
func (d *lookDiff) differs(e *entry) bool {
	sameID := func(x, y *session) bool { return x.id == y.id }
	if d.before.fresh || e.shown == nil || !slices.EqualFunc(e.trying, e.candidates, sameID) {
		return true
	}
	if len(e.now) == 0 && len(e.trying) == 0 {
		return false
	}
	if d.after.rightsLook > e.published {
		return true
	}
	since := d.s.got.Sub(e.publishedAt)
	if e.shown.Queue.Len > 0 && since >= queueEvery {
		return true
	}
	changed := func(s *session) bool {
		return s != nil && (s.whoLook > e.published || s.doesLook > e.published && (since >= doingsEvery || d.focus.Shows(e.shown.Ref)))
	}
	for i := range e.now {
		r := &e.now[i]
		s := d.after.sessions[r.pid]
		// The proof of an owner may differ from the published one.
		otherProof := func(t term) bool { return t.owner == s.id && t.mode == r.mode && t.proof != d.proof(r) }
		if changed(s) || s != nil && slices.ContainsFunc(e.owners, otherProof) {
			return true
		}
	}
	return slices.ContainsFunc(e.trying, changed)
}

// endings returns the causes of the ends of owners: a process that is gone has lost all its locks; one that is alive
// has released this lock. If the start of the backend is hidden, the cause is unknown, because another process may have
// the number by now.
func (d *lookDiff) endings(was, now *sources.Primitive) []sources.Ending {
	if was == nil {
		return nil
	}
	var list []sources.Ending
	for i := range was.Owners {
		o := &was.Owners[i]
		if slices.ContainsFunc(now.Owners, func(n sources.Owner) bool { return n.ID == o.ID }) {
			continue
		}
		if cause := d.cause(o); cause != sources.CauseUnknown {
			list = append(list, sources.Ending{Ref: now.Ref, Owner: o.ID, Cause: cause, How: sources.Inferred})
		}
	}
	return list
}

func (d *lookDiff) cause(o *sources.Owner) sources.Cause {
	if o.Session == "" {
		return sources.CauseReleased // a prepared transaction was committed or rolled back
	}
	for _, s := range d.after.sessions {
		if s.id == o.Session && s.who.start == 0 {
			return sources.CauseUnknown
		} else if s.id == o.Session {
			return sources.CauseReleased
		}
	}
	return sources.CauseSession // the process is gone, or another session has its number now
}

// finish makes changes from the updates. Updates of the same stretch of time go into one change.
func (d *lookDiff) finish(gone []sources.Ref) {
	slices.SortStableFunc(d.updates, func(a, b update) int { return a.after.Compare(b.after) })
	var last *sources.Change
	add := func(after time.Time) {
		d.result.changes = append(d.result.changes, sources.Change{After: after, At: d.s.got})
		last = &d.result.changes[len(d.result.changes)-1]
	}
	for _, u := range d.updates {
		if last == nil || !last.After.Equal(u.after) {
			add(u.after)
		}
		last.Set = append(last.Set, u.prim)
		last.Ended = append(last.Ended, u.ended...)
	}
	if last == nil && (d.before.fresh || len(gone) > 0) {
		add(d.before.sent)
	}
	if last != nil {
		last.Gone = gone
	}
}
