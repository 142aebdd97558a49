package dflockcoord_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/coordtest"
	"coordtop/coord/dflockcoord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/localserver"
)

// serverEnv names a real server, as host:port or as a URL, of version 1.10 or later with its own
// defaults; without it the emulator stands for one. What needs the emulator's back door or its
// switches is skipped there: the cases of the suite that make the server take something away
// (Expire) or record the order in which it does (Endings), and all other tests of this package. A
// server that freezes, and troubles that pass, are those of a proxy before it.
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
	addr := os.Getenv(serverEnv)
	if addr == "" {
		s := start(t, dflocktest.Options{})
		coordtest.Run(t, func(t testing.TB) coordtest.Harness { return harness(s, dflocktest.Options{}) })
		return
	}
	if !strings.Contains(addr, "://") {
		addr = "dflockd://" + addr
	}
	o, err := dflockcoord.ParseURL(addr)
	noError(t, err)
	coordtest.Run(t, func(t testing.TB) coordtest.Harness { return realHarness(o) })
}

// realHarness is a server of which only the address is known.
func realHarness(o dflockcoord.ClientOptions) coordtest.Harness {
	newDriver := func(o dflockcoord.ClientOptions) func(testing.TB) coord.Driver {
		return func(t testing.TB) coord.Driver { return driver(t, o, brisk) }
	}
	proxied := func(t testing.TB) (*localserver.Proxy, func(testing.TB) coord.Driver) {
		p, o := localserver.ProxyForTest(t, o.Servers[0]), o
		if o.TLSFiles != nil && o.TLSFiles.ServerName == "" {
			host, _, _ := strings.Cut(o.Servers[0], ":")
			o.TLSFiles = &certs.Files{CA: o.TLSFiles.CA, ServerName: host}
		}
		o.Servers = []string{p.Addr()}
		return p, newDriver(o)
	}
	return coordtest.Harness{
		NewDriver: newDriver(o), TTL: 2 * time.Second, FreezesQueues: true,
		Freezer: func(t testing.TB) (coord.Driver, func()) {
			p, newDriver := proxied(t)
			return newDriver(t), p.BlackHole
		},
		Troubles: func(t testing.TB) (func(testing.TB) coord.Driver, []coordtest.Trouble) {
			p, newDriver := proxied(t)
			return newDriver, []coordtest.Trouble{{Name: "connections are cut and refused", Begin: p.Cut, End: p.Resume}}
		},
	}
}

func harness(s *dflocktest.Server, o dflocktest.Options) coordtest.Harness {
	newDriver := func(s *dflocktest.Server) func(testing.TB) coord.Driver {
		return func(t testing.TB) coord.Driver { return driver(t, client(s), brisk) }
	}
	return coordtest.Harness{
		NewDriver: newDriver(s),
		TTL:       2 * time.Second,
		Expire: func(t testing.TB, _ coord.Kind, name string) {
			noError(t, s.Take(name))
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
