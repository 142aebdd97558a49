package dflockwire_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"coordtop/coord/dflockwire"
	"coordtop/internal/emulator/dflocktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o dflocktest.Options) *dflocktest.Server {
	t.Helper()
	s, err := dflocktest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func dialer(s *dflocktest.Server) dflockwire.Dialer {
	return dflockwire.Dialer{Addr: s.Addr(), Dial: s.Dial}
}

func connect(t *testing.T, d dflockwire.Dialer) *dflockwire.Conn {
	t.Helper()
	c, err := d.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// bubble runs a test with a connection to an in-memory server, in virtual time.
func bubble(t *testing.T, o dflocktest.Options, test func(*testing.T, *dflocktest.Server, *dflockwire.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.InMemory = true
		s := start(t, o)
		test(t, s, connect(t, dialer(s)))
	})
}

func nobody(*dflockwire.Entry) {}

func lock(name string) dflockwire.Key { return dflockwire.Key{Name: name} }

func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func TestGrantIsRenewedAndReleased(t *testing.T) {
	t.Parallel()
	for _, k := range []dflockwire.Key{lock("k"), {Name: "p", Semaphore: true, Limit: 2}} {
		bubble(t, dflocktest.Options{Newer: dflocktest.Newer{Namespaces: true}}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
			g, ok, err := c.Acquire(t.Context(), k, 0, 1500*time.Millisecond)
			if err != nil || !ok || len(g.Nonce) != 32 || g.Lease != 2*time.Second || g.Asked.IsZero() {
				t.Fatalf("got %+v, %t, %v", g, ok, err)
			}
			if g, err = c.Renew(t.Context(), k, g.Nonce, 9*time.Second); err != nil || g.Lease != 9*time.Second {
				t.Errorf("renewing: %+v, %v", g, err)
			}
			is(t, "releasing", c.Release(t.Context(), k, g.Nonce), nil)
			is(t, "releasing twice", c.Release(t.Context(), k, g.Nonce), nil)
			_, err = c.Renew(t.Context(), k, g.Nonce, time.Second)
			is(t, "renewing what was released", err, dflockwire.ErrRejected)
			if g, _, err = c.Acquire(t.Context(), k, 0, 0); err != nil || g.Lease != 33*time.Second {
				t.Errorf("with the server's own lease: %+v, %v", g, err)
			}
		})
	}
}

func TestClaimWaitsInTheQueue(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
		if _, err := s.Own("k", 1, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, ok, err := c.Acquire(t.Context(), lock("k"), 500*time.Millisecond, 0); ok || err != nil || time.Since(begin) != time.Second {
			t.Errorf("a wait that runs out: %t, %v after %v", ok, err, time.Since(begin))
		}
		if _, ok, err := c.Enqueue(t.Context(), lock("k"), 9*time.Second); ok || err != nil {
			t.Fatalf("enqueueing: %t, %v", ok, err)
		}
		_, _, err := c.Enqueue(t.Context(), lock("k"), 9*time.Second)
		is(t, "enqueueing twice", err, dflockwire.ErrAlreadyEnqueued)
		if g, ok, err := c.Wait(t.Context(), lock("k"), 30*time.Second); !ok || err != nil || g.Lease != 9*time.Second {
			t.Errorf("waiting: %+v, %t, %v", g, ok, err)
		}
		_, _, err = c.Wait(t.Context(), lock("k"), 0)
		is(t, "waiting without a place", err, dflockwire.ErrNotEnqueued)
	})
}

func TestRefusalsAreTyped(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]error{
		"error": dflockwire.ErrRejected, "error_max_locks": dflockwire.ErrMaxLocks, "error_max_waiters": dflockwire.ErrMaxWaiters,
		"error_limit_mismatch": dflockwire.ErrLimitMismatch, "error_already_enqueued": dflockwire.ErrAlreadyEnqueued,
		"error_not_enqueued": dflockwire.ErrNotEnqueued, "error_lease_expired": dflockwire.ErrLeaseExpired,
		"error_draining": dflockwire.ErrDraining, "error_auth": dflockwire.ErrAuth,
		"error_not_leader": dflockwire.Refusal("error_not_leader"), "error_" + strings.Repeat("x", 50): dflockwire.ErrProtocol, "errors": dflockwire.ErrProtocol,
		"": dflockwire.ErrProtocol, "HTTP/1.1 400 Bad Request": dflockwire.ErrProtocol, "ok": dflockwire.ErrProtocol,
		"ok x": dflockwire.ErrProtocol, "ok x 0": dflockwire.ErrProtocol, "ok x -1": dflockwire.ErrProtocol, "ok x 99999999999": dflockwire.ErrProtocol,
		strings.Repeat("x", 5000): dflockwire.ErrProtocol,
	} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
			s.Answer("", word+" ", 1)
			_, _, err := c.Acquire(t.Context(), lock("k"), 0, 0)
			is(t, word, err, want)
			if strings.Contains(fmt.Sprint(err), "HTTP") {
				t.Errorf("%v repeats what was answered", err)
			}
		})
	}
}

func TestMoreFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
		s.Answer("l", "ok 0123456789abcdef0123456789abcdef 30 17", 1)
		if g, ok, err := c.Acquire(t.Context(), lock("k"), 0, 0); !ok || err != nil || g.Lease != 30*time.Second {
			t.Errorf("got %+v, %t, %v", g, ok, err)
		}
	})
}

func TestKeysThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, k := range []dflockwire.Key{lock(""), lock("a b"), lock("a\nb"), lock("a\x00"), lock(strings.Repeat("k", 257)), {Name: "p", Semaphore: true}} {
		is(t, fmt.Sprintf("%q", k.Name), k.Check(), dflockwire.ErrInvalid)
	}
	is(t, "256 bytes", lock(strings.Repeat("k", 256)).Check(), nil)
}

// TestShardIsThatOfTheOtherClients has the values that the clients in Go, Python and
// TypeScript share.
func TestShardIsThatOfTheOtherClients(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][3]int{
		"my-key": {1, 2, 2}, "my-resource": {0, 0, 3}, "leader": {1, 0, 1}, "worker-pool": {0, 2, 3},
		"a/b/c": {1, 1, 0}, "ключ": {0, 0, 3}, "": {0, 0, 0},
	} {
		if got := [3]int{dflockwire.Shard(key, 2), dflockwire.Shard(key, 3), dflockwire.Shard(key, 5)}; got != want {
			t.Errorf("%q: of 2, 3 and 5 servers: %v, want %v", key, got, want)
		}
	}
	if dflockwire.Shard("my-key", 0) != 0 || dflockwire.Shard("my-key", 1) != 0 {
		t.Error("with one server every key is there")
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := start(t, dflocktest.Options{InMemory: true, Secret: "s3cret"})
		d := dialer(s)
		d.Secret = "s3cret"
		if _, err := connect(t, d).Stats(t.Context(), nobody); err != nil {
			t.Error(err)
		}
		d.Secret = "wr0ng"
		_, err := d.Connect(t.Context())
		is(t, "a wrong token", err, dflockwire.ErrAuth)
		if strings.Contains(fmt.Sprint(err), "wr0ng") {
			t.Errorf("%v holds the secret", err)
		}
		d.Secret = "a\nb"
		_, err = d.Connect(t.Context())
		is(t, "a token with a line break", err, dflockwire.ErrInvalid)
		d.Secret = ""
		_, err = connect(t, d).Stats(t.Context(), nobody)
		is(t, "no token", err, dflockwire.ErrAuth)
	})
}

func TestTokenWhereNoneIsWantedIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := dialer(start(t, dflocktest.Options{InMemory: true}))
		d.Secret = "s3cret"
		_, err := d.Connect(t.Context())
		is(t, "a token too many", err, dflockwire.ErrAuth)
	})
}

func TestEncryptedConnection(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(nil) // its certificate is for 127.0.0.1
	t.Cleanup(authority.Close)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	s := start(t, dflocktest.Options{TLS: &tls.Config{Certificates: authority.TLS.Certificates}})
	d := dflockwire.Dialer{Addr: s.Addr(), TLS: &tls.Config{RootCAs: roots}, ConnectTimeout: time.Minute, AnswerTimeout: time.Minute}
	if _, err := connect(t, d).Stats(t.Context(), nobody); err != nil {
		t.Error(err)
	}
	d.TLS = &tls.Config{}
	_, err := d.Connect(t.Context())
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
		t.Errorf("an unknown authority: %v", err)
	}
	d.TLS = nil
	_, err = connect(t, d).Stats(t.Context(), nobody)
	is(t, "plain text", err, dflockwire.ErrHungUp)
}

func TestSilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
		s.Hang(true)
		begin := time.Now()
		_, err := c.Stats(t.Context(), nobody)
		is(t, "without an answer", err, dflockwire.ErrSilent)
		if errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 5*time.Second {
			t.Errorf("%v after %v: it was not the caller's deadline", err, time.Since(begin))
		}
		<-c.Done()
		_, err = c.Stats(t.Context(), nobody)
		is(t, "on a connection that ended", err, dflockwire.ErrSilent)
	})
}

func TestRequestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
		if _, err := s.Own("k", 1, time.Hour); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := c.Acquire(ctx, lock("k"), time.Minute, 0)
		is(t, "a wait that was cut", err, context.DeadlineExceeded)
		<-c.Done()
	})
}

func TestServerThatHangsUpIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{ReadTimeout: 2 * time.Second}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
		if _, err := c.Stats(t.Context(), nobody); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		<-c.Done()
		is(t, "idle for too long", c.Err(), dflockwire.ErrHungUp)
		if time.Since(begin) != 2*time.Second {
			t.Errorf("noticed after %v", time.Since(begin))
		}
	})
}

func TestAnswerToNothingEndsTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := connect(t, dflockwire.Dialer{Addr: "x:1", Dial: func(context.Context, string, string) (net.Conn, error) { return ours, nil }})
		if _, err := theirs.Write([]byte("220 mail.example ESMTP\n")); err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		is(t, "a server that speaks first", c.Err(), dflockwire.ErrProtocol)
		_ = theirs.Close()
	})
}

func TestPingSaysWhetherItIsKnown(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		bubble(t, dflocktest.Options{Newer: dflocktest.Newer{Ping: known}}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
			if got, err := c.Ping(t.Context()); got != known || err != nil {
				t.Errorf("known: %t, %v, want %t", got, err, known)
			}
		})
	}
}
