package verdict

import (
	"strconv"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// held is a lock that an owner holds at a place.
func held(source, space, name string, owner sources.Owner) *sources.Primitive {
	p := uitest.Led(name, "o", uitest.Noon())
	p.Ref, p.Kind, p.Owners = sources.Ref{Source: source, Space: space, Name: name}, sources.KindMutex, []sources.Owner{owner}
	return p
}

// places is a state of sources, each with a scope for each space, and the Judge of it.
func places(list map[string]sources.SourceStatus, prims ...*sources.Primitive) *Judge {
	st := uitest.State(uitest.Noon(), prims...)
	st.Sources, st.Scopes = nil, nil
	j := &Judge{State: st, Names: sources.Names{}}
	for i, p := range prims {
		s := list[p.Source]
		s.Name = p.Source
		st.Sources = append(st.Sources, s)
		st.Scopes = append(st.Scopes, sources.Scope{Source: p.Source, Name: p.Space, Health: sources.HealthLive, Synced: true, Alive: uitest.Noon()})
		st.Rows[i].Scope = i
		j.Names.Add(p.Name, i)
	}
	return j
}

func TestANameThatTwoOwnIsAProblemWhereItShouldBeOneLock(t *testing.T) {
	t.Parallel()
	conn := func(n int) sources.Owner {
		id := "conn " + strconv.Itoa(n)
		return sources.Owner{ID: id, Session: id, Label: id, Since: ago(0)}
	}
	value := func(id, label string) sources.Owner { return sources.Owner{ID: id, Label: label} }
	pid := func(n int, program sources.Program) sources.Owner {
		return sources.Owner{ID: strconv.Itoa(n), Session: strconv.Itoa(n), Label: "pid " + strconv.Itoa(n) + " app", Program: program}
	}
	servers := map[string]sources.SourceStatus{"workers": {Type: "dflockd", Agree: -1}}
	moved := map[string]sources.SourceStatus{"old": {Type: "redis", Agree: 1}, "new": {Type: "redis", Agree: 1}, "other": {Type: "redis"}, "third": {Type: "redis", Agree: 2}}
	databases := map[string]sources.SourceStatus{"old": {Type: "postgres", Agree: 1}, "new": {Type: "postgres", Agree: 1}, "coord": {Type: "ydb", Agree: 1}, "leases": {Type: "redis", Agree: 1}}
	shared := held("new", "0", "x", value("b", "b"))
	shared.Owners[0].Mode = sources.Shared
	many := held("new", "0", "x", value("b", "b"))
	many.Kind, many.Limit = sources.KindSemaphore, 3
	counted := func(server string, taken, limit uint64) *sources.Primitive {
		p := held("workers", server, "x", value("", ""))
		p.Kind, p.Owners, p.OwnersHow, p.Taken, p.Limit = sources.KindSemaphore, nil, sources.Unknown, taken, limit
		return p
	}
	free := held("new", "0", "x", value("", ""))
	free.Owners = nil
	for _, c := range []struct {
		name string
		j    *Judge
		want string // of the first row; "": no problem
	}{
		{"two servers of a list", places(servers, held("workers", "a:1", "x", conn(7)), held("workers", "b:1", "x", conn(7))), "also owned by conn 7 in b:1"},
		{"other names", places(servers, held("workers", "a:1", "x", conn(7)), held("workers", "b:1", "y", conn(7))), ""},
		{"sources that agree", places(moved, held("old", "0", "x", value("a", "a")), held("new", "0", "x", value("b", "b"))), "also owned by b in new"},
		{"in other databases of Redis", places(moved, held("old", "0", "x", value("a", "a")), held("new", "1", "x", value("b", "b"))), "also owned by b in new"},
		{"one that does not agree", places(moved, held("old", "0", "x", value("a", "a")), held("other", "0", "x", value("b", "b"))), ""},
		{"one that agrees with others", places(moved, held("old", "0", "x", value("a", "a")), held("third", "0", "x", value("b", "b"))), ""},
		{"neither agrees", places(moved, held("other", "0", "x", value("a", "a")), held("other", "1", "x", value("b", "b"))), ""},
		{"the same value in both", places(moved, held("old", "0", "x", value("#1", "host-1")), held("new", "0", "x", value("#1", "host-1"))), ""},
		{"other values of one name", places(moved, held("old", "0", "x", value("#1", "host-1")), held("new", "0", "x", value("#2", "host-1"))), "also owned by host-1 in new"},
		{"values that name nobody", places(moved, held("old", "0", "x", value("1", "?")), held("new", "0", "x", value("1", "?"))), "also owned by ? in new"},
		{"it is shared there", places(moved, held("old", "0", "x", value("a", "a")), shared), ""},
		{"it has permits there", places(moved, held("old", "0", "x", value("a", "a")), many), ""},
		{"a count of one of one in both", places(servers, counted("a:1", 1, 1), counted("b:1", 1, 1)), "also owned by ? in b:1"},
		{"a count of one of two", places(servers, counted("a:1", 1, 2), counted("b:1", 1, 2)), ""},
		{"a count of none", places(servers, counted("a:1", 1, 1), counted("b:1", 0, 1)), ""},
		{"it is free there", places(moved, held("old", "0", "x", value("a", "a")), free), ""},
		{"one database of two servers", places(databases, held("old", "app", "17", pid(1, 9)), held("new", "app", "17", pid(2, 9))), "also owned by pid 2 app in new"},
		{"two databases", places(databases, held("old", "app", "17", pid(1, 9)), held("new", "log", "17", pid(2, 9))), ""},
		{"two databases of one server", places(databases, held("old", "app", "17", pid(1, 9)), held("old", "log", "17", pid(2, 9))), ""},
		{"two kinds of server", places(databases, held("coord", "/local/app", "x", conn(1)), held("leases", "0", "x", value("b", "b"))), "also owned by b in leases"},
		{"the same program in both", places(databases, held("coord", "/local/app", "x", sources.Owner{ID: "1@a", Session: "1", Label: "b"}), held("leases", "0", "x", value("b", "b"))), ""},
	} {
		for slot, row := range c.j.State.Rows[:2] {
			list := c.j.Problems(row, uitest.Noon())
			if c.want == "" && len(list) > 0 || c.want != "" && (len(list) != 1 || list[0].Fault != TwoOwners || list[0].Severity != Bad || list[0].Told || slot == 0 && list[0].Sentence != c.want) {
				t.Errorf("%s: row %d: %+v", c.name, slot, list)
			}
		}
	}
}

func TestNamesOfRowsThatAreGoneHaveNoOwner(t *testing.T) {
	t.Parallel()
	owner := func(id string) sources.Owner { return sources.Owner{ID: id, Label: id} }
	j := places(map[string]sources.SourceStatus{"old": {Agree: 1}, "new": {Agree: 1}}, held("old", "0", "x", owner("a")), held("new", "0", "y", owner("b")), held("new", "0", "z", owner("c")))
	j.State.Rows[2] = nil
	for _, slot := range []int{-1, 1, 2} { // only recorded, of another name by now, gone
		j.Names.Add("x", slot)
	}
	if list := j.Problems(j.State.Rows[0], uitest.Noon()); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

func TestTwoOwnersAreAProblemSinceTheSecondOne(t *testing.T) {
	t.Parallel()
	first, second := held("old", "0", "x", sources.Owner{ID: "a", Label: "a", Since: ago(time.Minute)}), held("new", "0", "x", sources.Owner{ID: "b", Label: "b", Since: ago(time.Second)})
	j := places(map[string]sources.SourceStatus{"old": {Agree: 1}, "new": {Agree: 1}}, first, second)
	for _, row := range j.State.Rows {
		if list := j.Problems(row, uitest.Noon()); len(list) != 1 || list[0].Since != ago(time.Second) {
			t.Errorf("%s: %+v", row.Source, list)
		}
	}
}
