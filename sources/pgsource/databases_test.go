package pgsource

import (
	"testing"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// ownedBy reports whether exactly these processes own a row.
func ownedBy(list ...any) func(*sources.Row, *sources.State) bool {
	return func(row *sources.Row, s *sources.State) bool {
		return row.Status(s) == sources.StatusHeld && owners(row.Primitive) == pids(list...)
	}
}

// relink has the source connect once more.
func (r *rig) relink() {
	r.t.Helper()
	r.root.do("select pg_terminate_backend(pid) from pg_stat_activity where application_name = '" + clientName + "'")
	r.Event(sources.EventSourceUp, "")
}

func TestDatabaseThatIsMadeAnewHasTheRowsOfTheOneBefore(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create database staging"}})
	r.sessionAt(r.server.URLFor("postgres", "", "staging"), "first").do("select pg_advisory_lock(7001)")
	r.watch(Options{}).synced()
	r.row("staging", "7001", "held", is(sources.StatusHeld))
	for range 3 {
		r.root.do("drop database staging with (force)").do("create database staging")
		next := r.sessionAt(r.server.URLFor("postgres", "", "staging"), "next").do("select pg_advisory_lock(7001)")
		r.row("staging", "7001", "held by the next", ownedBy(next.pid))
		r.Drain()
		for range 3 {
			r.relink()
			r.row("staging", "7001", "held by the next", ownedBy(next.pid))
		}
		for _, e := range r.Drain() {
			if e.Ref.Name != "" {
				t.Errorf("it is owned all the time: %+v", e)
			}
		}
	}
}

// of is a session in a database.
func of(a activity, oid uint32, name string) activity {
	a.who.db, a.who.database = oid, name
	return a
}

func in(oid uint32, row lockRow) lockRow {
	row.oid = oid
	return row
}

// rowsOf is the last that was told of each row, and how often it was in this look.
func rowsOf(t *testing.T, n lookResult) map[string]*sources.Primitive {
	t.Helper()
	list := map[string]*sources.Primitive{}
	for _, c := range n.changes {
		for _, p := range c.Set {
			if list[p.Space+"/"+p.Name] != nil {
				t.Errorf("%s is told twice: %+v", p.Ref, n)
			}
			list[p.Space+"/"+p.Name] = p
		}
		for _, ref := range c.Gone {
			t.Errorf("%s is told to be gone", ref)
		}
	}
	return list
}

func TestAnotherClusterBehindTheNameHasTheRowsOfTheOneBefore(t *testing.T) {
	t.Parallel()
	for range 20 { // maps have no order
		b := setupTable(t)
		a := of(b.at(1, b.now), 9, "app")
		b.look([]lockRow{in(9, owns(7, 1, exclusive))}, a)
		b.lockTable = b.connected(&server{oid: 9, database: "db", started: 2, major: 15}, nil)
		c := of(b.at(2, b.now), 5, "app") // each oid has the name of the other
		list := rowsOf(t, b.look([]lockRow{in(5, owns(7, 2, exclusive))}, c))
		if p := list["app/7"]; len(list) != 1 || p == nil || owners(p) != "2" {
			t.Errorf("%v", list)
		}
	}
}

func TestRowsOfADatabaseThatIsRenamedAreFree(t *testing.T) {
	t.Parallel()
	for range 20 {
		b := setupTable(t)
		a := b.at(1, b.now)
		b.look([]lockRow{in(9, owns(7, 1, exclusive)), in(10, owns(7, 2, exclusive))}, of(a, 9, "x"), of(b.at(2, b.now), 10, "y"))
		c, d := b.at(3, b.now), b.at(4, b.now)
		n := b.look([]lockRow{in(9, owns(7, 3, exclusive)), in(10, owns(7, 4, exclusive))}, of(c, 9, "y"), of(d, 10, "x")) // swapped
		if list := rowsOf(t, n); len(list) != 2 || owners(list["x/7"]) != "4" || owners(list["y/7"]) != "3" {
			t.Fatalf("%v", list)
		}
		n = b.look([]lockRow{in(9, owns(7, 5, exclusive)), in(10, owns(7, 4, exclusive))}, of(b.at(5, b.now), 9, "z"), of(d, 10, "x"))
		if list := rowsOf(t, n); len(list) != 2 || owners(list["z/7"]) != "5" || len(list["y/7"].Owners) != 0 || list["y/7"].Taken != 0 {
			t.Fatalf("%v", list)
		}
	}
}

func TestALockOfADatabaseThatWasDroppedWhileWeLookedIsNotTold(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	b.look([]lockRow{in(9, owns(7, 1, exclusive))}, of(b.at(1, b.now), 9, "x"))
	c := of(b.at(2, b.now), 11, "x")
	b.look([]lockRow{in(9, owns(8, 1, exclusive)), in(11, owns(7, 2, exclusive))}, c) // read before the drop, and after it
	list := rowsOf(t, b.look([]lockRow{in(11, owns(7, 2, exclusive))}, c))
	for name := range list {
		if name != "x/7" {
			t.Errorf("%s is told", name)
		}
	}
}
