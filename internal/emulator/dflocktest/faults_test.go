package dflocktest_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

func TestHangHoldsBackAndDelivers(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		nonce := c.acquire("k", "5")
		s.Hang(true)
		c.send("n\nk\n" + nonce + " 30\n")
		time.Sleep(2 * time.Second)
		if e, err := s.Entry("k"); err != nil || e.Owners[0].Left != 3*time.Second {
			t.Errorf("a renewal arrived: %+v, %v", e, err)
		}
		s.Hang(false)
		if got := c.read(); got != "ok 30" {
			t.Errorf("after the hang: %q", got)
		}
	})
}

// TestIdleConnectionIsReleasedDuringAHang is why a lease must end before that.
func TestIdleConnectionIsReleasedDuringAHang(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		c.acquire("k", "60")
		s.Hang(true)
		c.send("stats\n_\n\n")
		time.Sleep(23 * time.Second)
		synctest.Wait()
		if e, err := s.Entry("k"); err != nil || len(e.Owners) != 0 {
			t.Errorf("it is still owned: %+v, %v", e, err)
		}
		s.Hang(false)
		if got := c.read(); got != "error" {
			t.Errorf("after the hang: %q", got)
		}
	})
}

func TestCutReleasesWhatWasOwned(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		c.acquire("k", "60")
		s.Cut()
		if got := c.read(); got != "closed" {
			t.Errorf("after the cut: %q", got)
		}
		synctest.Wait()
		dial(t, s).acquire("k", "60")
	})
}

func TestRefusedConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		s.Refuse(true)
		if got := dial(t, s).ask("stats", "_", ""); got != "closed" {
			t.Errorf("got %q", got)
		}
		s.Refuse(false)
		dial(t, s).acquire("k", "60")
	})
}

func TestSlowRepliesComeLate(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		s.Slow(time.Second)
		begin := time.Now()
		c.acquire("k", "60")
		since(t, begin, time.Second)
	})
}

func TestLostReplyWasExecuted(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{KeepOnDisconnect: true}, func(t *testing.T, s *dflocktest.Server) {
		s.LoseReplies("l", 1)
		if got := dial(t, s).ask("l", "k", "0 60"); got != "closed" {
			t.Errorf("got %q", got)
		}
		if e, err := s.Entry("k"); err != nil || len(e.Owners) != 1 {
			t.Errorf("it was not executed: %+v, %v", e, err)
		}
		if s.Received("l") != 1 {
			t.Errorf("%d requests were counted", s.Received("l"))
		}
	})
}

func TestScriptedAnswerIsGivenOnce(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		s.Answer("l", "error_max_locks", 1)
		c := dial(t, s)
		c.want("error_max_locks", "l", "k", "0 60")
		c.acquire("k", "60")
	})
}

func TestRestartLosesAllState(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		a, b := dial(t, s), dial(t, s)
		a.acquire("k", "60")
		b.send("l\nk\n20 30\n")
		synctest.Wait()
		s.Restart()
		if got := a.read() + b.read(); got != "closedclosed" {
			t.Errorf("got %q", got)
		}
		dial(t, s).acquire("k", "60")
		if st := s.State(); len(st.Entries) != 1 || len(st.Connections) != 1 || st.Connections[0] != 1 {
			t.Errorf("state is %+v", st)
		}
	})
}

func TestBackDoorTakesAndServes(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		if err := s.Take("k"); !errors.Is(err, dflocktest.ErrNotFound) {
			t.Errorf("taking what is not there: %v", err)
		}
		if _, err := s.Own("k", 1, time.Hour); err != nil {
			t.Fatal(err)
		}
		c := dial(t, s)
		c.send("l\nk\n20 30\n")
		err := s.Await(t.Context(), func() bool { e, err := s.Entry("k"); return err == nil && len(e.Waiters) == 1 })
		if err == nil {
			err = s.Take("k")
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := c.read(); !strings.HasPrefix(got, "ok ") {
			t.Errorf("the waiter got %q", got)
		}
	})
}

func TestServerOnASocket(t *testing.T) {
	t.Parallel()
	s := start(t, dflocktest.Options{})
	c := dial(t, s)
	nonce := c.acquire("k", "5")
	c.want("ok", "r", "k", nonce)
}

func TestTLSOnASocket(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(nil) // its certificate is for 127.0.0.1
	t.Cleanup(authority.Close)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	s := start(t, dflocktest.Options{TLS: &tls.Config{Certificates: authority.TLS.Certificates}, Secret: "s3cret"})
	stream, err := tls.Dial("tcp", s.Addr(), &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	c := &raw{stream, t, bufio.NewReader(stream)}
	c.want("ok", "auth", "_", "s3cret")
	c.acquire("k", "5")
}

// TestEndingsAreRecordedOnceAskedFor: else the server of a demonstration would keep them for ever.
func TestEndingsAreRecordedOnceAskedFor(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		end := func(key string) {
			_, err := s.Own(key, 1, time.Hour)
			if err = errors.Join(err, s.Take(key)); err != nil {
				t.Fatal(err)
			}
		}
		end("before")
		ended := s.Endings()
		end("a")
		later := s.Endings()
		end("b")
		if got := strings.Join(ended(), " ") + ", " + strings.Join(later(), " "); got != "a b, b" {
			t.Errorf("recorded: %s", got)
		}
	})
}
