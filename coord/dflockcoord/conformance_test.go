package dflockcoord_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/dflockcoord"
	"coordtop/internal/emulator/dflocktest"
)

// serverEnv names a real server, as host:port or as a URL, of version 1.10 or later with its own
// defaults. What needs the emulator's back door, faults or switches is skipped there: Expire
// and the order of endings, a server that freezes, troubles that pass, and all tests of this
// package but TestConformanceOnARealServer.
const serverEnv = "COORDTOP_TEST_DFLOCKD"

func TestConformanceInVirtualTime(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]dflocktest.Options{
		"1.10": {}, "1.16": {Newer: dflocktest.Since1_16()}, "2.1": {Newer: dflocktest.Since2_1()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.InMemory = true
			coordtest.RunIn(t, synctest.Test, func(t testing.TB) coordtest.Harness { return harness(start(t, o), o) })
		})
	}
}

func TestConformanceOverTCP(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 20 s: a short run has the same in virtual time")
	}
	s := start(t, dflocktest.Options{})
	coordtest.Run(t, func(t testing.TB) coordtest.Harness { return harness(s, dflocktest.Options{}) })
}

func TestConformanceOnARealServer(t *testing.T) {
	t.Parallel()
	addr := os.Getenv(serverEnv)
	if addr == "" {
		t.Skip(serverEnv + " names no server; the emulator stands for one in the other tests")
	}
	if !strings.Contains(addr, "://") {
		addr = "dflockd://" + addr
	}
	o, err := dflockcoord.ParseURL(addr)
	if err != nil {
		t.Fatal(err)
	}
	coordtest.Run(t, func(t testing.TB) coordtest.Harness {
		return coordtest.Harness{
			NewDriver: func(t testing.TB) coord.Driver { return driver(t, o, brisk) },
			TTL:       2 * time.Second,
		}
	})
}

func harness(s *dflocktest.Server, o dflocktest.Options) coordtest.Harness {
	newDriver := func(s *dflocktest.Server) func(testing.TB) coord.Driver {
		return func(t testing.TB) coord.Driver { return driver(t, client(s), brisk) }
	}
	return coordtest.Harness{
		NewDriver: newDriver(s),
		TTL:       2 * time.Second,
		Expire: func(t testing.TB, _ coord.Kind, name string) {
			if err := s.Take(name); err != nil {
				t.Fatal(err)
			}
		},
		Endings:       func(testing.TB) func() []string { return s.Endings() },
		FreezesQueues: true,
		Freezer: func(t testing.TB) (coord.Driver, func()) {
			own := start(t, o)
			return newDriver(own)(t), func() { own.Hang(true) }
		},
		Troubles: func(t testing.TB) (func(testing.TB) coord.Driver, []coordtest.Trouble) {
			own := start(t, o)
			full := func(word string) coordtest.Trouble {
				return coordtest.Trouble{
					Name:  "refused with " + word,
					Begin: func() { own.Answer("e", word, 1000); own.Cut() },
					End:   func() { own.Answer("e", "", 0) },
				}
			}
			return newDriver(own), []coordtest.Trouble{
				{Name: "connections are refused", Begin: func() { own.Refuse(true) }, End: func() { own.Refuse(false) }},
				{Name: "the server restarts", Begin: func() { own.Refuse(true); own.Restart() }, End: func() { own.Refuse(false) }},
				full("error_max_locks"), full("error_max_waiters"), full("error_draining"),
			}
		},
	}
}
