package dflockcoord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"coordtop/coord"
	"coordtop/coord/dflockcoord"
	"coordtop/internal/emulator/dflocktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brisk makes claims leave the queue soon, so that tests are quick.
var brisk = dflockcoord.Options{LongestWait: time.Second}

func start(t testing.TB, o dflocktest.Options) *dflocktest.Server {
	t.Helper()
	s, err := dflocktest.Start(o)
	noError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// bubble runs a test against an in-memory server, in virtual time.
func bubble(t *testing.T, o dflocktest.Options, test func(*testing.T, *dflocktest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.InMemory = true
		test(t, start(t, o))
	})
}

func client(servers ...*dflocktest.Server) dflockcoord.ClientOptions {
	o := dflockcoord.ClientOptions{Dial: servers[0].Dial}
	for _, s := range servers {
		o.Servers = append(o.Servers, s.Addr())
	}
	return o
}

func driver(t testing.TB, c dflockcoord.ClientOptions, o dflockcoord.Options) *dflockcoord.Driver {
	t.Helper()
	d, err := dflockcoord.New(c, o)
	noError(t, err)
	return d
}

// session opens a session of the core, which renews its leases.
func session(t testing.TB, d coord.Driver, o coord.SessionOptions) *coord.Session {
	t.Helper()
	s, err := coord.Open(t.Context(), d, o)
	noError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		_ = s.Close(ctx) // the test may have broken the server
		_ = d.Close(ctx)
	})
	return s
}

// raw opens a session that nobody renews.
func raw(t testing.TB, d coord.Driver, o coord.SessionOptions) coord.DriverSession {
	t.Helper()
	s, err := d.Open(t.Context(), o)
	noError(t, err)
	t.Cleanup(func() {
		s.Abandon()
		_ = d.Close(context.WithoutCancel(t.Context())) // it always works
	})
	return s
}

func lock(t testing.TB, s *coord.Session, name string) *coord.Lease {
	t.Helper()
	l, err := s.Mutex(name, coord.MutexOptions{}).Lock(t.Context())
	noError(t, err)
	return l
}

func is(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func mutex(name string) coord.Claim { return coord.Claim{Kind: coord.KindMutex, Name: name} }

// noError ends the test if there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
