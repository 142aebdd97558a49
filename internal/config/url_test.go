package config_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
	"coordtop/sources"
)

func TestURLsAreTakenApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  string
		want Target
	}{
		{"redis://h:6379/0?keys=app:leader:*", Target{
			Type: "redis", Scheme: "redis", Hosts: "h:6379", Path: "/0", URL: "redis://h:6379/0", Address: "redis://h:6379/0",
			Watch: []Watch{{Pattern: "app:leader:*"}},
		}},
		{"rediss://me:p%40ss@h?protocol=2&election=a%26b&mutex=c+d&dial_timeout=1s&mutex=e&semaphore=f", Target{
			Type: "redis", Scheme: "rediss", Hosts: "h", User: "me", HasPassword: true,
			URL: "rediss://me:p%40ss@h?protocol=2&dial_timeout=1s", Address: "rediss://h",
			Watch: []Watch{{Kind: sources.KindElection, Pattern: "a&b"}, {Kind: sources.KindMutex, Pattern: "c+d"},
				{Kind: sources.KindMutex, Pattern: "e"}, {Kind: sources.KindSemaphore, Pattern: "f"}},
		}},
		{"redis+sentinel://h:1,[::1]:2/primary/3", Target{
			Type: "redis", Scheme: "redis+sentinel", Hosts: "h:1,[::1]:2", Path: "/primary/3",
			URL: "redis+sentinel://h:1,[::1]:2/primary/3", Address: "redis+sentinel://h:1,[::1]:2/primary/3",
		}},
		{"unix://me:p%40ss@/run/redis/a%2Bb.sock?db=2&mutex=m", Target{
			Type: "redis", Scheme: "unix", Path: "/run/redis/a%2Bb.sock", User: "me", HasPassword: true, URL: "unix://me:p%40ss@/run/redis/a%2Bb.sock?db=2",
			Address: "unix:///run/redis/a%2Bb.sock", Watch: []Watch{{Kind: sources.KindMutex, Pattern: "m"}},
		}},
		{"redis://:p@ss@h", Target{Type: "redis", Scheme: "redis", Hosts: "h", HasPassword: true, URL: "redis://:p@ss@h", Address: "redis://h"}},
		{"redis://h/0?keys=what?", Target{
			Type: "redis", Scheme: "redis", Hosts: "h", Path: "/0", URL: "redis://h/0", Address: "redis://h/0",
			Watch: []Watch{{Pattern: "what?"}},
		}},
		{"redis://h?prefix=a%26b*&leader=bill*&leader=x", Target{
			Type: "redis", Scheme: "redis", Hosts: "h", URL: "redis://h", Address: "redis://h", Prefix: "a&b*",
			Watch: []Watch{{Kind: sources.KindElection, Pattern: `a&b\*:leader:bill*`}, {Kind: sources.KindElection, Pattern: `a&b\*:leader:x`}},
		}},
		{"postgres:///db?host=/run/pg", Target{Type: "postgres", Scheme: "postgres", Path: "/db", URL: "postgres:///db?host=/run/pg", Address: "postgres:///db"}},
		{"PostgreSQL://me:p%40ss@h1:5432,[::1]:5433/db?sslmode=require&locks=4242,17:-4&election=leader%2Cours,-1&mutex=m&keys=k&channels=ev,a%20b&connect_timeout=3", Target{
			Type: "postgres", Scheme: "postgresql", Hosts: "h1:5432,[::1]:5433", Path: "/db", User: "me", HasPassword: true,
			URL:     "postgresql://me:p%40ss@h1:5432,[::1]:5433/db?sslmode=require&connect_timeout=3",
			Address: "postgresql://h1:5432,[::1]:5433/db",
			Watch: []Watch{{Pattern: "4242"}, {Pattern: "17:-4"}, {Kind: sources.KindElection, Pattern: "leader,ours"},
				{Kind: sources.KindElection, Pattern: "-1"}, {Kind: sources.KindMutex, Pattern: "m"}, {Pattern: "k"}},
			Channels: []string{"ev", "a b"},
		}},
		{"redis://h/0?keys=a,b&client_name=c&protocol=2", Target{
			Type: "redis", Scheme: "redis", Hosts: "h", Path: "/0", URL: "redis://h/0?client_name=c&protocol=2", Address: "redis://h/0",
			Watch: []Watch{{Pattern: "a,b"}},
		}},
		{"grpcs://h:2136/local?node=/n&discovery=off", Target{Type: "ydb", Scheme: "grpcs", Hosts: "h:2136", Path: "/local",
			URL: "grpcs://h:2136/local?discovery=off", Address: "grpcs://h:2136/local", Nodes: []string{"/n"}}},
		{"GRPC://me:p@h/?database=/local&node=/local/a%20b&election=x%26y&mutex=m+n&node=app&semaphore=s*&keys=k&semaphore=t,u", Target{
			Type: "ydb", Scheme: "grpc", Hosts: "h", Path: "/", User: "me", HasPassword: true,
			URL: "grpc://me:p@h/?database=/local", Address: "grpc://h/", Nodes: []string{"/local/a b", "app"},
			Watch: []Watch{{Kind: sources.KindElection, Pattern: "x&y"}, {Kind: sources.KindMutex, Pattern: "m+n"}, {Kind: sources.KindSemaphore, Pattern: "s*"},
				{Pattern: "k"}, {Kind: sources.KindSemaphore, Pattern: "t,u"}},
		}},
		{"grpc://h/local?access_token=x", Target{Type: "ydb", Scheme: "grpc", Hosts: "h", Path: "/local", HasPassword: true,
			URL: "grpc://h/local?access_token=x", Address: "grpc://h/local"}},
		{"dflockd://h:1?election=a%2Cb&mutex=[a,b]", Target{Type: "dflockd", Scheme: "dflockd", Hosts: "h:1", URL: "dflockd://h:1", Address: "dflockd://h:1",
			Watch: []Watch{{Kind: sources.KindElection, Pattern: "a,b"}, {Kind: sources.KindMutex, Pattern: "[a,b]"}}}},
		{"dflockd://h:6388,h2:6388", Target{Type: "dflockd", Scheme: "dflockd", Hosts: "h:6388,h2:6388",
			URL: "dflockd://h:6388,h2:6388", Address: "dflockd://h:6388,h2:6388"}},
	} {
		got, err := backends.Config().ParseURL(c.raw)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.raw, got, err, c.want)
		}
	}
}

func TestBadURLsSayWhatToDoAndNoSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, want string }{
		{"localhost:6379", `argument 1: not a URL: it begins with its scheme, redis://`},
		{"", "argument 1: not a URL"},
		{"http://u:hunter2@h", `argument 1: unknown scheme "http"`},
		{"redis://", "no host in it: write it as redis://host:port"},
		{"redis://:hunter2@/0", "no host in it"},
		{"redis://a,,b", "no host in it"},
		{"redis://h/0?keys=", "keys= is empty"},
		{"unix://", "unix://...: a bad path: write it as unix:///run/redis.sock"},
		{"unix://:hunter2@run/a.sock", "a bad path: write it as unix:///run/redis.sock"},
		{"unix:///run/a:hunter2", "a bad path: write it as unix:///run/redis.sock"},
		{"unix://:hunter2/x@/run/a.sock", "an @ behind the host"},
		{"unix:///run/a.sock?lock=hunter2", "parameter 1 behind the ?: unknown parameter: of the connection there are db, master, client_name"},
		{"redis://h/0?keys=%zz", "a bad % in keys="},
		{"redis://h/0?keys=a b", "a space or a control character"},
		{"redis://h/0?keys=a\x1b[2J", "a space or a control character"},
		{"redis://h/0#x", "a # in it: write it as %23"},
		{"redis://:hunter2%zz@h", "a bad % in the password"},
		{"redis://:hunter2/x@h", "an @ behind the host"},
		{"redis://:hunter2?x@h", "an @ behind the host"},
		{"postgres://u:hunter2@h/db?semaphore=42", "semaphore=: Postgres has no semaphores: write election or mutex"},
		{"postgres://u:hunter2@h/db?locks=", "locks= is empty, or has nothing beside a comma: write it as locks=4242,17:-4"},
		{"postgres://u:hunter2@h/db?election=1,,2", "election= is empty, or has nothing beside a comma"},
		{"postgres://u:hunter2@h/db?channels=a,", "channels= is empty, or has nothing beside a comma: write it as channels=jobs,events"},
		{"postgres://u:hunter2@h/db?mutex=1,%zz", "a bad % in mutex="},
		{"postgres://u:hunter2%zz@h/db", "a bad % in the password"},
		{"postgres://u:hunter2/x@h/db", "an @ behind the host"},
		{"grpc://u:hunter2@h:2136/local?node=", "node= is empty: write the path of a coordination node, as node=/local/app"},
		{"grpc://u:hunter2@h:2136/local?node=//", "node= is empty"},
		{"grpc://u:hunter2@h:2136/local?node=%zz", "a bad % in node="},
		{"grpc://u:hunter2@h:2136/local?election=", "election= is empty: write the name of a semaphore, as election=primary"},
		{"grpc://u:hunter2@/local", "no host in it: write it as grpc://host:port"},
		{"grpc://:hunter2%zz@h/local", "a bad % in the password"},
		{"grpc://u:hunter2/x@h/local", "an @ behind the host"},
		{"redis://u:hunter2@h?mutx=x", `unknown parameter "mutx": did you mean mutex=?`},
		{"redis://u:hunter2@h?leader=x&prefix=app", "leader= is the key of LeaderService, behind its prefix: write prefix=app&leader=billing"},
		{"redis://u:hunter2@h?leadr=x", `unknown parameter "leadr": did you mean leader=?`},
		{"dflockd://h?prefix=a", "parameter 1 behind the ?: unknown parameter"},
		{"postgres://u:hunter2@h/db?lock=1", `unknown parameter "lock": did you mean locks=?`},
		{"grpc://u:hunter2@h/db?nodes=/local/app", `unknown parameter "nodes": did you mean node=?`},
		{"postgres://u:hunter2@h/db?node=/local/app", "node= is for YDB: write locks=, election= or mutex="},
		{"postgres://u:hunter2@h/db?sslmode=on", "sslmode= takes disable, allow, prefer, require, verify-ca, verify-full"},
		{"postgres://u:hunter2@h:0/db", "a bad port: it is a number from 1 to 65535"},
		{"postgres://u:hunter2@a,b:x/db", "a bad port"},
		{"postgres://u:hunter2@:x/db", "a bad port"},
		{"postgres://u:hunter2@[::1/db", "a bad IPv6 address: write it as [::1]:5432"},
		{"redis://u:hunter2@h/0?lock=hunter2", "argument 1: redis://...: parameter 1 behind the ?: unknown parameter: of the connection there are db, master, client_name"},
		{"redis://u:hunter2@h/0?db=1&lock=hunter2", "parameter 2 behind the ?: unknown parameter"},
		{"grpc://u:hunter2@h/local?lock=hunter2", "parameter 1 behind the ?: unknown parameter: of the connection there are database, discovery, access_token and with grpcs ca, cert, key, server_name; to select there are node, keys, election, mutex and semaphore"},
		{"dflockd://:hunter2@h?lock=hunter2", "argument 1: dflockd://...: parameter 1 behind the ?: unknown parameter: of the connection there are dial_timeout, read_timeout"},
		{"dflockd://h?election=a,b", "election= takes one name: write election=A&election=B for two, and %2C for a comma in a name"},
		{"redis://h/0?node=a", "parameter 1 behind the ?: unknown parameter"},
		{"redis://h/0?keys=a,b&channels=c", "parameter 2 behind the ?: unknown parameter"},
		{"redis://h?keys=app:[a", `keys=: a [ without its ]: write \[ for the character`},
		{"dflockd://h?mutex=app[]", "mutex=: [] with nothing in it fits no name"},
		{"redis://h?keys=app:%5C", `keys=: a \ at its end`},
		{"\x1b]0;x\a://h", "unknown scheme"},
	} {
		_, err := backends.Config().FromURLs([]string{c.raw})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.raw, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") || strings.ContainsAny(err.Error(), "\x1b\a") {
			t.Errorf("%q: the error repeats what it must not: %q", c.raw, err)
		}
	}
}

func TestEveryBadArgumentIsReported(t *testing.T) {
	t.Parallel()
	c, err := backends.Config().FromURLs([]string{"postgres://h/db?channels=ev", "x", "http://y"})
	var p *Problems
	if !errors.As(err, &p) || len(p.List) != 2 {
		t.Fatalf("got %v", err)
	}
	if len(c.Sources) != 1 || !slices.Equal(c.Sources[0].Channels, []string{"ev"}) {
		t.Errorf("the good one is lost: %+v", c)
	}
}

func TestSourcesAreNamedByWhatTellsThemApart(t *testing.T) {
	t.Parallel()
	c, err := backends.Config().FromURLs([]string{"redis://h:1", "redis://h:2/0", "redis://h:1/3", "redis://h:1/3/", "redis://me@h:1/3", "redis://h:1/",
		"postgres://a:1,b:2/x", "postgres://a:1,b:2/y", "postgres:///x", "grpc://y:1/local?node=/local/a", "grpc://y:1/local?node=/local/b"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"h:1", "h:2", "h:1/3", "h:1/3 #2", "h:1/3 #3", "h:1 #2", "a:1,b:2", "a:1,b:2 #2", "postgres", "y:1", "y:1 #2"}
	for i, s := range c.Sources {
		if s.Name != want[i] {
			t.Errorf("%s: named %q, want %q", s.URL, s.Name, want[i])
		}
	}
}

func TestNamesOfSourcesAreAsShortAsTellsThemApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ urls, want string }{
		{"redis://leases:6379/0", "leases"},
		{"redis://127.0.0.1:36379/0 postgres://ops@127.0.0.1:35432/db grpc://127.0.0.1:32136/local", "redis postgres ydb"},
		{"redis://leases:6379 postgres://ledger:5432/db", "leases ledger"},
		{"redis://a:1 redis://a:2 postgres://a:3/db", "a:1 a:2 postgres"},
		{"redis://a:1 redis://b:2 postgres://b:3/db", "a b:2 postgres"},
		{"redis://[::1]:6379 redis://h", "[::1] h"},
		{"redis://redis redis://x:1 postgres://x:2/db", "redis x:1 postgres"},
		{"redis+sentinel://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3/leases/0", "leases"},
		{"redis+sentinel://a:1,b:2/leases redis+sentinel://a:1,b:2/jobs", "leases jobs"},
		{"redis+sentinel://127.0.0.1:1,127.0.0.1:2/mymaster/0", "mymaster"},
		{"redis+sentinel://127.0.0.1:1,127.0.0.1:2/Xq7vZk2mWp9tRb4n", "127.0.0.1"}, // not positively a name
		{"postgres://a:1,a:2,b:3/db", "a,b"},
		{"unix:///run/jobs.sock unix:///run/a/leases.sock?db=1 redis://a", "jobs.sock leases.sock a"},
		{"unix:///run/b/redis.sock unix:///run/a/redis.sock?db=1", "redis.sock redis.sock #2"},
		{"unix:///run/a.sock?db=1 unix:///run/a.sock?db=2 postgres:///x", "a.sock a.sock #2 postgres"},
	} {
		config, err := backends.Config().FromURLs(strings.Fields(c.urls))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range config.Sources {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: named %s, not %s", c.urls, got, c.want)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"redis://:p/w@h", "redis://h:6379/0?keys=a", "redis://u:p@h", "redis+cluster://a,b", "postgres://", "x", "redis://%",
		"postgres://u:p@h:1,i/db?locks=1,17:-4&channels=a,b&sslmode=disable",
		"grpc://u:p@h:2136/local?node=/local/a&node=b&election=e&semaphore=s&access_token=t&discovery=off"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := backends.Config().ParseURL(raw)
		if err != nil {
			return
		}
		if strings.Contains(got.Address, "@") {
			t.Fatalf("%q: the address %q shows a login", raw, got.Address)
		}
		again, err := backends.Config().ParseURL(got.URL)
		if err != nil || len(again.Watch)+len(again.Channels)+len(again.Nodes) != 0 || again.Address != got.Address {
			t.Fatalf("%q: what is left, %q, is read as %+v, %v", raw, got.URL, again, err)
		}
	})
}
