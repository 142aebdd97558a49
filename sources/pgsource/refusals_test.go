package pgsource

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestBadOptionsAreRefusedInASentenceWithoutSecrets(t *testing.T) {
	t.Parallel()
	const good = "postgres://me:hunter2@localhost/app"
	for _, c := range []struct {
		what string
		o    Options
		want string
		key  bool
	}{
		{"a key out of range", Options{URL: good, Selections: []Selection{{Pattern: "9223372036854775808"}}}, "does not fit into a bigint", true},
		{"a pair out of range", Options{URL: good, Selections: []Selection{{Pattern: "1:4294967296"}}}, "do not fit into two int4", true},
		{"an extension's key out of range", Options{URL: good, Selections: []Selection{{Pattern: "1:2/65536"}}}, "out of range", true},
		{"an empty key", Options{URL: good, Selections: []Selection{{}}}, "empty", true},
		{"a semaphore", Options{URL: good, Selections: []Selection{{Pattern: "1", Kind: sources.KindSemaphore}}}, "no semaphore", false},
		{"a scheme", Options{URL: good, Scheme: "md5"}, "no such key scheme", false},
		{"a name at a name", Options{URL: good, Names: map[string]string{"x": "y"}}, "no number of a lock", false},
		{"a long channel", Options{URL: good, Channels: []string{strings.Repeat("c", 64)}}, "64 bytes", false},
		{"a channel without a name", Options{URL: good, Channels: []string{""}}, "without a name", false},
		{"a channel with a zero byte", Options{URL: good, Channels: []string{"a\x00"}}, "zero byte", false},
		{"an unescaped password", Options{URL: "postgres://me:hun/ter2@localhost/app"}, "the address cannot be read: write it as", false},
		{"no connection string", Options{URL: "hunter2 hunter2"}, "the address cannot be read", false},
		{"a bad sslmode", Options{URL: good + "?sslmode=maybe"}, "sslmode", false},
	} {
		_, err := New(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, pgcoord.ErrKey) != c.key {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		for _, secret := range []string{"hunter2", "ter2"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the secret is told: %v", c.what, err)
			}
		}
	}
}

// connect tries once and returns why it does not work.
func connect(t *testing.T, o Options) error {
	t.Helper()
	o.Name = "src"
	s, err := New(o)
	noError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	err = s.Connect(ctx)
	if closing := s.Close(); closing != nil {
		t.Error(closing)
	}
	return err
}

func refuses(t *testing.T, err error, final bool, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it connects")
	}
	if errors.Is(err, sources.ErrRefused) != final {
		t.Errorf("final %v, want %v: %v", !final, final, err)
	}
	if strings.Contains(err.Error(), "s3cret") || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("%v", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
}

func TestRefusalsOfTheServerAreSentences(t *testing.T) {
	t.Parallel()
	r := &rig{t: t, server: localserver.PostgresForTest(t, localserver.PostgresOptions{
		Password: "s3cret",
		Setup:    []string{"create database closed", "create role alice login password 's3cret'", "create role nologin"},
	})}
	r.sessionAt(r.server.URLFor("postgres", "s3cret", "closed"), "root").do("revoke connect on database closed from public")
	at := func(role, password, database string) Options {
		return Options{URL: r.server.URLFor(role, password, database)}
	}
	for what, c := range map[string]struct {
		o     Options
		login bool // it is our user or password
		words []string
	}{
		"wrong password":   {at("alice", "s3cret-not", "postgres"), true, []string{"refuses the password of alice", "28P01"}},
		"no password":      {at("alice", "", "postgres"), true, []string{"wants a password for alice", "28P01"}},
		"no such role":     {at("mallory", "s3cret", "postgres"), true, []string{"mallory", "28P01"}},
		"no login":         {at("nologin", "s3cret", "postgres"), true, []string{"nologin", "28"}},
		"no database":      {at("alice", "s3cret", "nowhere"), false, []string{"has no database nowhere", "3D000"}},
		"missing right":    {at("alice", "s3cret", "closed"), false, []string{"alice lacks a right", "CONNECT", "42501"}},
		"overriding login": {Options{URL: r.server.URLFor("postgres", "s3cret", "postgres"), User: "alice", Password: "not"}, true, []string{"refuses the password of alice"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			err := connect(t, c.o)
			refuses(t, err, true, append(c.words, r.server.Addr())...)
			if errors.Is(err, sources.ErrCredentials) != c.login {
				t.Errorf("told as refused credentials: %v, want %v: %v", !c.login, c.login, err)
			}
		})
	}
	t.Run("login by options", func(t *testing.T) {
		t.Parallel()
		if err := connect(t, Options{URL: r.server.URLFor("x", "", "postgres"), User: "alice", Password: "s3cret"}); err != nil {
			t.Error(err)
		}
	})
}

func TestServerWithoutRoomIsAPassingTrouble(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create role alice login connection limit 2"}})
	url := r.server.URLFor("alice", "", "postgres")
	r.sessionAt(url, "1")
	r.sessionAt(url, "2")
	refuses(t, connect(t, Options{URL: url}), false, "no connection left for alice", "53300")
}

func TestUnreachableServersAreSentences(t *testing.T) {
	t.Parallel()
	closed := localserver.RefusingForTest(t)
	at := func(addr string) Options {
		return Options{URL: "postgres://me:s3cret@" + addr + "/app?sslmode=disable"}
	}
	refuses(t, connect(t, at(closed)), false, "nothing listens at "+closed)
	refuses(t, connect(t, at("nowhere.invalid:5433")), false, "no host", "nowhere.invalid")
	refuses(t, connect(t, Options{URL: "host=/nowhere/at/all user=me password=s3cret dbname=app"}), false, "there is no socket at /nowhere/at/all")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { silent.Close() })
	o := at(silent.Addr().String())
	o.URL += "&connect_timeout=1"
	refuses(t, connect(t, o), false, "no answer from "+silent.Addr().String())
	hasty := answer(t, func(c net.Conn) {})
	refuses(t, connect(t, at(hasty)), false, hasty+" closes the connection at once")
	web := answer(t, func(c net.Conn) {
		c.Read(make([]byte, 100))
		c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	})
	refuses(t, connect(t, at(web)), true, web+" is a web server: check host and port")
}

// answer serves connections with f, one after the other, and closes them.
func answer(t *testing.T, f func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

func TestServerThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"9.6.24", "11.22 (Debian 11.22-1)", "strange"} {
		addr := answer(t, func(c net.Conn) { greet(c, version) })
		refuses(t, connect(t, Options{URL: "postgres://me@" + addr + "/app?sslmode=disable"}), true, `is version "`+version+`"`, "Postgres 12 or newer")
	}
}

// greet lets anybody in as a server of some version, and waits for the goodbye.
func greet(c net.Conn, version string) {
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ParameterStatus{Name: "server_version", Value: version})
	b.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if b.Flush() == nil {
		_, _ = b.Receive() // the goodbye, or the end
	}
}

func TestServerThatSpeaksNoTLSOrUntrustedTLSIsSaidSo(t *testing.T) {
	t.Parallel()
	plain := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	refuses(t, connect(t, Options{URL: strings.Replace(plain.URL(), "sslmode=disable", "sslmode=require", 1)}), false, "TLS")
	sealed := localserver.PostgresForTest(t, localserver.PostgresOptions{TLS: true})
	if err := connect(t, Options{URL: sealed.URL()}); err != nil {
		t.Error(err)
	}
	url, _, _ := strings.Cut(sealed.URL(), "?")
	refuses(t, connect(t, Options{URL: url + "?sslmode=verify-full"}), true, "not trusted", "sslrootcert")
	refuses(t, connect(t, Options{URL: url + "?sslmode=disable"}), true, "28000")
}
