package postgres

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
)

// TestTheRolesOfTheHelpMayDoWhatItSays runs the statements of coordtop help team.
func TestTheRolesOfTheHelpMayDoWhatItSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../help/team.md")
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for _, found := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		statements = append(statements, found[1])
	}
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	as := func(role string) Options { return Options{Address: server.URLFor(role, "", "postgres")} }
	asked(t, server.URL(), statements[0])
	if _, err := NewReader(as("postgres")).Runs(t.Context()); !errors.Is(err, history.ErrNothing) || !strings.Contains(err.Error(), "start coordtop record once") {
		t.Errorf("before the first start: %v", err)
	}
	w := begun(t, as("coordtop_writer"), 0)
	asked(t, server.URL(), statements[1])
	asked(t, server.URL(), "create role ann login in role coordtop_member; create role bob login in role coordtop_reader; create role eve login")
	storetest.Write(t, w, batch(0, "a"))
	for role, c := range map[string]struct{ reads, inserts bool }{"ann": {true, true}, "bob": {true, false}, "eve": {false, false}} {
		_, err := NewReader(as(role)).Runs(t.Context())
		if (err == nil) != c.reads || err != nil && !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s reads: %v", role, err)
		}
		url := server.URLFor(role, "", "postgres")
		if got, err := query(t, url, "select name, owner from coordtop.terms"); (err == nil) != c.reads || c.reads && strings.Join(got, "") != "x a" {
			t.Errorf("%s asks a view: %q, %v", role, got, err)
		}
		for _, text := range []string{
			"insert into coordtop.audit(at, who, said, source, action, outcome) values('2000-01-01', 'root', 'r', 's', 'release', 'done') returning who || (at > '2026-01-01')",
		} {
			if got, err := query(t, url, text); (err == nil) != c.inserts || c.inserts && strings.Join(got, "") != role+"true" {
				t.Errorf("%s: %s: %q, %v", role, text, got, err)
			}
		}
		for _, text := range []string{"delete from coordtop.audit", "update coordtop.store set run = 9", "insert into coordtop.lost(run, start, until) values(1, 1, 2)", "create table coordtop.x()", "drop view coordtop.terms"} {
			if _, err := query(t, url, text); err == nil {
				t.Errorf("%s may %s", role, text)
			}
		}
		_, err = Begin(t.Context(), as(role), history.Run{})
		if !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), "see coordtop help team") {
			t.Errorf("%s records: %v", role, err)
		}
	}
	for url, want := range map[string]string{
		server.URLFor("coordtop_member", "", "postgres"): `may not log in: change pg_hba.conf or the user, see coordtop help team (role "coordtop_member" is not permitted`,
		server.URLFor("ann", "", "missing"):              "this database does not exist",
		"postgres://127.0.0.1:1/x":                       "connect: connection refused",
	} {
		if _, err := NewReader(Options{Address: url}).Runs(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	_, err = NewReader(as("ann")).Runs(late)
	if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "\n") {
		t.Errorf("in no time: %v", err)
	}
}
