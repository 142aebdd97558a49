package postgres

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

func TestMembersShareTheirAuditWithTheUsersOfTheirSessions(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	o := stores(server.URL())
	begun(t, o, 0)
	for _, text := range []string{
		"create role ana login", "grant usage on schema " + o.Schema + " to ana", "grant select, insert on " + o.Schema + ".audit to ana",
		"create role eve login", "grant usage on schema " + o.Schema + " to eve", "grant select on " + o.Schema + ".audit to eve",
		"insert into " + o.Schema + ".audit(who, said, source, action, outcome, line) values('', 'x', 'x', 'x', 'x', repeat('x', 100000))",
	} {
		if _, err := query(t, server.URL(), text); err != nil {
			t.Fatal(err)
		}
	}
	theirs := o
	theirs.Address = server.URLFor("ana", "", "postgres")
	ana := ShareAudit(t.Context(), theirs)
	theirs.Address = server.URLFor("eve", "", "postgres") // who may only read sees what others do
	ben := ShareAudit(t.Context(), theirs)
	ben.Put(AuditLine{Action: "release", Outcome: "done", Line: `{"id":"2"}`})
	ana.Put(AuditLine{Who: "root", Said: "ana@desk", Source: "leases", Name: "x", Action: "release", Outcome: "done", Line: `{"id":"1"}`})
	ana.Close() // it is written nevertheless
	limit := time.After(30 * time.Second)
	for {
		acts, err := ben.List()
		if len(acts) > 0 {
			if len(acts) != 1 || acts[0].Who != "ana" || acts[0].Line != `{"id":"1"}` {
				t.Errorf("%+v", acts)
			}
			break
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			t.Fatalf("nothing arrives: %v", err)
		}
	}
	ben.Close()
	if n, err := ben.Unshared(); n != 1 || !errors.Is(err, syscall.EACCES) {
		t.Errorf("%d lines are not written: %v", n, err)
	}
}
