package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// waits starts wait, and returns once it says what it waits for.
func waits(t *testing.T, args ...string) *kept {
	t.Helper()
	h := holds(t, append([]string{"wait", "-o", "json"}, args...)...)
	h.says("waiting until it is ")
	return h
}

func TestWaitEndsWhenThePrimitiveIsSoOnEveryBackend(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		s := localserver.RedisForTest(t, localserver.RedisOptions{})
		c := writer(t, s.Addr())
		set(t, c, "app:lock:x", "host-1:1", time.Hour)
		free := waits(t, "redis://"+s.Addr()+"/0?keys=app:lock:x", "--for", "free")
		other := waits(t, "redis://"+s.Addr()+"/0?mutex=app:lock:x", "--for", "owner=host-2:2")
		if err := c.Del(t.Context(), "app:lock:x").Err(); err != nil {
			t.Fatal(err)
		}
		free.ends(exitOK)
		set(t, c, "app:lock:x", "host-2:2", time.Hour)
		other.ends(exitOK)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := localserver.PostgresForTest(t, localserver.PostgresOptions{})
		led := waits(t, s.URL()+"&election=4242", "--for", "led")
		mary := waits(t, s.URL()+"&election=4242", "--for", "owner=mary")
		owner := login(t, s.URL(), "mary")
		owner.does("select pg_advisory_lock(4242)")
		led.ends(exitOK)
		mary.ends(exitOK)
		absent := waits(t, s.URL()+"&election=4242", "--for", "absent")
		owner.does("select pg_advisory_unlock(4242)")
		absent.ends(exitOK)
	})
	t.Run("ydb", func(t *testing.T) {
		t.Parallel()
		s := ydbForTest(t, ydbtest.Options{})
		holds(t, "wait", "grpc://"+s.Endpoint(0)+"/local?node="+ydbNode+"&semaphore=nothing", "--for", "absent").ends(exitOK)
	})
	t.Run("dflockd", func(t *testing.T) {
		t.Parallel()
		s, url := dflockd(t, dflocktest.Options{})
		if _, err := s.Own("pool", 3, time.Minute); err != nil {
			t.Fatal(err)
		}
		holds(t, "wait", url+"?semaphore=pool", "--for", "led").ends(exitOK)
		free := waits(t, url+"?semaphore=pool", "--for", "free")
		if err := s.Take("pool"); err != nil {
			t.Fatal(err)
		}
		free.ends(exitOK)
	})
}

func TestWaitThatIsOverInVainSaysHowItIs(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	locked := localserver.RedisForTest(t, localserver.RedisOptions{Password: "another"})
	set(t, writer(t, s.Addr()), "app:lock:x", "host-1:1", time.Hour)
	url := "redis://" + s.Addr() + "/0?mutex=app:lock:x"
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{url + " --for free --timeout 5s", exitTimeout, "the time is over: waited 5s until it is free; 127.0.0.1/0/app:lock:x is held by host-1:1"},
		{url, exitUsage, "--for is missing: write led, free, absent, problem, calm or owner=NAME"},
		{url + " --for taken", exitUsage, "--for: write led, free, absent, problem, calm or owner=NAME"},
		{"--for free", exitUsage, "wait takes a NAME or URL, none was given"},
		{url + " --for free --unacknowledged", exitUsage, "--unacknowledged is for --for problem and --for calm"},
		{url + " --for free --timeout 0", exitUsage, "--timeout must be longer than nothing"},
		{"redis://" + s.Addr() + "/0?keys=app:* --for free", exitUsage, "name one primitive in the URL"},
		{"redis://:hunter2@" + locked.Addr() + "/0?mutex=m --for led --timeout 1m", exitNoAnswer, "refused our credentials"},
	} {
		w := newWorld(t)
		code := w.main(t.Context(), append([]string{"wait"}, strings.Fields(c.args)...)...)
		if said := w.stderr.String(); code != c.code || !strings.Contains(said, c.says) || w.stdout.String() != "" {
			t.Errorf("%s: exit code %d, said %s, printed %s", c.args, code, said, w.stdout)
		}
	}
}

func TestWhatAPatternSelectsIsFreeWhileNoRowHasIt(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	for name, c := range map[string]struct {
		code int
		says string
	}{
		"leases/app:lock:gone":   {exitOK, "nobody owns anything of this name: it is free, or misspelt"},
		"leases/0/app:lock:gone": {exitOK, "it is free, or misspelt"},
		"leases/other:lock:gone": {exitNotFound, "no primitive goes by this name"},
	} {
		w := newWorld(t)
		config := w.write(t, "c.yaml", "sources: [{name: leases, url: 'redis://"+s.Addr()+"/0', watch: [{mutex: 'app:lock:*'}]}]\n")
		code := w.main(t.Context(), "wait", "--config", config, name, "--for", "free", "--timeout", "1m")
		if said := w.stderr.String(); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit code %d, said %s", name, code, said)
		}
	}
}

func TestALockThatExistsOnlyWhileOwnedIsFreeWithoutASelection(t *testing.T) {
	t.Parallel()
	s, url := dflockd(t, dflocktest.Options{})
	if _, err := s.Own("other", 1, time.Minute); err != nil {
		t.Fatal(err)
	}
	pg := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	ydb := ydbForTest(t, ydbtest.Options{})
	for url, code := range map[string]int{
		url: exitOK, pg.URL(): exitOK, "redis://" + server.Addr() + "/0": exitNotFound, // a key may not look like a lock
		"grpc://" + ydb.Endpoint(0) + "/local?node=" + ydbNode: exitNotFound, // a semaphore may have to be created
	} {
		w := newWorld(t)
		file := w.write(t, "c.yaml", "sources: [{name: s, url: '"+url+"'}]\n")
		if got := w.main(t.Context(), "wait", "--config", file, "s/4242", "--for", "free", "--timeout", "1m"); got != code || w.stdout.String() != "" ||
			code == exitOK && !strings.Contains(w.stderr.String(), "it is free, or misspelt") {
			t.Errorf("%s: exit code %d, said %s, printed %s", url, got, w.stderr, w.stdout)
		}
	}
}

func TestWaitForCalmAndForAProblemOfTwoServers(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, s.Addr())
	set(t, c, "app:leader:a", "host-1:1", time.Hour)
	set(t, c, "app:leader:b", "host-1:1", 0) // a lease without an end
	source := func(name string) string {
		return "{name: " + name + ", url: 'redis://" + s.Addr() + "/0', watch: [{election: 'app:leader:" + name + "'}]}"
	}
	file := "sources: [" + source("a") + ", " + source("b") + "]\n"
	calm := holdsWith(t, file, "wait", "--for", "calm")
	calm.says("has a problem: the lease of host-1:1 has no end (no-ttl)")
	holdsWith(t, file, "wait", "a", "--for", "calm").ends(exitOK)
	holdsWith(t, file, "wait", "a", "b", "--any", "--for", "problem").ends(exitOK)
	set(t, c, "app:leader:b", "host-1:1", time.Hour)
	calm.says("it is calm after ")
	calm.ends(exitOK)
	both := holdsWith(t, file, "wait", "a/app:leader:a", "b/app:leader:b", "--for", "owner=host-2:2")
	both.says("app:leader:b is led by host-1:1")
	set(t, c, "app:leader:a", "host-2:2", time.Hour)
	set(t, c, "app:leader:b", "host-2:2", time.Hour)
	both.ends(exitOK)
}

func TestGetFailsOnWhatIsNamedOnTheCommandLine(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, s.Addr())
	set(t, c, "app:leader:a", "host-1:1", time.Hour)
	set(t, c, "app:lock:b", "host-2:2", 0)
	url := "redis://" + s.Addr() + "/0?election=app:leader:a&election=app:leader:gone&mutex=app:lock:b"
	for on, c := range map[string]struct {
		code int
		says []string
	}{
		"late,stale": {exitOK, nil},
		"no-leader":  {exitFailed, []string{"failed on no-leader: 127.0.0.1/0/app:leader:gone: nobody leads it"}},
		"any":        {exitFailed, []string{"app:leader:gone: nobody leads it", "failed on no-ttl: 127.0.0.1/0/app:lock:b: the lease of host-2:2 has no end"}},
		"led":        {exitUsage, []string{"write two-owners, no-leader, absent, no-ttl, wait, late, full, flapping, stale or any"}},
	} {
		w := newWorld(t)
		code := w.main(t.Context(), "get", "--fail-on", on, url)
		for _, says := range c.says {
			if !strings.Contains(w.stderr.String(), says) {
				t.Errorf("%s: lacks %q: %s", on, says, w.stderr)
			}
		}
		if text := w.stderr.String(); strings.Count(text, "failed on") != strings.Count(text, "coordtop: failed on") {
			t.Errorf("%s: not every line begins alike: %s", on, text)
		}
		if code != c.code || (code != exitUsage) != strings.Contains(w.stdout.String(), "host-1:1") {
			t.Errorf("%s: exit code %d, printed %s", on, code, w.stdout)
		}
	}
}

// TestGetLooksAtAllSourcesThatAgreeBeforeItJudges asks for one of two sources that are one lock service.
func TestGetLooksAtAllSourcesThatAgreeBeforeItJudges(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, s.Addr())
	for db, owner := range []string{"host-1:1", "host-2:2", "host-3:3"} {
		if err := errors.Join(c.Do(t.Context(), "select", db).Err(), c.Set(t.Context(), "app:leader:a", owner, time.Hour).Err()); err != nil {
			t.Fatal(err)
		}
	}
	source := func(name, db string) string {
		return "{name: " + name + ", url: 'redis://" + s.Addr() + "/" + db + "', watch: [{election: 'app:leader:*'}]}"
	}
	down := "{name: new, url: 'redis://127.0.0.1:1/0', watch: [{election: 'app:leader:*'}]}"
	for _, c := range []struct {
		second string
		args   []string
		code   int
		says   string
	}{
		{source("new", "1"), []string{"old", "--fail-on", "two-owners"}, exitFailed, "old/0/app:leader:a: also owned by host-2:2 in new"},
		{source("new", "1"), []string{"old/app:leader:a", "--fail-on", "any", "-o", "json"}, exitFailed, "old/0/app:leader:a: also owned by host-2:2 in new"},
		{source("new", "1"), []string{"alone", "--fail-on", "any"}, exitOK, ""},
		{down, []string{"old/app:leader:a", "--fail-on", "two-owners"}, exitNoAnswer, "new did not answer"},
		{down, []string{"old/app:leader:a", "-o", "json"}, exitNoAnswer, "new did not answer"}, // it has problems
		{down, []string{"old", "--fail-on", "no-leader"}, exitOK, ""},
		{down, []string{"old/app:leader:a"}, exitOK, ""},
	} {
		w := newWorld(t)
		file := w.write(t, "c.yaml", "sources: ["+source("old", "0")+", "+c.second+", "+source("alone", "2")+"]\nagree: [old, new]\n")
		code := w.main(t.Context(), append([]string{"get", "--config", file}, c.args...)...)
		if code != c.code || !strings.Contains(w.stderr.String(), c.says) || strings.Contains(w.stdout.String(), "host-2:2") && c.code != exitFailed {
			t.Errorf("%q: exit code %d, said %s, printed %s", c.args, code, w.stderr, w.stdout)
		}
	}
}

func TestGetSaysOfEachRowWhatCanBeDone(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, s.Addr()), "app:lock:b", "host-2:2", time.Hour)
	for readOnly, want := range map[bool]string{false: "", true: "the config says read_only"} {
		w := newWorld(t)
		w.write(t, configFile, fmt.Sprintf("sources: [{name: r, url: 'redis://%s', read_only: %v, watch: [{mutex: app:lock:b}]}]", s.Addr(), readOnly))
		if code := w.main(t.Context(), "get", "-o", "json"); code != exitOK {
			t.Fatalf("exit code %d: %s", code, w.stderr)
		}
		var got struct {
			Primitives []struct {
				Owners []struct {
					Guard   string
					Release struct{ Not *string }
				}
				Actions []struct {
					Action string
					Not    *string
				}
			}
		}
		if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil || len(got.Primitives) != 1 {
			t.Fatalf("%v: %s", err, w.stdout)
		}
		row := got.Primitives[0]
		not := map[string]string{}
		for _, a := range row.Actions {
			if a.Not != nil {
				not[a.Action] = *a.Not
			}
		}
		if len(row.Owners) != 1 || row.Owners[0].Guard == "" || !strings.HasPrefix(not["acquire"], want) || want == "" && not["acquire"] != "" || not["campaign"] == "" {
			t.Errorf("read_only %v: %s", readOnly, w.stdout)
		}
		if release := row.Owners[0].Release.Not; readOnly && (release == nil || !strings.HasPrefix(*release, want)) {
			t.Errorf("read_only, and a release may be possible: %s", w.stdout)
		}
	}
}
