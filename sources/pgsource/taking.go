package pgsource

import (
	"slices"
	"time"

	"coordtop/sources"
)

// taking is one look while it is compared with the board.
type taking struct {
	board *board
	s     *snapshot
	ears  *ears
	focus focus

	set  []update
	gone []sources.Ref
	news news
}

// update is a lock to be told, and since when what is told of it can have happened.
type update struct {
	prim  *sources.Primitive
	after time.Time
	ended []sources.Ending
}

const (
	// unsteadyMost is how many looks in a row may fail to show who owns a lock, because
	// sessions end between the two statements, before it is told without them.
	unsteadyMost = 3
	// What a session does is told at each look where it is on screen, else so often; and so
	// is a queue that stands still, whose age is shown.
	doingsEvery = 10 * time.Second
	queueEvery  = 2 * time.Second
)

// lock compares the rows of one lock with what is known of it.
func (t *taking) lock(l *lock) {
	b := t.board
	rows := l.next
	if b.server.major < toldWaits {
		t.guessWaits(rows)
	}
	order(rows)
	if !t.steady(rows) {
		if t.news.again = true; l.unsteady < unsteadyMost && !b.fresh {
			if l.unsteady == 0 {
				l.read = b.sent
			}
			l.unsteady++
			return
		}
		rows = slices.DeleteFunc(rows, func(r lockRow) bool { return !t.known(&r) })
	}
	after := b.sent
	if l.unsteady > 0 {
		after, l.unsteady = l.read, 0
	}
	moved := !slices.Equal(rows, l.rows)
	selected := b.order.ident == l.ident
	if selected {
		b.order.take(l.rows, rows)
	}
	turned := false
	if moved || selected || l.asked || b.fresh || l.shown == nil {
		now := b.order.lineOf(l.ident, rows)
		turned = !now.equal(&l.line)
		l.line, l.asked = now, selected
	}
	if !moved && !turned && !t.differs(l) {
		return
	}
	if _, named := b.databases[l.db]; !named && l.shown == nil && len(rows) == 0 {
		delete(b.locks, l.ident) // of a database that was dropped while we looked
		return
	}
	l.next, l.rows = l.rows, rows
	p := t.primitive(l)
	u := update{prim: p, after: after}
	if !b.fresh {
		u.ended = t.endings(l, p)
	}
	t.news.moved = t.news.moved || moved
	t.remember(l, p)
	t.set = append(t.set, u)
}

// toldWaits is the version from which on the server tells since when a session waits.
const toldWaits = 14

// guessWaits puts the waiters of an older server in the order in which their statements
// began.
func (t *taking) guessWaits(rows []lockRow) {
	for i := range rows {
		if s := t.board.sessions[rows[i].pid]; s != nil && !rows[i].granted {
			rows[i].wait = s.does.queried
		}
	}
}

// known reports whether the look shows whose row it is.
func (t *taking) known(r *lockRow) bool {
	if r.pid == 0 {
		_, ok := t.s.prepared[r.virtual]
		return ok
	}
	s := t.board.sessions.alive(r.pid, t.board.round)
	if s == nil {
		return false
	}
	// A session that began while we looked may have the number of the one that the row is
	// about. The server's clock is compared with itself.
	window := t.s.clock.got.Sub(t.s.sent)
	return s.who.start == 0 || t.s.clock.age(s.who.start) > window
}

// steady reports whether the sessions of all rows are known.
func (t *taking) steady(rows []lockRow) bool {
	for i := range rows {
		if !t.known(&rows[i]) {
			return false
		}
	}
	return true
}

// differs reports whether a lock whose rows are the same has something else to tell.
func (t *taking) differs(l *lock) bool {
	b := t.board
	if b.fresh || l.shown == nil || !slices.Equal(l.trying, l.candidates) {
		return true
	}
	pause := time.Duration(0)
	if !t.focus.visible[l.shown.Ref] {
		pause = doingsEvery
	}
	due := t.s.got.Sub(l.toldAt) >= pause
	if l.shown.Queue.Len > 0 && t.s.got.Sub(l.toldAt) >= queueEvery {
		return true
	}
	changed := func(s *session) bool {
		return s != nil && (s.whoRound > l.told || due && s.doesRound > l.told)
	}
	for i := range l.rows {
		s := b.sessions[l.rows[i].pid]
		if changed(s) {
			return true
		}
		if s != nil && t.toldMore(l, &l.rows[i], s) {
			return true
		}
	}
	return slices.ContainsFunc(l.candidates, changed)
}

// toldMore reports whether an owner has announced data that is not shown yet.
func (t *taking) toldMore(l *lock, r *lockRow, s *session) bool {
	if !s.cut || !r.granted {
		return false
	}
	data, whole := dataOf(t.ears, l.key, s)
	for i := range l.shown.Owners {
		if o := &l.shown.Owners[i]; whole && o.Session == s.id && o.Mode == r.mode.shown() {
			return !o.Data.Shows(data)
		}
	}
	return false
}

// remember keeps what was told.
func (t *taking) remember(l *lock, p *sources.Primitive) {
	l.shown, l.told, l.toldAt = p, t.board.round, t.s.got
	l.candidates = l.trying
	if len(p.Owners) > 0 {
		l.free = time.Time{}
	} else if l.free.IsZero() {
		l.free = t.s.got
	}
}

// endings says why owners are gone, as far as it follows: a process that is gone took
// its locks along; one that lives has given this lock up. Where the start of the backend
// is hidden, another process may have the number by now.
func (t *taking) endings(l *lock, p *sources.Primitive) []sources.Ending {
	if l.shown == nil {
		return nil
	}
	var list []sources.Ending
	for i := range l.shown.Owners {
		o := &l.shown.Owners[i]
		if slices.ContainsFunc(p.Owners, func(n sources.Owner) bool { return n.ID == o.ID }) {
			continue
		}
		if cause := t.cause(o); cause != sources.CauseUnknown {
			list = append(list, sources.Ending{Ref: p.Ref, Owner: o.ID, Cause: cause, How: sources.Inferred})
		}
	}
	return list
}

func (t *taking) cause(o *sources.Owner) sources.Cause {
	if o.Session == "" {
		return sources.CauseReleased // a prepared transaction that was committed or rolled back
	}
	for _, s := range t.board.sessions {
		if s.id != o.Session {
			continue
		}
		switch {
		case s.seenRound != t.board.round:
			return sources.CauseSession
		case s.who.start == 0:
			return sources.CauseUnknown
		}
		return sources.CauseReleased
	}
	return sources.CauseSession // its number is another session's now
}

// finish makes changes of the updates: those of the same stretch of time together.
func (t *taking) finish() news {
	slices.SortStableFunc(t.set, func(a, b update) int { return a.after.Compare(b.after) })
	var last *sources.Change
	for _, u := range t.set {
		if last == nil || !last.After.Equal(u.after) {
			t.news.changes = append(t.news.changes, sources.Change{After: u.after, At: t.s.got})
			last = &t.news.changes[len(t.news.changes)-1]
		}
		last.Set = append(last.Set, u.prim)
		last.Ended = append(last.Ended, u.ended...)
	}
	if last == nil && (t.board.fresh || len(t.gone) > 0) {
		t.news.changes = append(t.news.changes, sources.Change{After: t.board.sent, At: t.s.got})
		last = &t.news.changes[0]
	}
	if last != nil {
		last.Gone = t.gone
	}
	return t.news
}
