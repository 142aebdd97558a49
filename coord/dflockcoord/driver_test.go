package dflockcoord_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/ground/address"
)

// farm is several in-memory servers, with addresses for the client.
func farm(t *testing.T, n int) ([]*dflocktest.Server, dflockcoord.ClientOptions) {
	t.Helper()
	var o dflockcoord.ClientOptions
	byAddr := map[string]*dflocktest.Server{}
	var servers []*dflocktest.Server
	for i := range n {
		addr := fmt.Sprintf("192.0.2.%d:6388", i+1)
		s := start(t, dflocktest.Options{InMemory: true})
		servers, o.Servers, byAddr[addr] = append(servers, s), append(o.Servers, addr), s
	}
	o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return byAddr[addr].Dial(ctx, network, addr)
	}
	return servers, o
}

func TestKeysAreSpreadAsTheOtherClientsDoIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		servers, o := farm(t, 5)
		s := session(t, driver(t, o, dflockcoord.Options{}), coord.SessionOptions{})
		for key, want := range map[string]int{"my-key": 2, "my-resource": 3, "leader": 1, "a/b/c": 0} {
			lock(t, s, key)
			if _, err := servers[want].Entry(key); err != nil {
				t.Errorf("%q is not on server %d: %v", key, want, err)
			}
		}
	})
}

func TestShardFunctionOfOnesOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		servers, o := farm(t, 3)
		own := func(key string, servers int) int { return len(key) - servers }
		r := raw(t, driver(t, o, dflockcoord.Options{Shard: own}), coord.SessionOptions{})
		if _, ok, err := r.Acquire(t.Context(), mutex("12345")); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := servers[2].Entry("12345"); err != nil {
			t.Error(err)
		}
		for _, key := range []string{"1", "123456"} {
			_, _, err := r.Acquire(t.Context(), mutex(key))
			is(t, "a server that is not in the list", err, coord.ErrInvalid)
		}
	})
}

func TestOneServerOfSeveralMayBeAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		servers, o := farm(t, 2)
		servers[1].Refuse(true)
		r := raw(t, driver(t, o, dflockcoord.Options{}), coord.SessionOptions{})
		if _, ok, err := r.Acquire(t.Context(), mutex("my-resource")); !ok || err != nil {
			t.Errorf("on the server that is there: %t, %v", ok, err)
		}
		if _, _, err := r.Acquire(t.Context(), mutex("my-key")); !coord.Passing(err) {
			t.Errorf("on the one that is not: %v", err)
		}
		servers[0].Refuse(true)
		_, err := driver(t, o, dflockcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
		is(t, "with no server", err, dflockwire.ErrHungUp)
		if !coord.Passing(err) || !strings.Contains(fmt.Sprint(err), "192.0.2.1:6388") {
			t.Errorf("with no server: %v", err)
		}
	})
}

func TestWrongAuthIsFinal(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{Secret: "s3cret"}, func(t *testing.T, s *dflocktest.Server) {
		o := client(s)
		for _, secret := range []string{"", "wr0ng"} {
			o.Secret = secret
			_, err := driver(t, o, dflockcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
			is(t, "a wrong secret", err, coord.ErrRefused)
			if secret != "" && strings.Contains(fmt.Sprint(err), secret) {
				t.Errorf("%v holds the secret", err)
			}
		}
		o.Secret = "s3cret"
		lock(t, session(t, driver(t, o, dflockcoord.Options{}), coord.SessionOptions{}), "k")
	})
}

func TestTimeoutsOfTheConnection(t *testing.T) {
	t.Parallel()
	bubble(t, dflocktest.Options{}, func(t *testing.T, s *dflocktest.Server) {
		o := client(s)
		o.AnswerTimeout = 2 * time.Second
		s.Hang(true)
		begin := time.Now()
		_, err := driver(t, o, dflockcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
		is(t, "a silent server", err, dflockwire.ErrSilent)
		o.ConnectTimeout = time.Second
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		_, err = driver(t, o, dflockcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
		is(t, "a server that is far away", err, dflockwire.ErrSilent)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestEncryptedServer(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(nil) // its certificate is for 127.0.0.1
	t.Cleanup(authority.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	noError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}), 0o600))
	s := start(t, dflocktest.Options{TLS: &tls.Config{Certificates: authority.TLS.Certificates}})
	o, err := dflockcoord.ParseURL("dflockds://" + s.Addr() + "?ca=" + ca)
	noError(t, err)
	lock(t, session(t, driver(t, o, dflockcoord.Options{}), coord.SessionOptions{}), "k")
	byConfig := dflockcoord.ClientOptions{Servers: o.Servers}
	byConfig.TLS, err = o.TLSFiles.Load()
	noError(t, err)
	lock(t, session(t, driver(t, byConfig, dflockcoord.Options{}), coord.SessionOptions{}), "byConfig")
	o.TLSFiles = &certs.Files{}
	_, err = driver(t, o, dflockcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
	is(t, "an unknown authority", err, coord.ErrRefused)
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]dflockcoord.ClientOptions{
		"dflockd://h":                {Servers: []string{"h:6388"}},
		"dflockd://h:1,[::1],j:2/":   {Servers: []string{"h:1", "[::1]:6388", "j:2"}},
		"dflockd://:s%3acret@h":      {Servers: []string{"h:6388"}, Secret: "s:cret"},
		"dflockds://h?server_name=x": {Servers: []string{"h:6388"}, TLSFiles: &certs.Files{ServerName: "x"}},
		"dflockd://h?dial_timeout=2s&read_timeout=1500ms": {
			Servers: []string{"h:6388"}, ConnectTimeout: 2 * time.Second, AnswerTimeout: 1500 * time.Millisecond,
		},
	} {
		if got, err := dflockcoord.ParseURL(url); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
	for _, url := range []string{
		"redis://h", "dflockd://", "dflockd://h/0", "dflockd://ann:s3cret@h", "dflockd://h?ca=f", "dflockd://h?nosuch=s3cret",
		"dflockd://h?read_timeout=s3cret", "dflockd://h,,j", "h:6388",
	} {
		if got, err := dflockcoord.ParseURL(url); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
	_, err := dflockcoord.ParseURL("dflockd://h?nosuch=1")
	is(t, "an unknown parameter", err, address.ErrParameter)
}

// FuzzParseURL looks for the secret in errors.
func FuzzParseURL(f *testing.F) {
	f.Add("dflockd", "h:6388,j", "dial_timeout=2s")
	f.Add("dflockds", "[::1]", "ca=x&%zz")
	f.Fuzz(func(t *testing.T, scheme, hosts, query string) {
		const secret = "s3cretOfMine"
		o, err := dflockcoord.ParseURL(scheme + "://:" + secret + "@" + hosts + "?" + query)
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%v holds the secret", err)
		}
		if err == nil && len(o.Servers) == 0 {
			t.Error("no server, and no error")
		}
	})
}
