package pgcoord_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

// kept opens a session of the core, which renews what is acquired in it.
func kept(t *testing.T, d coord.Driver, ttl time.Duration) *coord.Session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := coord.Open(ctx, d, coord.SessionOptions{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = s.Close(ctx) // the test may have broken what it would release
	})
	return s
}

func lock(t *testing.T, s *coord.Session, key string) *coord.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	l, err := s.Mutex(key, coord.MutexOptions{}).Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// over waits for the end of a lease.
func over(t *testing.T, l *coord.Lease) error {
	t.Helper()
	select {
	case <-l.Context().Done():
		return context.Cause(l.Context())
	case <-time.After(patience):
		t.Fatal("the lease did not end")
		return nil
	}
}

// renewedOnce waits until a lease was renewed, so that trust runs from a renewal.
func renewedOnce(t *testing.T, l *coord.Lease) {
	t.Helper()
	first := l.TrustedUntil()
	eventually(t, "the lease is renewed", func() bool { return l.TrustedUntil().After(first) })
}

const heldQuery = `select count(*) from pg_locks where locktype = 'advisory' and granted and objsubid = 1
	and classid::bigint << 32 | objid::bigint = $1::bigint`

// freed waits until the server does not hold the lock any more and returns the time before
// the question whose answer said so.
func freed(t *testing.T, c *pgx.Conn, key string) time.Time {
	t.Helper()
	var asked time.Time
	eventually(t, "the server gives the lock away", func() bool {
		asked = time.Now()
		return one[int](t, c, heldQuery, key) == 0
	})
	return asked
}

func TestTerminatedBackendEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresURLForTest(t)
	s, key := kept(t, closing(t, url, pgcoord.Options{}), 0), freshKey() // a window of 11 s
	l := lock(t, s, key)
	rival := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	place, err := rival.(coord.Queuer).Enqueue(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key, Wait: coord.Forever})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	pid, _, _ := strings.Cut(l.Owner(), "@")
	one[bool](t, sql(t, url), "select pg_terminate_backend($1)", pid)
	cause := over(t, l)
	t.Logf("seen %v after it was asked for", time.Since(start))
	if !errors.Is(cause, coord.ErrLost) || !strings.Contains(cause.Error(), "57P01") {
		t.Errorf("the lease ended with %v, want ErrLost and what the server said", cause)
	}
	if left := time.Until(l.TrustedUntil()); left < 5*time.Second {
		t.Errorf("%v of the window were left: it ran out rather than that the loss was seen", left)
	}
	if _, ok, err := place.Wait(t.Context()); !ok || err != nil {
		t.Errorf("the next in the queue: ok %v, %v", ok, err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Errorf("releasing what was lost: %v", err)
	}
}

func TestRestartedServerEndsTheLeaseAndServesAgain(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	s, key := kept(t, closing(t, p.URL(), pgcoord.Options{}), 0), freshKey()
	for _, how := range []string{"restarted", "killed"} {
		l := lock(t, s, key)
		if how == "killed" {
			p.Kill()
		}
		if err := p.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The new server has forgotten the lock and could give it to anybody from here on.
		if err := l.Check(); !errors.Is(err, coord.ErrLost) {
			t.Errorf("%s: the lease is %v when the new server serves, want ErrLost", how, err)
		}
		again := lock(t, s, key)
		if err := again.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestFrozenServerOutlivesTheLease(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	s, key := kept(t, closing(t, p.URL(), pgcoord.Options{}), time.Second), freshKey()
	look := sql(t, p.URL())
	l := lock(t, s, key)
	renewedOnce(t, l)
	if err := p.Freeze(); err != nil {
		t.Fatal(err)
	}
	if cause := over(t, l); !errors.Is(cause, coord.ErrExpired) {
		t.Errorf("the lease ended with %v, want ErrExpired", cause)
	}
	// All that the server does from here on it does after the lease has ended.
	if err := p.Thaw(); err != nil {
		t.Fatal(err)
	}
	freed(t, look, key)
	if again := lock(t, s, key); again.Check() != nil {
		t.Errorf("after the thaw: %v", again.Check())
	}
}

func TestKilledOwnerIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	child, err := startChild(t, p.URL())
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, closing(t, p.URL(), pgcoord.Options{}), coord.SessionOptions{})
	d, err := s.(coord.Describer).Describe(t.Context(), coord.KindMutex, "4242")
	if err != nil || len(d.Owners) != 1 {
		t.Fatalf("described as %+v, %v, want the child as its owner", d, err)
	}
	place, err := s.(coord.Queuer).Enqueue(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: "4242", Wait: coord.Forever})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, so this is an error by design
	g, ok, err := place.Wait(t.Context())
	t.Logf("taken over %v after the kill", time.Since(start))
	if err != nil || !ok {
		t.Fatalf("taking over: ok %v, %v", ok, err)
	}
	d, err = s.(coord.Describer).Describe(t.Context(), coord.KindMutex, "4242")
	if err != nil || len(d.Owners) != 1 || d.Owners[0].ID != g.Info().Owner {
		t.Errorf("described as %+v, %v, want us as its owner", d, err)
	}
}

func TestKilledWaiterLeavesTheQueue(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	look := sql(t, p.URL())
	s := open(t, closing(t, p.URL(), pgcoord.Options{}), coord.SessionOptions{})
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: "4242"})
	child, _ := startChild(t, "waiting "+p.URL())
	waiting := func() int {
		return one[int](t, look, "select count(*) from pg_locks where locktype = 'advisory' and not granted")
	}
	eventually(t, "the child waits", func() bool { return waiting() == 1 })
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed, so this is an error by design
	eventually(t, "the queue is empty", func() bool { return waiting() == 0 })
	if g.Err() != nil {
		t.Errorf("the owner lost it: %v", g.Err())
	}
}

// startChild makes this test binary claim 4242, and returns when it owns it; the address of
// one that will wait begins with "waiting".
func startChild(t *testing.T, url string) (*exec.Cmd, error) {
	t.Helper()
	url, waits := strings.CutPrefix(url, "waiting ")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+url)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe() // whose end would end it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil || waits {
		return child, err
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	return child, err
}

func TestCutLinkEndsTheLeaseBeforeTheServerGivesItAway(t *testing.T) {
	t.Parallel()
	for what, ttl := range map[string]time.Duration{
		"keepalives of 2 s": 2 * time.Second, "of 3 s": 3 * time.Second, "rounded up": 1500 * time.Millisecond,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			n := localserver.NamespaceForTest(t)
			p := server(t, localserver.PostgresOptions{Listen: []string{n.Host()}})
			url := strings.Replace(p.URL(), "127.0.0.1", n.Host(), 1)
			s, key := kept(t, closing(t, url, pgcoord.Options{Dial: n.Dial}), ttl), freshKey()
			look := sql(t, p.URL())
			l := lock(t, s, key)
			renewedOnce(t, l)
			if err := n.Cut(t.Context()); err != nil {
				t.Fatal(err)
			}
			cut := time.Now()
			cause := over(t, l)
			ended := time.Now()
			gone := freed(t, look, key)
			if !errors.Is(cause, coord.ErrExpired) {
				t.Errorf("the lease ended with %v, want ErrExpired", cause)
			}
			if gone.Before(ended) {
				t.Errorf("the server gave the lock away %v before our lease ended", ended.Sub(gone))
			}
			t.Logf("cut; our lease ended after %v, the server's hold after %v", ended.Sub(cut), gone.Sub(cut))
			if until := l.TrustedUntil(); gone.Before(until) {
				t.Errorf("the server gave the lock away %v before the end of trust", until.Sub(gone))
			}
			if err := n.Mend(t.Context()); err != nil {
				t.Fatal(err)
			}
			again := lock(t, s, key)
			if again.Check() != nil {
				t.Errorf("after the link was mended: %v", again.Check())
			}
		})
	}
}

func TestBlackHoleEndsTheLeaseAlthoughTheServerSuspectsNothing(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	proxy := localserver.ProxyForTest(t, p.Addr())
	url := strings.Replace(p.URL(), p.Addr(), proxy.Addr(), 1)
	s, key := kept(t, closing(t, url, pgcoord.Options{}), time.Second), freshKey()
	look := sql(t, p.URL())
	l := lock(t, s, key)
	proxy.BlackHole()
	if cause := over(t, l); !errors.Is(cause, coord.ErrExpired) {
		t.Errorf("the lease ended with %v, want ErrExpired", cause)
	}
	if one[int](t, look, heldQuery, key) != 1 {
		t.Error("the server gave the lock away although nobody told it anything")
	}
	proxy.Resume()
	freed(t, look, key) // the driver closed the connection when the window ended
	proxy.Cut()
	if _, ok, err := s.Mutex(key, coord.MutexOptions{}).TryLock(t.Context()); ok || err == nil {
		t.Errorf("while nobody can be reached: ok %v, %v", ok, err)
	}
	proxy.Resume()
	lock(t, s, key)
}

func TestLinkThatIsResetEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	proxy := localserver.ProxyForTest(t, p.Addr())
	url := strings.Replace(p.URL(), p.Addr(), proxy.Addr(), 1)
	s, key := kept(t, closing(t, url, pgcoord.Options{}), 0), freshKey()
	l := lock(t, s, key)
	proxy.Reset()
	if cause := over(t, l); !errors.Is(cause, coord.ErrLost) {
		t.Errorf("the lease ended with %v, want ErrLost", cause)
	}
	if left := time.Until(l.TrustedUntil()); left < 5*time.Second {
		t.Errorf("%v of the window were left: it ran out rather than that the loss was seen", left)
	}
	lock(t, s, key)
}

func TestLateAnswerToARenewalProlongsFromItsQuestion(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	proxy := localserver.ProxyForTest(t, p.Addr())
	url := strings.Replace(p.URL(), p.Addr(), proxy.Addr(), 1)
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: freshKey()})
	proxy.BlackHole()
	asking := time.Now()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := g.(coord.Renewer).Renew(short); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, coord.ErrLost) {
		t.Fatalf("renewing into a black hole: %v, want the context's error and no verdict", err)
	}
	asked := time.Now()
	proxy.Resume()
	w, err := g.(coord.Renewer).Renew(t.Context())
	if err != nil || w.Asked.Before(asking) || w.Asked.After(asked) {
		t.Errorf("the answer to the first question counts from %v (%v), want between %v and %v", w.Asked, err, asking, asked)
	}
	if g.Err() != nil {
		t.Errorf("the grant ended: %v", g.Err())
	}
}
