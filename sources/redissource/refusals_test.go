package redissource

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"coordtop/coord/certs"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// connect tries once, until the listing is complete, and returns the error. DialTimeout is how long each answer
// may take.
func connect(t *testing.T, c rediscoord.ClientOptions, list ...Selection) error {
	t.Helper()
	c.DialTimeout = cmp.Or(c.DialTimeout, testLimit)
	s := New(Options{Name: "src", Client: c, Selections: list, Silence: c.DialTimeout})
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	if err := s.Connect(ctx); err != nil {
		return err
	}
	for {
		c, err := s.Next(ctx)
		if err != nil || c.Synced {
			return err
		}
	}
}

func TestRefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	open := serve(t, localserver.RedisOptions{Users: []string{
		"nokeys on >secret ~other:* +@all", "noread on >secret ~* +ping +scan", "noscan on >secret ~* +@all -scan", "noping on >secret ~* +get",
	}}, held)
	locked := serve(t, localserver.RedisOptions{Password: "hunter2"})
	tlsOnly := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true})
	certOnly := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true, ClientCert: true})
	full := serve(t, localserver.RedisOptions{})
	full.do("CONFIG", "SET", "maxclients", "1") // only now: who asked whether it runs may be connected still
	with := func(c rediscoord.ClientOptions, change func(*rediscoord.ClientOptions)) rediscoord.ClientOptions {
		change(&c)
		return c
	}
	encrypt := func(ca string) func(*rediscoord.ClientOptions) {
		return func(c *rediscoord.ClientOptions) { c.TLSFiles = &certs.Files{CA: ca} }
	}
	brief := func(c *rediscoord.ClientOptions) { c.DialTimeout = time.Second } // no answer comes
	one := leaders()
	tests := []struct {
		name    string
		client  rediscoord.ClientOptions
		list    []Selection
		refused bool
		says    string
	}{
		{"wrong password", client(locked.server.Addr(), "", "hunter3"), one, true, "refuses the password of"},
		{"wrong user", client(locked.server.Addr(), "bob", "hunter2"), one, true, "refuses the password of"},
		{"no password", client(locked.server.Addr(), "", ""), one, true, "wants a password"},
		{"no right on the keys", client(open.server.Addr(), "nokeys", "secret"), one, true, "give it +pttl +strlen +getrange"},
		{"no right to read", client(open.server.Addr(), "noread", "secret"), one, true, "give it +pttl +strlen +getrange"},
		{"no right to scan", client(open.server.Addr(), "noscan", "secret"), one, true, "give it +scan"},
		{"no right to ping", client(open.server.Addr(), "noping", "secret"), one, true, "noping lacks a right at"},
		{"no such database", with(client(open.server.Addr(), "", ""), func(c *rediscoord.ClientOptions) { c.DB = 99 }), one, true, "has no database 99"},
		{"nothing listens", client(localserver.RefusingForTest(t), "", ""), one, false, "nothing listens at"},
		{"no such host", client("no-such-host.invalid:6379", "", ""), one, false, "there is no host by the name in no-such-host.invalid:6379"},
		{"no Redis", client(speak(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), "", ""), one, true, "is a web server: check host and port"},
		{"hangs up", client(speak(t, ""), "", ""), one, false, "closes the connection at once"},
		{"silent", with(client(silent(t), "", ""), brief), one, false, "no answer from"},
		{"TLS is wanted", client(tlsOnly.Addr(), "", ""), one, false, "want TLS (write rediss://)"},
		{"TLS is not spoken", with(with(client(open.server.Addr(), "", ""), encrypt("")), brief), one, false, "listens there and speaks TLS"},
		{"something else than TLS", with(client(speak(t, "HTTP/1.1 400 Bad Request\r\n\r\n"), "", ""), encrypt("")), one, true, "speaks no TLS"},
		{"authority not trusted", with(client(tlsOnly.Addr(), "", ""), encrypt("")), one, true, "an authority that is not trusted"},
		{"certificate of ours is wanted", with(client(certOnly.Addr(), "", ""), encrypt(certOnly.TLSFiles().CA)), one, false, "a certificate of ours"},
		{"a cluster", rediscoord.ClientOptions{Topology: rediscoord.Cluster, Addrs: []string{open.server.Addr()}}, one, true, "name its masters one by one"},
		{"a file that is missing", with(client(open.server.Addr(), "", ""), encrypt("no-such-file.pem")), one, true, "reading the TLS authorities"},
		{"no connection left", client(full.server.Addr(), "", ""), one, false, "maxclients"},
		{"a Redis for a Sentinel", rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "main", Addrs: []string{open.server.Addr()}}, one, true, "is not a Sentinel"},
		{"no Sentinel", rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "main", Addrs: []string{localserver.RefusingForTest(t)}}, one, false, "nothing listens at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := connect(t, tt.client, tt.list...)
			if err == nil || errors.Is(err, sources.ErrRefused) != tt.refused || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("refused %v: %v", errors.Is(err, sources.ErrRefused), err)
			}
			if text := err.Error(); strings.Contains(text, "hunter") || strings.Contains(text, "secret") || strings.Contains(text, "\n") {
				t.Errorf("%q", text)
			}
		})
	}
}

func TestTrustedTLSConnects(t *testing.T) {
	t.Parallel()
	r := &rig{t: t, ctx: t.Context(), server: localserver.RedisForTest(t, localserver.RedisOptions{TLS: true, ClientCert: true})}
	files := r.server.TLSFiles()
	c := client(r.server.Addr(), "", "")
	c.TLSFiles = &certs.Files{CA: files.CA, Cert: files.Cert, Key: files.Key}
	watch(t, r, Options{Client: c, Selections: leaders()}).synced()
	r.mode(modeTracking)
}

// silent accepts and never answers.
func silent(t *testing.T) string {
	t.Helper()
	return listener(t).Addr().String() // the kernel accepts, nobody reads
}

// speak answers whatever comes with text and hangs up.
func speak(t *testing.T, text string) string {
	t.Helper()
	l := listener(t)
	done := make(chan struct{})
	go func() { // joined by the cleanup
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 100))
			_, _ = c.Write([]byte(text))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}
