package pgsource

import "maps"

// name notes the name of a database, which no other has, in a table that is being made. A lock is
// identified by that name, as its row is: a database that is made anew, or is another cluster's,
// has the name with another oid and goes on with the rows.
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

// space is what a database is called.
func (t *lockTable) space(oid uint32) string {
	if name, ok := t.databases[oid]; ok {
		return name
	}
	return "oid " + utoa(oid)
}

// nameDatabases reads the names of the databases that a look shows, for a table that is being
// made, and notes them in the look's rows.
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
