package dflockwire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/dflockwire"
	"coordtop/internal/emulator/dflocktest"
)

func TestStatsListsEverything(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{Newer: dflocktest.Newer{SignalChannels: true}}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
		pool := dflockwire.Key{Name: "pool", Semaphore: true, Limit: 2}
		for _, k := range []dflockwire.Key{lock("held"), pool} {
			if _, ok, err := c.Acquire(t.Context(), k, 0, 30*time.Second); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if g, _, err := c.Acquire(t.Context(), lock("idle"), 0, 0); err != nil || c.Release(t.Context(), lock("idle"), g.Nonce) != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		got, err := c.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		want := dflockwire.Stats{
			Asked: now, Answered: now, Connections: 1, Signals: []byte("[]"),
			Locks:      []dflockwire.Lock{{Key: "held", Owner: 1, LeftSeconds: 20}},
			Semaphores: []dflockwire.Semaphore{{Key: "pool", Limit: 2, Owners: 1}}, IdleSemaphores: []dflockwire.Idle{},
			IdleLocks: []dflockwire.Idle{{Key: "idle", Seconds: 10}},
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

func TestStatsOfSeveralMegabytesAreRead(t *testing.T) {
	t.Parallel()
	s := start(t, dflocktest.Options{MaxLocks: 50_000})
	for i := range 40_000 {
		if _, err := s.Own(fmt.Sprintf("a/key/that/is/rather/long/%d", i), 1, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	d := dialer(s)
	d.AnswerTimeout = time.Minute // a loaded machine under -race
	got, err := connect(t, d).Stats(t.Context())
	if err != nil || len(got.Locks) != 40_000 {
		t.Errorf("%d locks, %v", len(got.Locks), err)
	}
}

func TestStatsOfOtherServers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]error{
		`ok {"connections":1,"locks":null,"semaphores":null,"cluster":{"role":"leader"},"kv_entries":[]}`:                        nil,
		`ok {"connections":1,"locks":[{"key":"k","owner_conn_id":18446744073709551615,"lease_expires_in_s":1e300,"waiters":0}]}`: nil,
		"error":                            dflockwire.ErrRejected,
		"error_auth":                       dflockwire.ErrAuth,
		"ok":                               dflockwire.ErrProtocol,
		"ok {}":                            dflockwire.ErrProtocol,
		`ok {"connections":-1,"locks":[]}`: dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"waiters":-1}]}`:                        dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"owner_conn_id":-1}]}`:                  dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[],"semaphores":[{"key":"p","limit":0}]}`: dflockwire.ErrProtocol,
		`+OK {"connections":1,"locks":[]}`:                                     dflockwire.ErrProtocol,
	} {
		bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server, c *dflockwire.Conn) {
			s.Answer("stats", answer, 1)
			got, err := c.Stats(t.Context())
			is(t, answer, err, want)
			for _, l := range got.Locks {
				if l.Left() <= 0 {
					t.Errorf("%s: left %v", answer, l.Left())
				}
			}
		})
	}
}

func BenchmarkStatsOf10000Keys(b *testing.B) {
	var list []string
	for i := range 10_000 {
		list = append(list, fmt.Sprintf(`{"key":"some/key/%d","owner_conn_id":%d,"lease_expires_in_s":29.798158245,"waiters":1}`, i, i))
	}
	line := `{"connections":4,"locks":[` + strings.Join(list, ",") + `],"semaphores":[]}`
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := dflockwire.ParseStats([]byte(line)); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzStats gives the parser whatever a server may list.
func FuzzStats(f *testing.F) {
	f.Add([]byte(`{"connections":4,"locks":[{"key":"a","owner_conn_id":4,"lease_expires_in_s":29.7,"waiters":1}],"semaphores":[{"key":"p","limit":2,"holders":2,"waiters":0}],"idle_locks":[{"key":"j","idle_s":4.1}],"idle_semaphores":[]}`))
	f.Add([]byte(`{"locks":null,"signal_channels":null,"x":1e999}`))
	f.Add([]byte(`{"locks":[{"lease_expires_in_s":-1e308,"waiters":-5}]}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		s, err := dflockwire.ParseStats(object)
		if err != nil {
			is(t, "refused", err, dflockwire.ErrProtocol)
		}
		for _, l := range s.Locks {
			if l.Left() < 0 || l.Waiters < 0 {
				t.Errorf("lock %+v", l)
			}
		}
		for _, p := range s.Semaphores {
			if p.Limit < 1 || p.Owners < 0 || p.Waiters < 0 {
				t.Errorf("semaphore %+v", p)
			}
		}
	})
}
