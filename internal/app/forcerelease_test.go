package app

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

// stuckLock is a lock that another program owns and does not give back.
type stuckLock struct {
	view  string // for coordtop: this one lock
	name  string // as it is on screen
	owner string
	owned func() bool // by that owner still
	// swap lets another owner take it, which looks the same but for what only a guard tells.
	swap func()
}

func stuckLocks() map[string]func(*testing.T) stuckLock {
	return map[string]func(*testing.T) stuckLock{
		"redis": func(t *testing.T) stuckLock {
			server := localserver.RedisForTest(t, localserver.RedisOptions{})
			const key, owner = "app:lock:stuck", "host-a:4411"
			set(t, writer(t, server.Addr()), key, owner, 0)
			other := writer(t, server.Addr())
			return stuckLock{
				view: server.URL() + "?keys=" + key, name: key, owner: owner,
				owned: func() bool { return other.Get(t.Context(), key).Val() == owner },
				swap:  func() { set(t, other, key, owner+" again", 0) },
			}
		},
		"postgres": func(t *testing.T) stuckLock {
			url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
			owner := locks(t, url)
			return stuckLock{
				view: url + "&keys=4242", name: "4242", owner: "stuck-job",
				owned: func() bool { return owner.Ping(t.Context()) == nil },
				swap: func() {
					if err := owner.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
					owner = locks(t, url)
				},
			}
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
			s := inSight(t, command(t, on.view)).await(on.name, on.owner, "READ-ONLY")
			s.keys("ax").await("writing is off").keys(esc).gone("writing is off: W")
			s.arm().keys("ax").await("Force-release", on.owner).confirm(on.name)
			s.await("released by force")
			if on.owned() {
				t.Error("its owner has it still")
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
			s := inSight(t, command(t, on.view)).await(on.name, on.owner)
			s.arm().keys("ax").await("(needs the name)").keys(backTab, on.name).gone("(needs the name)")
			on.swap()
			s.await("decide anew").keys(tab, tab, enter)
			s.until("closes the box", func(screen string) bool {
				if strings.Contains(screen, "Force-release") {
					s.keys(esc) // the first ones come too soon after the change to be obeyed
					return false
				}
				return true
			}).await("q quit").keys("q")
			if code := ends(t, s.cmd); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			if strings.Contains(s.text(), "released by force") {
				t.Error("it was released")
			}
		})
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
