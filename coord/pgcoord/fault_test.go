package pgcoord_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
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
	noError(t, err)
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
	noError(t, err)
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
	url := shared(t)
	s, key := kept(t, closing(t, url, pgcoord.Options{}), 0), freshKey() // a window of 11 s
	l := lock(t, s, key)
	rival := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	outcome := wait(t, rival, sql(t, url), coord.Claim{Kind: coord.KindMutex, Name: key})
	start := time.Now()
	pid, _, _ := strings.Cut(l.Owner(), "@")
	one[bool](t, sql(t, url), "select pg_terminate_backend($1)", pid)
	cause := over(t, l)
	t.Logf("seen %v after it was asked for", time.Since(start))
	if !errors.Is(cause, coord.ErrLost) || !strings.Contains(cause.Error(), "57P01") {
		t.Errorf("the lease ended with %v, want ErrLost, as it was seen and did not run out, and what the server said", cause)
	}
	if w := receive(t, "the next in the queue", outcome); !w.ok || w.err != nil {
		t.Errorf("the next in the queue: ok %v, %v", w.ok, w.err)
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
		noError(t, p.Restart(t.Context()))
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

func TestKilledOwnerIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	dsn, key := shared(t), freshKey()
	child := startChild(t, dsn, key)
	child.awaitOwner(t)
	s := open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{})
	d, err := s.(coord.Describer).Describe(t.Context(), coord.KindMutex, key)
	if err != nil || len(d.Owners) != 1 {
		t.Fatalf("described as %+v, %v, want the child as its owner", d, err)
	}
	outcome := wait(t, s, sql(t, dsn), coord.Claim{Kind: coord.KindMutex, Name: key})
	start := time.Now()
	child.kill(t)
	w := receive(t, "the next owner", outcome)
	t.Logf("taken over %v after the kill", time.Since(start))
	if w.err != nil || !w.ok {
		t.Fatalf("taking over: ok %v, %v", w.ok, w.err)
	}
	d, err = s.(coord.Describer).Describe(t.Context(), coord.KindMutex, key)
	if err != nil || len(d.Owners) != 1 || d.Owners[0].ID != w.grant.Info().Owner {
		t.Errorf("described as %+v, %v, want us as its owner", d, err)
	}
}

func TestKilledWaiterLeavesTheQueue(t *testing.T) {
	t.Parallel()
	dsn, key := shared(t), freshKey()
	look := sql(t, dsn)
	g := must(t, open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
	child := startChild(t, dsn, key)
	eventually(t, "the child waits", func() bool { return rowsOf(t, look, key) == 2 })
	child.kill(t)
	eventually(t, "the queue is empty", func() bool { return rowsOf(t, look, key) == 1 })
	if g.Err() != nil {
		t.Errorf("the owner lost it: %v", g.Err())
	}
}

// child is this test binary as a claimant of one key.
type child struct {
	cmd *exec.Cmd
	in  io.Closer // its end would end the child
	out *bufio.Reader
}

func startChild(t testing.TB, dsn, key string) child {
	t.Helper()
	c := child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), childEnv+"="+dsn, childKey+"="+key)
	c.cmd.Stderr = os.Stderr
	in, err := c.cmd.StdinPipe()
	noError(t, err)
	out, err := c.cmd.StdoutPipe()
	noError(t, err)
	noError(t, c.cmd.Start())
	c.in, c.out = in, bufio.NewReader(out)
	t.Cleanup(func() { c.in.Close() })
	return c
}

func (c child) awaitOwner(t testing.TB) {
	t.Helper()
	if _, err := c.out.ReadString('\n'); err != nil {
		t.Fatalf("the child did not come to own it: %v", err)
	}
}

func (c child) kill(t testing.TB) {
	t.Helper()
	noError(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait() // it was killed, so this is an error by design
}

func TestCutLinkEndsTheLeaseBeforeTheServerGivesItAway(t *testing.T) {
	t.Parallel()
	ttls := []time.Duration{2 * time.Second, 3 * time.Second, 1500 * time.Millisecond} // the last is rounded up by the server
	var connections []*localserver.Namespace
	var hosts []string
	for range ttls {
		n := localserver.NamespaceForTest(t)
		connections, hosts = append(connections, n), append(hosts, n.Host())
	}
	p := server(t, localserver.PostgresOptions{Listen: hosts})
	for i, ttl := range ttls {
		t.Run(ttl.String(), func(t *testing.T) {
			t.Parallel()
			cutWhileOwning(t, p, connections[i], ttl)
		})
	}
}

func cutWhileOwning(t *testing.T, p *localserver.Postgres, n *localserver.Namespace, ttl time.Duration) {
	dsn := strings.Replace(p.URL(), "127.0.0.1", n.Host(), 1)
	s, key := kept(t, closing(t, dsn, pgcoord.Options{Dial: n.Dial}), ttl), freshKey()
	look := sql(t, p.URL())
	l := lock(t, s, key)
	renewedOnce(t, l)
	noError(t, n.Cut(t.Context()))
	cut := time.Now()
	cause := over(t, l)
	ended := time.Now()
	gone := freed(t, look, key)
	t.Logf("our lease ended %v after the cut, the server's hold after %v", ended.Sub(cut), gone.Sub(cut))
	if !errors.Is(cause, coord.ErrExpired) {
		t.Errorf("the lease ended with %v, want ErrExpired", cause)
	}
	if gone.Before(ended) || gone.Before(l.TrustedUntil()) {
		t.Errorf("the server gave the lock away at %v, our lease ended at %v, its trust at %v", gone, ended, l.TrustedUntil())
	}
	noError(t, n.Mend(t.Context()))
	if again := lock(t, s, key); again.Check() != nil {
		t.Errorf("after the link was mended: %v", again.Check())
	}
}

func TestLinkThatIsResetEndsTheLeaseAtOnce(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	s, key := kept(t, closing(t, url, pgcoord.Options{}), 0), freshKey()
	l := lock(t, s, key)
	proxy.Reset()
	if cause := over(t, l); !errors.Is(cause, coord.ErrLost) {
		t.Errorf("the lease ended with %v, want ErrLost", cause)
	}
	lock(t, s, key)
}

// told is a connection that tells of each write.
type told struct {
	net.Conn
	writes chan<- struct{}
}

func (c told) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	select {
	case c.writes <- struct{}{}:
	default:
	}
	return n, err
}

func TestLateAnswerToARenewalProlongsFromItsQuestion(t *testing.T) {
	t.Parallel()
	url, proxy := proxied(t)
	writes := make(chan struct{}, 1)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return told{conn, writes}, err
	}
	s := open(t, closing(t, url, pgcoord.Options{Dial: dial}), coord.SessionOptions{})
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: freshKey()})
	pgcoord.AskOn(t, g, "select 1") // so that nothing else is on its way
	<-writes                        // that of the connection's beginning, or a later one
	proxy.BlackHole()
	asking, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := g.(coord.Renewer).Renew(asking)
		failed <- err
	}()
	receive(t, "the question to be sent", writes)
	asked := time.Now()
	cancel()
	if err := receive(t, "the end of the renewal", failed); !errors.Is(err, context.Canceled) || errors.Is(err, coord.ErrLost) {
		t.Fatalf("renewing into a black hole: %v, want the context's error and no verdict", err)
	}
	proxy.Resume()
	w, err := g.(coord.Renewer).Renew(t.Context())
	if err != nil || !w.Asked.Before(asked) {
		t.Errorf("the answer counts from %v (%v), want from the first question, before %v", w.Asked, err, asked)
	}
	if g.Err() != nil {
		t.Errorf("the grant ended: %v", g.Err())
	}
}
