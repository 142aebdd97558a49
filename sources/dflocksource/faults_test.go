package dflocksource

import (
	"strings"
	"testing"
	"time"

	"coordtop/coord/certs"
	"coordtop/coord/dflockcoord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestARestartIsInferred(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{})
	r.program().lock("leader", 5*time.Minute)
	r.watch(Options{})
	r.row("leader", "an owner", func(row *sources.Row) bool { return len(row.Owners) == 1 })
	r.Restart()
	e := r.Event(sources.EventRestarted, "")
	if e.How != sources.Inferred {
		t.Errorf("%v: %s", e.How, e.Detail)
	}
	r.row("leader", "nobody", func(row *sources.Row) bool { return len(row.Owners) == 0 })
}

func TestACutConnectionIsNoRestart(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{KeepOnDisconnect: true})
	r.program().lock("leader", 5*time.Minute)
	r.watch(Options{})
	was := r.row("leader", "an owner", func(row *sources.Row) bool { return len(row.Owners) == 1 })
	r.Cut()
	r.Event(sources.EventSourceUp, "")
	row := r.row("leader", "an owner", func(row *sources.Row) bool { return len(row.Owners) == 1 })
	if row.Incarnation != was.Incarnation || row.Owners[0].ID != was.Owners[0].ID {
		t.Errorf("owner %s of %q, before that %s of %q", row.Owners[0].ID, row.Incarnation, was.Owners[0].ID, was.Incarnation)
	}
	r.NoOwnerEvents()
}

func TestOneServerDownLeavesTheOtherLive(t *testing.T) {
	t.Parallel()
	r := serve(t, dflocktest.Options{})
	second := r.another(dflocktest.Options{})
	r.watch(Options{})
	second.Refuse(true)
	r.Witness.State("the second to be stale", func(s *sources.State) bool { return scope(s, r.servers[1]) != sources.HealthLive })
	r.program().lock("leader", time.Minute)
	r.Event(sources.EventAcquired, "leader")
	if s := r.Hub.State(); scope(s, r.servers[0]) != sources.HealthLive {
		t.Error("the first is stale too")
	}
	second.Refuse(false)
	r.Hub.Refresh("src")
	r.Witness.State("the second to be live", func(s *sources.State) bool { return scope(s, r.servers[1]) == sources.HealthLive })
}

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	secret := serve(t, dflocktest.Options{Secret: "s3cret-a"})
	plain := serve(t, dflocktest.Options{})
	full := serve(t, dflocktest.Options{MaxConnections: 1})
	full.program()
	odd := serve(t, dflocktest.Options{})
	odd.Answer("ping", "ok", 100)
	odd.Answer("stats", `ok {"a":1}`, 100)
	for name, c := range map[string]struct {
		addr string
		o    dflockcoord.ClientOptions
		want string
	}{
		"no secret":       {secret.Addr(), dflockcoord.ClientOptions{}, "wants an auth token: give it"},
		"a wrong secret":  {secret.Addr(), dflockcoord.ClientOptions{Secret: "wr0ng-one"}, "refuses our auth token: check it"},
		"a secret unused": {plain.Addr(), dflockcoord.ClientOptions{Secret: "s3cret-b"}, "the server has none: leave it out"},
		"no room":         {full.Addr(), dflockcoord.ClientOptions{}, "have no room for us (its --max-connections)"},
		"no TLS":          {plain.Addr(), dflockcoord.ClientOptions{TLSFiles: &certs.Files{}}, "TLS"},
		"nobody":          {localserver.RefusingForTest(t), dflockcoord.ClientOptions{}, "nothing listens at"},
		"another program": {odd.Addr(), dflockcoord.ClientOptions{}, "an answer that no dflockd server gives"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.Servers = []string{c.addr}
			s, err := New(Options{Client: c.o})
			if err != nil {
				t.Fatal(err)
			}
			if err = s.Connect(t.Context()); err == nil {
				for err == nil {
					_, err = s.Next(t.Context())
				}
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.addr) || c.o.Secret != "" && strings.Contains(err.Error(), c.o.Secret) {
				t.Errorf("lacks %q: %v", c.want, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOptionsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{Client: dflockcoord.ClientOptions{Servers: []string{"a:1", "a:1"}}},
		{Client: dflockcoord.ClientOptions{TLSFiles: &certs.Files{CA: "nowhere"}}},
		{Selections: []Selection{{Pattern: "two words"}}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func scope(s *sources.State, name string) sources.Health {
	for i := range s.Scopes {
		if s.Scopes[i].Name == name {
			return s.Scopes[i].Health
		}
	}
	return sources.HealthConnecting
}
