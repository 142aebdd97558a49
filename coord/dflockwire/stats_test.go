package dflockwire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"coordtop/coord/dflockwire"
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
		var list []string
		got, err := c.Stats(t.Context(), func(e *dflockwire.Entry) { list = append(list, text(e)) })
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		want := dflockwire.Stats{Asked: now, Answered: now, Connections: 1, Signals: true}
		if got != want {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		slices.Sort(list)
		if want := []string{
			"held false false 1 1 0 1 20s 0s", "idle false true 1 0 0 0 0s 10s", "pool true false 2 1 0 0 0s 0s",
		}; !slices.Equal(list, want) {
			t.Errorf("got  %v\nwant %v", list, want)
		}
	})
}

// text writes the fields of an Entry.
func text(e *dflockwire.Entry) string {
	return fmt.Sprintf("%s %t %t %d %d %d %d %v %v", e.Key, e.Semaphore, e.Idle, e.Limit, e.Taken, e.Waiters, e.Owner, e.Left, e.Unused)
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
	locks := 0
	if _, err := connect(t, d).Stats(t.Context(), func(*dflockwire.Entry) { locks++ }); err != nil || locks != 40_000 {
		t.Errorf("%d locks, %v", locks, err)
	}
}

func TestStatsOfOtherServers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]error{
		`ok {"connections":1,"locks":null,"semaphores":null,"cluster":{"role":"leader"},"kv_entries":[]}`:                        nil,
		`ok {"connections":1,"locks":[{"key":"k","owner_conn_id":18446744073709551615,"lease_expires_in_s":1e300,"waiters":0}]}`: nil,
		` ok {"locks" : [ {"x":{"y":[1,"]"]},"key":"k\u006b\"","owner_conn_id":null} , {"key":""} ], "connections":0 }`:          nil,
		`ok {"connections":1,"locks":[{"key":"a"},]}`:                                                                            dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"key":"a"}`:                                                                               dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[]} x`:                                                                                      dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":{}}`:                                                                                        dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"key":"\x"}]}`:                                                                            dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"key":1}]}`:                                                                               dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"key":"a","key":2}]}`:                                                                     dflockwire.ErrProtocol,
		`ok {"connections":1.5}`:                                                                                                 dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"waiters":1e3}]}`:                                                                         dflockwire.ErrProtocol,
		`ok {"connections":1,"locks":[{"waiters":1"key":""}]}`:                                                                   dflockwire.ErrProtocol,
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
			_, err := c.Stats(t.Context(), func(e *dflockwire.Entry) {
				if string(e.Key) == "k" && (e.Left <= 0 || e.Owner != 1<<64-1) {
					t.Errorf("%s: %s", answer, text(e))
				}
			})
			is(t, answer, err, want)
		})
	}
}

func BenchmarkStatsOf10000Keys(b *testing.B) {
	var list []string
	for i := range 10_000 {
		list = append(list, fmt.Sprintf(`{"key":"some/key/%d","owner_conn_id":%d,"lease_expires_in_s":29.798158245,"waiters":1}`, i, i))
	}
	line := `ok {"connections":4,"locks":[` + strings.Join(list, ",") + "],\"semaphores\":[]}\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dflockwire.ParseStats([]byte(line), nobody); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzStats gives the parser whatever a server may list. What it accepts encoding/json accepts, too,
// with the same keys.
func FuzzStats(f *testing.F) {
	f.Add([]byte(`{"connections":4,"locks":[{"key":"a","owner_conn_id":4,"lease_expires_in_s":29.7,"waiters":1}],"semaphores":[{"key":"p","limit":2,"holders":2,"waiters":0}],"idle_locks":[{"key":"j","idle_s":4.1}],"idle_semaphores":[]}`))
	f.Add([]byte(`{"connections":1,"locks":null,"signal_channels":null,"x":1e999}`))
	f.Add([]byte(`{"connections":1,"locks":[{"lease_expires_in_s":-1e308,"waiters":-5}]}`))
	f.Add([]byte(`{"connections":1,"locks":[{"key":"\u0000\ud800\\\"","fence":3,"other":[{"a":[]},"",true]}]}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		var keys []string
		_, err := dflockwire.ParseStats(fmt.Appendf(nil, "ok %s\n", object), func(e *dflockwire.Entry) {
			keys = append(keys, string(e.Key))
			if e.Left < 0 || e.Waiters < 0 || e.Taken < 0 || !e.Idle && e.Limit < 1 {
				t.Errorf("%+v", e)
			}
		})
		if err != nil {
			is(t, "refused", err, dflockwire.ErrProtocol)
			return
		}
		type list []struct{ Key string }
		var want struct {
			Locks, Semaphores, Idle_locks, Idle_semaphores list
		}
		if json.Unmarshal(object, &want) != nil || bytes.Count(object, []byte(`"key"`)) != len(keys) || !bytes.Equal(bytes.ToLower(object), object) {
			return // a word that is none of JSON, in what is skipped; members that come twice, or in other letters
		}
		for _, l := range []list{want.Locks, want.Semaphores, want.Idle_locks, want.Idle_semaphores} {
			for _, e := range l {
				if utf8.ValidString(e.Key) && utf8.Valid(object) && !slices.Contains(keys, e.Key) {
					t.Errorf("%q is missing: %q", e.Key, keys)
				}
			}
		}
	})
}
