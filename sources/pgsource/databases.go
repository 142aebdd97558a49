package pgsource

import (
	"slices"

	"coordtop/sources"
)

// named notes the name of a database. A row is called by that name, and a lock by the oid: a
// database that is made anew, or is another cluster's, has the name with another oid. What was
// told under the name goes on as the locks of the database that has it now, so that each row
// has one lock.
func (b *board) named(oid uint32, name string) {
	if name == "" || b.databases[oid] == name {
		return
	}
	for other, n := range b.databases {
		if n == name {
			delete(b.databases, other)
		}
	}
	b.databases[oid] = name
	var heirs []*lock
	for id, l := range b.locks {
		switch {
		case l.shown == nil:
		case id.db == oid && l.shown.Space != name: // it was renamed
			b.forsake(l)
			b.renamed = append(b.renamed, l)
		case id.db != oid && l.shown.Space == name:
			heirs = append(heirs, l)
		}
	}
	b.renamed = slices.DeleteFunc(b.renamed, func(l *lock) bool {
		if l.shown.Space == name {
			heirs = append(heirs, l)
		}
		return l.shown.Space == name
	})
	for _, l := range heirs {
		b.move(l, oid)
	}
}

// forsake takes a lock out of what the next look is compared with.
func (b *board) forsake(l *lock) {
	is := func(o *lock) bool { return o == l }
	if b.locks[l.ident] == l {
		delete(b.locks, l.ident)
	}
	b.held, b.pinned = slices.DeleteFunc(b.held, is), slices.DeleteFunc(b.pinned, is)
}

// move makes l the lock of its key in another database. A lock that is there already was not
// told yet.
func (b *board) move(l *lock, oid uint32) {
	pinned := slices.Contains(b.pinned, l)
	b.forsake(l)
	l.db = oid
	if was := b.locks[l.ident]; was != nil {
		if was.unsteady > 0 && l.unsteady == 0 {
			l.unsteady, l.read = was.unsteady, was.read
		}
		pinned = pinned || slices.Contains(b.pinned, was)
		b.forsake(was)
	}
	b.locks[l.ident] = l
	b.held = append(b.held, l)
	if pinned {
		b.pinned = append(b.pinned, l)
	}
}

// databases reads the names of the databases that a look shows.
func (t *taking) databases() {
	for i := range t.s.sessions {
		who := &t.s.sessions[i].who
		t.board.named(who.db, who.database)
	}
	for i := range t.s.locks {
		if r := &t.s.locks[i]; r.pid == 0 {
			t.board.named(r.ident.db, t.s.prepared[r.virtual].database)
		}
	}
}

// renamed tells that nobody owns the locks of a name that no database has any more.
func (t *taking) renamed() {
	for _, l := range t.board.renamed {
		p := *l.shown
		p.Owners, p.Taken, p.Limit, p.Candidates = nil, 0, 1, nil
		p.Queue = sources.Queue{How: sources.Told, At: t.s.got}
		p.At, p.Expected, p.ForgetAfter = t.s.got, false, t.board.o.Forget
		u := update{prim: &p, after: t.board.sent}
		if !t.board.fresh {
			u.ended = t.endings(l, &p)
		}
		t.set = append(t.set, u)
	}
	t.board.renamed = nil
}
