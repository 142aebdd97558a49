package pgcoord_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

// oneSided are ways in which a link ends for us alone: the server keeps its session.
var oneSided = map[string]func(*localserver.Proxy){
	"reset":  (*localserver.Proxy).DropClients,
	"silent": (*localserver.Proxy).Freeze,
}

func TestALockThatALostLinkLeftBehindIsFreedOnceTheLeaseHasEnded(t *testing.T) {
	t.Parallel()
	for how, lose := range oneSided {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url, proxy := proxied(t)
			s, key := kept(t, closing(t, url, pgcoord.Options{}), 2*time.Second), freshKey()
			look := sql(t, shared(t))
			l := lock(t, s, key)
			lose(proxy)
			cause, ended := over(t, l), time.Now()
			if how == "silent" && !errors.Is(cause, coord.ErrExpired) {
				t.Errorf("the lease ended with %v, want ErrExpired", cause)
			}
			if gone := freed(t, look, key); gone.Before(l.TrustedUntil()) && how == "silent" {
				t.Errorf("the lock was free at %v, while we trusted it until %v", gone, l.TrustedUntil())
			}
			if took := time.Since(ended); took > 3*time.Second {
				t.Errorf("it was owned for %v after the lease had ended", took)
			}
			if again := lock(t, s, key); again.Check() != nil {
				t.Errorf("taken again: %v", again.Check())
			}
		})
	}
}

func TestASessionThatClosesEndsWhatItsLostLinksLeftBehind(t *testing.T) {
	t.Parallel()
	for how, lose := range oneSided {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url, proxy := proxied(t)
			s, key := kept(t, closing(t, url, pgcoord.Options{}), 2*time.Second), freshKey()
			look := sql(t, shared(t))
			l := lock(t, s, key)
			lose(proxy)
			over(t, l)
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("closing: %v", err)
			}
			if n := rowsOf(t, look, key); n != 0 {
				t.Errorf("%d rows of it are left", n)
			}
		})
	}
}

// TestAReleaseOverALinkThatIsSilentGivesTheLockBack needs another connection, because the
// server hears nothing over the lock's own.
func TestAReleaseOverALinkThatIsSilentGivesTheLockBack(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	s, key := kept(t, closing(t, url, pgcoord.Options{}), 0), freshKey()
	look := sql(t, shared(t))
	l := lock(t, s, key)
	proxy.Freeze()
	if err := l.Release(t.Context()); err != nil {
		t.Errorf("releasing: %v", err)
	}
	if n := rowsOf(t, look, key); n != 0 {
		t.Errorf("%d rows of it are left", n)
	}
}

// TestAClaimWhoseLinkIsLostLeavesTheQueue has an owner that leaves: the server would give the
// lock to what is left of the claim.
func TestAClaimWhoseLinkIsLostLeavesTheQueue(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	direct, key := shared(t), freshKey()
	look := sql(t, direct)
	owner := must(t, open(t, closing(t, direct, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	ended := make(chan error, 1)
	go func() { // ends with the claim
		_, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key, Wait: coord.Forever})
		if ok {
			err = errors.New("it was granted")
		}
		ended <- err
	}()
	eventually(t, "the claim waits", func() bool { return rowsOf(t, look, key) == 2 })
	proxy.DropClients()
	err := receive(t, "the end of the claim", ended)
	if err == nil || errors.Is(err, coord.ErrUncertain) {
		t.Errorf("the claim ended with %v, want what became of its link", err)
	}
	if n := rowsOf(t, look, key); n != 1 {
		t.Errorf("%d rows when it returned, want the owner's alone", n)
	}
	noError(t, owner.Release(t.Context()))
	freed(t, look, key)
}

func TestATryWhoseAnswerIsLostLeavesNothing(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	look, key := sql(t, shared(t)), freshKey()
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	asked, release := proxy.Hold("pg_current_xact_id") // the lock is ours then, and we do not know
	defer release()
	go func() {
		<-asked
		proxy.DropClients()
	}()
	if _, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key}); ok || err == nil || errors.Is(err, coord.ErrUncertain) {
		t.Errorf("ok %v, %v, want what became of its link", ok, err)
	}
	if n := rowsOf(t, look, key); n != 0 {
		t.Errorf("%d rows of it are left", n)
	}
}

// TestWhatCannotBeEndedIsNamed wants the number that the server has for the process, whatever
// stands between.
func TestWhatCannotBeEndedIsNamed(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	run(t, sql(t, p.URL()), "create role plain login", "revoke execute on function pg_terminate_backend(int, bigint) from public")
	bouncer := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p})
	for name, c := range map[string]struct {
		target, user, why string
		lose              func(*localserver.Proxy)
	}{
		"no right":        {p.URL(), "plain", "grant execute on function pg_terminate_backend", (*localserver.Proxy).DropClients},
		"behind a pooler": {bouncer.URL(), "", "pooler", (*localserver.Proxy).DropClients},
		"unreachable":     {p.URL(), "", "", func(p *localserver.Proxy) { p.DropClients(); p.BlackHole() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, err := url.Parse(c.target)
			noError(t, err)
			proxy := localserver.ProxyForTest(t, u.Host)
			u.Host = proxy.Addr()
			if c.user != "" {
				u.User = url.User(c.user)
			}
			s, key := kept(t, closing(t, u.String(), pgcoord.Options{}), 2*time.Second), freshKey()
			l := lock(t, s, key)
			pid, _, _ := strings.Cut(l.Owner(), "@")
			c.lose(proxy)
			over(t, l)
			err = s.Close(t.Context())
			if !errors.Is(err, coord.ErrUncertain) || !strings.Contains(err.Error(), "process "+pid) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("closing: %v\nwant a sentence with process %s and %q", err, pid, c.why)
			}
			if n := rowsOf(t, sql(t, p.URL()), key); n != 1 {
				t.Errorf("%d rows of it", n)
			}
		})
	}
}

func TestALockThatIsLeftToRunOutIsNotEnded(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	look, key := sql(t, shared(t)), freshKey()
	s := kept(t, closing(t, url, pgcoord.Options{}), 3*time.Second)
	l := lock(t, s, key)
	proxy.Freeze()
	l.Abandon()
	s.Abandon()
	if n := rowsOf(t, look, key); n != 1 {
		t.Errorf("%d rows of it, want it left", n)
	}
}

func run(t testing.TB, c *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := c.Exec(context.Background(), statement); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", statement, err))
		}
	}
}
