package pgsource

import (
	"slices"

	"coordtop/sources"
)

// name notes the name of a database in a table that is being made. A row is called by that
// name, and a lock by the oid: a database that is made anew, or is another cluster's, has the
// name with another oid. The rows that were published under the name then belong to the locks of
// the database that has it now, so that each row has one lock.
func (t *lockTable) name(oid uint32, name string) {
	if name == "" || t.databases[oid] == name {
		return
	}
	databases := map[uint32]string{oid: name}
	for other, n := range t.databases {
		if other != oid && n != name {
			databases[other] = n
		}
	}
	var kept, heirs, renamed, added []*lock
	for _, l := range t.locks {
		switch {
		case l.shown != nil && l.db == oid && l.shown.Space != name:
			renamed = append(renamed, l)
		case l.shown != nil && l.db != oid && l.shown.Space == name:
			heirs = append(heirs, l)
		default:
			kept = append(kept, l)
		}
	}
	for _, l := range t.renamed {
		if l.shown.Space == name {
			heirs = append(heirs, l)
		} else {
			renamed = append(renamed, l)
		}
	}
	for _, l := range heirs {
		heir := *l
		heir.db = oid
		i, there := find(kept, heir.ident)
		if !there {
			added = append(added, &heir)
			continue
		}
		if heir.unsteady == 0 && kept[i].unsteady > 0 { // what is there was not published yet
			heir.unsteady, heir.read = kept[i].unsteady, kept[i].read
		}
		kept[i] = &heir
	}
	t.databases, t.renamed, t.locks = databases, renamed, append(kept, added...)
	slices.SortFunc(t.locks, func(x, y *lock) int { return x.ident.compare(&y.ident) })
}

// nameDatabases reads the names of the databases that a look shows, for a table that is being made.
func (t *lockTable) nameDatabases(s *snapshot) {
	for i := range s.sessions {
		t.name(s.sessions[i].who.db, s.sessions[i].who.database)
	}
	for i := range s.locks {
		if r := &s.locks[i]; r.pid == 0 {
			t.name(r.ident.db, s.prepared[r.virtual].database)
		}
	}
}

// publishRenamed publishes that nobody owns the locks of a name that no database has any more.
func (d *lookDiff) publishRenamed() {
	for _, l := range d.after.renamed {
		p := *l.shown
		p.Owners, p.Taken, p.Limit, p.Candidates = nil, 0, 1, nil
		p.Queue = sources.Queue{How: sources.Told, At: d.s.got}
		p.At, p.Expected, p.ForgetAfter = d.s.got, false, d.after.o.Forget
		u := update{prim: &p, after: d.before.sent}
		if !d.before.fresh {
			u.ended = d.endings(l.shown, &p)
		}
		d.updates = append(d.updates, u)
	}
	d.after.renamed = nil
}
