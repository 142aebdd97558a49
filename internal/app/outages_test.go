package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

// hears waits for an event with some words in it, behind those that it was waited for
// before.
func (w *watching) hears(t *testing.T, event string, words ...string) {
	t.Helper()
	w.stdout.await(t, func(text string) bool {
		for at := w.heard; at < len(text); {
			line, _, whole := strings.Cut(text[at:], "\n")
			if !whole {
				return false
			}
			at += len(line) + 1
			if strings.Contains(line, event) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				w.heard = at
				return true
			}
		}
		return false
	})
}

// secretive ends a watch that must not have shown the password.
func (w *watching) secretive(t *testing.T) {
	t.Helper()
	w.end()
	<-w.done
	if text := w.stdout.String() + w.stderr.String(); strings.Contains(text, marker) {
		t.Errorf("the password is shown: %s", text)
	}
}

func TestWatchSaysWhyAPostgresKeepsItOutAndGoesOnWhenItIsLetIn(t *testing.T) {
	t.Parallel()
	s := localserver.PostgresForTest(t, localserver.PostgresOptions{
		Password: marker, Setup: []string{"create database app", "create role ann login password '" + marker + "'"},
	})
	root := login(t, s.URLFor("postgres", marker, "postgres"), "root")
	root.does("revoke connect on database app from public", "grant connect on database app to ann")
	const cut = "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ann'"
	runs := []*watching{
		watch(t, newWorld(t), s.URLFor("ann", marker, "app")),
		watch(t, newWorld(t), "-o", "json", s.URLFor("ann", marker, "app")),
	}
	each := func(do func(*watching)) {
		for _, run := range runs {
			do(run)
		}
	}
	each(func(run *watching) { run.hears(t, "synced") })
	for _, c := range []struct{ lose, regain, words string }{
		{"revoke connect on database app from ann", "grant connect on database app to ann", "lacks a right at " + s.Addr() + ": SQLSTATE 42501"},
		{"alter role ann nologin", "alter role ann login", "does not let ann in: check the user (SQLSTATE 28000"},
		{"alter role ann password 'another'", "alter role ann password '" + marker + "'", "refuses the password of ann: check both (SQLSTATE 28P01)"},
		{"alter role ann connection limit 0", "alter role ann connection limit -1", "has no connection left for ann: see max_connections"},
	} {
		root.does(c.lose, cut)
		each(func(run *watching) { run.hears(t, "source_down", c.words) })
		root.does(c.regain)
		each(func(run *watching) { run.hears(t, "source_up"); run.hears(t, "synced") })
	}
	each(func(run *watching) { run.secretive(t) })
}

func TestWatchSaysWhyARedisKeepsItOutAndGoesOnWhenItIsLetIn(t *testing.T) {
	t.Parallel()
	const rule = "ann on >" + marker + " ~* &* +@all"
	s := localserver.RedisForTest(t, localserver.RedisOptions{Users: []string{rule}})
	root := writer(t, s.Addr())
	do := func(args ...any) {
		t.Helper()
		if err := root.Do(t.Context(), args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	setUser := func(rules string) {
		t.Helper()
		args := []any{"acl", "setuser"}
		for r := range strings.FieldsSeq(rules) {
			args = append(args, r)
		}
		do(args...)
	}
	cut := func() { do("client", "kill", "user", "ann") }
	run := watch(t, newWorld(t), "-o", "json", fmt.Sprintf("redis://ann:%s@%s/0?keys=app:*", marker, s.Addr()))
	run.hears(t, "synced")
	for _, c := range []struct {
		lose  func()
		words string
	}{
		{func() { do("acl", "deluser", "ann") }, "refuses the password of ann"},
		{func() { setUser("ann off"); cut() }, "refuses the password of ann"},
		{func() { setUser("ann resetpass >another"); cut() }, "refuses the password of ann"},
		{func() { setUser("ann -scan -ping"); cut() }, "lacks a right at " + s.Addr()},
	} {
		c.lose()
		run.hears(t, "source_down", c.words)
		setUser("ann reset on >" + marker + " ~* &* +@all")
		run.hears(t, "source_up")
		run.hears(t, "synced")
	}
	run.secretive(t)
}
