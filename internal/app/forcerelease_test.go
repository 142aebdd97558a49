package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// stuckLock is a lock that another program owns and does not give back.
type stuckLock struct {
	view  []string // arguments for coordtop: this one lock
	name  string   // as it is on screen
	owner string
	owned func() bool // by anybody
	// swap lets another owner take it, which looks the same but for what only a guard tells.
	swap func()
}

func stuckLocks() map[string]func(*testing.T) stuckLock {
	return map[string]func(*testing.T) stuckLock{
		"redis": func(t *testing.T) stuckLock {
			server := localserver.RedisForTest(t, localserver.RedisOptions{})
			const key, owner = "app:lock:stuck", "host-a:4411"
			w, value := writer(t, server.Addr()), client+" "+owner
			set(t, w, key, value, 0)
			return stuckLock{
				view: []string{server.URL() + "?keys=" + key}, name: key, owner: owner,
				owned: func() bool { return w.Exists(t.Context(), key).Val() == 1 },
				swap:  func() { set(t, w, key, value+" again", 0) }, // the same nonce with other data
			}
		},
		"postgres": func(t *testing.T) stuckLock {
			url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
			owner := locks(t, url)
			return stuckLock{
				view: []string{url + "&keys=4242"}, name: "4242", owner: "stuck-job",
				owned: func() bool { return owner.Ping(t.Context()) == nil },
				swap: func() {
					if err := owner.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					owner = locks(t, url)
				},
			}
		},
		"ydb, by the session": func(t *testing.T) stuckLock {
			return stuckOnYDB(t, "clients_unprotected: true", ydbForTest(t, ydbtest.Options{}))
		},
		"ydb, by the semaphore": func(t *testing.T) stuckLock {
			return stuckOnYDB(t, "allow_recreate: true", ydbForTest(t, ydbtest.Options{}))
		},
	}
}

// stuckOnYDB is an election that a session without a protection key leads. What releases it is in
// the config.
func stuckOnYDB(t *testing.T, allows string, server *ydbtest.Server) stuckLock {
	t.Helper()
	k := newKeyless(t, server)
	k.acquire("primary", 1)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(ydbConfig(server, allows, "primary")), 0o600); err != nil {
		t.Fatal(err)
	}
	return stuckLock{
		view: []string{"--config", config}, name: "primary", owner: "host-1:1",
		owned: func() bool { return len(server.Owners(ydbNode, "primary")) > 0 },
		swap: func() { // the same session with another order id
			k.release("primary")
			k.acquire("primary", 1)
		},
	}
}

// locks is a session that owns the advisory lock 4242.
func locks(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url+"&application_name=stuck-job")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), "select pg_advisory_lock(4242)"); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestAStuckLockIsReleasedOnTheBoard(t *testing.T) {
	t.Parallel()
	for backend, set := range stuckLocks() {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			on := set(t)
			s := inSight(t, command(t, on.view...)).await(on.name, on.owner, "READ-ONLY")
			s.keys("ax").await("writing is off").keys(esc).gone("writing is off: W")
			s.arm().keys("ax").await("Force-release", on.owner).confirm(on.name)
			s.await("released by force")
			if on.owned() {
				t.Error("it is owned still")
			}
			s.keys("q")
			if code := ends(t, s.cmd); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func TestALockWhoseOwnerChangedIsNotReleased(t *testing.T) {
	t.Parallel()
	for backend, set := range stuckLocks() {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			on := set(t)
			s := inSight(t, command(t, on.view...)).await(on.name, on.owner)
			s.arm().keys("ax").await("(needs the name)").keys(backTab, on.name).gone("(needs the name)")
			on.swap()
			s.await("decide anew").keys(tab, tab, enter)
			s.until("closes the box", func(screen string) bool {
				if strings.Contains(screen, "Force-release") {
					s.keys(esc) // the first ones come too soon after the change to be obeyed
					return false
				}
				return true
			})
			if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil { // a key behind the last esc might be one with alt
				t.Fatal(err)
			}
			if code := ends(t, s.cmd); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			if strings.Contains(s.text(), "released by force") || !on.owned() {
				t.Error("it was released")
			}
		})
	}
}

func TestTheMenuSaysWhatEndsALockThatCannotBeReleased(t *testing.T) {
	t.Parallel()
	_, locks := dflockd(t, dflocktest.Options{})
	h := holds(t, "acquire", "--write", "--yes", locks+"?mutex=m")
	h.line(1, "acquired")
	server := ydbForTest(t, ydbtest.Options{})
	onYDB := stuckOnYDB(t, "", server)
	newKeyless(t, server).acquire(onYDB.name, 1) // it waits
	for _, on := range []struct {
		stuckLock
		ends, wait string
	}{
		{stuckLock{view: []string{locks + "?mutex=m"}, name: "m"}, "its lease ends in", ""},
		{onYDB, "it ends when its program ends", "e  cancel-wait: only its own session can leave the queue"},
	} {
		s := inSight(t, command(t, on.view...)).await(on.name)
		s.arm().keys("a").await("x  force-release: "+on.ends, on.wait).keys("x").await("not possible: " + on.ends)
		s.keys(esc).gone("x  force-release").keys("q")
		if code := ends(t, s.cmd); code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
	if !onYDB.owned() {
		t.Error("it was released")
	}
	h.types("resign")
	h.ends(exitOK)
}

func TestAWaitIsEndedOnTheBoardAndItsSessionLivesOn(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	owner, waiter := locks(t, url), login(t, url, "waiting-job")
	s := inSight(t, command(t, url+"&keys=4242")).await("4242", "stuck-job", "READ-ONLY")
	ended := make(chan error, 1)
	go func() { // joined below
		_, err := waiter.conn.Exec(context.Background(), "select pg_advisory_lock(4242)")
		ended <- err
	}()
	s.await("waiting-job").keys("ae").await("writing is off").keys(esc).gone("writing is off: W")
	s.arm().keys("ae").await("waiting-job", "End the wait").confirm("4242")
	if reply, ok := errors.AsType[*pgconn.PgError](<-ended); !ok || reply.Code != "57014" {
		t.Errorf("its statement ended with %v", reply)
	}
	s.await("its wait was ended").keys("q")
	if code := ends(t, s.cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	waiter.does("select 1") // its session lives on, as the owner's does
	if err := owner.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestABlankNameIsConfirmedOnlyByTypingItInQuotes(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	w := writer(t, server.Addr())
	for key, typed := range map[string]string{"": `""`, " ": `" "`, "end ": `"end "`, strings.Repeat("é", 101): "sha256:96cbf9775498"} {
		set(t, w, key, "host-a:4411", 0)
		s := inSight(t, command(t, server.URL()+"?mutex=*")).await("host-a:4411", "READ-ONLY")
		s.arm().keys("ax").await("type "+typed+" to confirm", "(needs the name)")
		s.keys(tab, enter) // past the button, which is off, and from the reason to the name
		s.keys("x", "\x7f", typed).gone("(needs the name)").keys(tab, tab, enter)
		s.await("released by force").keys("q")
		if code := ends(t, s.cmd); code != exitOK {
			t.Errorf("%q: exit code %d", key, code)
		}
		if n := w.Exists(t.Context(), key).Val(); n != 0 {
			t.Errorf("%q is there still", key)
		}
	}
}
