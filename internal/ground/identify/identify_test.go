package identify_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/ground/identify"
	"coordtop/internal/localserver"
)

// listen calls serve with each connection to the address that it returns.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
		}
	}()
	return l.Addr().String()
}

// silence keeps connections and says nothing.
func silence(t *testing.T) string {
	return listen(t, func(c net.Conn) { t.Cleanup(func() { c.Close() }) })
}

func TestEachKindOfServerIsTold(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	service := grpc.NewServer()
	t.Cleanup(service.Stop)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = service.Serve(l) }()
	locks := func(o dflocktest.Options) string {
		s, err := dflocktest.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s.Addr()
	}
	for name, c := range map[string]struct {
		addr string
		want identify.Product
	}{
		"dflockd":               {locks(dflocktest.Options{}), identify.Dflockd},
		"dflockd with a token":  {locks(dflocktest.Options{Secret: "hunter2"}), identify.Dflockd},
		"redis":                 {localserver.RedisForTest(t, localserver.RedisOptions{}).Addr(), identify.Redis},
		"redis with a password": {localserver.RedisForTest(t, localserver.RedisOptions{Password: "hunter2"}).Addr(), identify.Redis},
		"postgres":              {localserver.PostgresForTest(t, localserver.PostgresOptions{}).Addr(), identify.Postgres},
		"web":                   {strings.TrimPrefix(web.URL, "http://"), identify.Web},
		"grpc":                  {l.Addr().String(), identify.GRPC},
		"silence":               {silence(t), identify.Unknown},
		"an end":                {listen(t, func(c net.Conn) { c.Close() }), identify.Unknown},
		"noise":                 {listen(t, func(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("\x00", 99)); c.Close() }), identify.Unknown},
		"nothing":               {"127.0.0.1:1", identify.Unknown},
	} {
		if got := identify.Server(t.Context(), c.addr); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAConnectToAnotherKindIsCalledOff(t *testing.T) {
	t.Parallel()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{}).Addr()
	never := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	all := func(error) bool { return true }
	if other, err := identify.WhileConnecting(t.Context(), redis, identify.Postgres, all, never); other != identify.Redis || err == nil {
		t.Errorf("a connect that lasts: %q, %v", other, err)
	}
	broken := errors.New("closed at once")
	fail := func(context.Context) error { return broken }
	if other, err := identify.WhileConnecting(t.Context(), redis, identify.Postgres, all, fail); other != identify.Redis || !errors.Is(err, broken) {
		t.Errorf("a connect that fails strangely: %q, %v", other, err)
	}
	for name, c := range map[string]struct {
		addr    string
		want    identify.Product
		strange bool
	}{
		"the right kind": {redis, identify.Redis, true}, "an answer of its own": {redis, identify.Postgres, false},
		"nowhere to ask": {"", identify.Postgres, true}, "nobody knows": {"127.0.0.1:1", identify.Postgres, true},
	} {
		other, err := identify.WhileConnecting(t.Context(), c.addr, c.want, func(error) bool { return c.strange }, fail)
		if other != identify.Unknown || !errors.Is(err, broken) {
			t.Errorf("%s: %q, %v", name, other, err)
		}
	}
}

func TestWhatConnectMakesLivesAsLongAsItsContext(t *testing.T) {
	t.Parallel()
	var made context.Context
	other, err := identify.WhileConnecting(t.Context(), "127.0.0.1:1", identify.Redis, func(error) bool { return true }, func(ctx context.Context) error {
		made = ctx
		return nil
	})
	if other != identify.Unknown || err != nil || made.Err() != nil {
		t.Errorf("%q, %v; the context has ended with %v", other, err, made.Err())
	}
}
