package dflocktest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

const lease = 30 * time.Second

func TestLineOf256BytesIsRead(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		c.acquire(strings.Repeat("k", 256), "5")
		c.want("error", "l", strings.Repeat("k", 257), "0 5")
		if got := c.read(); got != "closed" {
			t.Errorf("after a line that is too long: %q", got)
		}
	})
}

func TestKeyMayHoldAnythingButBlanks(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		c.acquire("ключ\u00a0\x00\xff", "5")
		c.want("error", "l", "a\tb", "0 5")
		c.want("error", "l", "", "0 5")
	})
}

func TestWaitingConnectionIsNotIdle(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		if _, err := s.Own("k", 1, time.Hour); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		dial(t, s).want("timeout", "l", "k", "27 30")
		since(t, begin, 27*time.Second)
	})
}

func TestLineKeepsAConnectionAlive(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		begin := time.Now()
		time.Sleep(20 * time.Second)
		c.send("l\n")
		time.Sleep(20 * time.Second)
		c.send("k\n")
		if got := c.read(); got != "error" {
			t.Errorf("a connection that fell silent: %q", got)
		}
		since(t, begin, 63*time.Second)
	})
}

func TestTwoPhaseWaiterIsGrantedWhileItDoesNotWait(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		a, b := dial(t, s), dial(t, s)
		nonce := a.acquire("k", "30")
		b.want("queued", "e", "k", "10")
		a.want("ok", "r", "k", nonce)
		e, err := s.Entry("k")
		if err != nil || len(e.Owners) != 1 || e.Owners[0].Conn != 2 || e.Owners[0].Left != 10*time.Second {
			t.Fatalf("got %+v and %v", e, err)
		}
		time.Sleep(5 * time.Second)
		b.want("ok "+e.Owners[0].Nonce+" 10", "w", "k", "0")
		if e, err = s.Entry("k"); err != nil || e.Owners[0].Left != 10*time.Second {
			t.Errorf("w did not start the lease anew: %+v and %v", e, err)
		}
	})
}

func TestWaitForASweptLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		newer dflocktest.Newer
		want  string
	}{{dflocktest.Newer{}, "ok"}, {dflocktest.Newer{ChecksWait: true}, "error_not_enqueued"}} {
		bubble(t, dflocktest.Options{Newer: c.newer}, func(t *testing.T, s *dflocktest.Server) {
			a := dial(t, s)
			nonce := strings.Fields(a.ask("e", "k", "1"))[1]
			time.Sleep(3 * time.Second)
			if got := strings.Fields(a.ask("w", "k", "0"))[0]; got != c.want {
				t.Errorf("%+v: got %q, want %q", c.newer, got, c.want)
			}
			a.want("error", "n", "k", nonce+" 5")
		})
	}
}

func TestWaitForALeaseThatEndedAndWasNotSwept(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{SweepEvery: time.Minute}, func(t *testing.T, s *dflocktest.Server) {
		a := dial(t, s)
		a.ask("e", "k", "1")
		time.Sleep(3 * time.Second)
		a.want("error_lease_expired", "w", "k", "0")
	})
}

// TestDeadWaiterStaysInTheQueue is of a client that hangs up while it waits.
func TestDeadWaiterStaysInTheQueue(t *testing.T) {
	t.Parallel()
	for _, newer := range []bool{false, true} {
		bubble(t, dflocktest.Options{Newer: dflocktest.Newer{NoticesHangUps: newer}}, func(t *testing.T, s *dflocktest.Server) {
			a, b, c := dial(t, s), dial(t, s), dial(t, s)
			nonce := a.acquire("k", "30")
			b.send("l\nk\n20 30\n")
			synctest.Wait()
			c.send("l\nk\n20 30\n")
			synctest.Wait()
			_ = b.Close()
			synctest.Wait()
			e, err := s.Entry("k")
			want := []uint64{2, 3}
			if newer {
				want = want[1:]
			}
			if err != nil || !slices.Equal(e.Waiters, want) {
				t.Fatalf("newer %t: waiters %v, want %v (%v)", newer, e.Waiters, want, err)
			}
			a.want("ok", "r", "k", nonce)
			if got := c.read(); !strings.HasPrefix(got, "ok ") {
				t.Errorf("newer %t: the next in the queue got %q", newer, got)
			}
		})
	}
}

func TestKeptDeadWaiterIsGranted(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{KeepOnDisconnect: true}, func(t *testing.T, s *dflocktest.Server) {
		a, b := dial(t, s), dial(t, s)
		nonce := a.acquire("k", "30")
		b.want("queued", "e", "k", "30")
		_ = b.Close()
		synctest.Wait()
		a.want("ok", "r", "k", nonce)
		if e, err := s.Entry("k"); err != nil || len(e.Owners) != 1 || e.Owners[0].Conn != 2 {
			t.Errorf("got %+v and %v, want connection 2 to own it", e, err)
		}
	})
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{MaxConnections: 1}, func(t *testing.T, s *dflocktest.Server) {
		a, b := dial(t, s), dial(t, s)
		a.acquire("k", "5")
		if got := b.ask("stats", "_", ""); got != "closed" {
			t.Errorf("one connection too many got %q", got)
		}
		_ = a.Close()
		synctest.Wait()
		dial(t, s).acquire("k", "5")
	})
}

func TestNamespacesOfNewerServers(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{Newer: dflocktest.Since1_16()}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		c.want("ok", "ping", "_", "")
		lock := c.acquire("k", "5")
		pool := strings.Fields(c.ask("sl", "k", "0 1 5"))[1]
		c.want("error", "r", "k", pool)
		c.want("ok", "sr", "k", pool)
		c.want("ok", "r", "k", lock)
		var st map[string]json.RawMessage
		if err := json.Unmarshal([]byte(strings.TrimPrefix(c.ask("stats", "_", ""), "ok ")), &st); err != nil {
			t.Fatal(err)
		}
		if string(st["signal_channels"]) != "[]" || !strings.Contains(string(st["idle_semaphores"]), `"k"`) {
			t.Errorf("stats are %s", st)
		}
	})
}

func TestOldServerKnowsNoPing(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		c.want("error", "ping", "_", "")
		c.acquire("k", "5")
	})
}

func TestFencesGrow(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{Newer: dflocktest.Since2_1()}, func(t *testing.T, s *dflocktest.Server) {
		c := dial(t, s)
		last := ""
		for range 5 {
			nonce := c.acquire("k", "5")
			if len(nonce) != 32 || nonce <= last {
				t.Fatalf("nonce %q follows %q", nonce, last)
			}
			last = nonce
			c.want("ok", "r", "k", nonce)
		}
	})
}

func TestShutdownOfANewerServer(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{Newer: dflocktest.Since2_1()}, func(t *testing.T, s *dflocktest.Server) {
		a, b := dial(t, s), dial(t, s)
		nonce := a.acquire("k", "30")
		b.send("l\nk\n20 30\n")
		synctest.Wait()
		s.Shutdown()
		if got := b.read(); got != "error_draining" {
			t.Errorf("a waiter got %q", got)
		}
		b.want("error_draining", "l", "free", "0 30")
		a.want("ok 30", "n", "k", nonce+" 30")
		if got := dial(t, s).ask("stats", "_", ""); got != "closed" {
			t.Errorf("a new connection got %q", got)
		}
	})
}

func TestStatsOfManyEntriesComeInAnyOrder(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		for i := range 50 {
			if _, err := s.Own(strings.Repeat("k", i+1), 1, lease); err != nil {
				t.Fatal(err)
			}
		}
		c := dial(t, s)
		first, other := c.ask("stats", "_", ""), false
		for range 20 {
			other = other || c.ask("stats", "_", "") != first
		}
		if !other {
			t.Error("stats always comes in the same order")
		}
	})
}

func TestLongSecretsOfNewerServers(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("s", 300)
	for want, newer := range map[string]dflocktest.Newer{"error_auth": {}, "ok": {LongSecrets: true}} {
		bubble(t, dflocktest.Options{Secret: secret, Newer: newer}, func(t *testing.T, s *dflocktest.Server) {
			dial(t, s).want(want, "auth", "_", secret)
		})
	}
}

func TestGuardCallsEveryGoroutine(t *testing.T) {
	t.Parallel()
	var called, ended atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		s := start(t, dflocktest.Options{InMemory: true, Newer: dflocktest.Since2_1(), Guard: func(body func()) {
			called.Add(1)
			defer ended.Add(1)
			body()
		}})
		dial(t, s).acquire("k", "5")
		dial(t, s).send("l\nk\n20 30\n") // the server watches this one
		synctest.Wait()
		if got := called.Load(); got != 5 { // the listener, the clock, two connections, and who watches
			t.Errorf("%d goroutines are guarded", got)
		}
	})
	if called.Load() != ended.Load() {
		t.Errorf("%d began, %d ended", called.Load(), ended.Load())
	}
}
