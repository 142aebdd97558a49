package app

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/jackc/pgx/v5/pgproto3"
	"google.golang.org/grpc/codes"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/liartest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// marker is a password that must be seen nowhere.
const marker = "s3cret-pass"

// speaking returns an address at which each connection is answered by f and then closed.
func speaking(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // joined by the cleanup
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// saying answers whatever comes with a text.
func saying(t *testing.T, text string) string {
	t.Helper()
	return speaking(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1000))
		_, _ = io.WriteString(c, text)
	})
}

// resetting resets each connection.
func resetting(t *testing.T) string {
	t.Helper()
	return speaking(t, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })
}

// rejecting is a Postgres that refuses each login with these words.
func rejecting(t *testing.T, state, message string) string {
	t.Helper()
	return speaking(t, func(c net.Conn) {
		b := pgproto3.NewBackend(c, c)
		if _, err := b.ReceiveStartupMessage(); err == nil {
			b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: state, Message: message})
			_ = b.Flush()
		}
	})
}

// told runs get on a URL that fails, and checks what every failure has in common.
func told(t *testing.T, name, url, addr string, want ...string) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		code := w.main(t.Context(), "get", "--timeout", "9s", url)
		text := strings.TrimSuffix(w.stderr.String(), "\n")
		if code != exitNoAnswer {
			t.Errorf("exit code %d", code)
		}
		for _, part := range append(want, addr) {
			if !strings.Contains(text, part) {
				t.Errorf("lacks %q: %s", part, text)
			}
		}
		if len(text) > 700 || strings.Contains(text, `\n`) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("not one short line that can be printed: %.1000q", text)
		}
		if strings.Contains(w.stdout.String()+text, marker) {
			t.Errorf("the password is shown: %s%s", w.stdout, text)
		}
	})
}

func TestFailuresOfANetworkAreSaidInTheSameWordsOnEveryBackend(t *testing.T) {
	t.Parallel()
	for _, b := range []struct{ name, product, plain, sealed, noTLS string }{
		{"redis", "a Redis server", "redis://:%s@%s/0?keys=app:*", "rediss://:%s@%s/0?keys=app:*", "write redis://"},
		{"postgres", "a Postgres server", "postgres://ann:%s@%s/db?sslmode=disable", "postgres://ann:%s@%s/db?sslmode=require", "write sslmode=disable"},
		{"ydb", "a YDB", "grpc://ann:%s@%s/local?node=app&semaphore=quota", "grpcs://ann:%s@%s/local?node=app&semaphore=quota", "write grpc://"},
	} {
		for _, c := range []struct {
			name, addr string
			sealed     bool
			want       string
		}{
			{"a closed port", localserver.RefusingForTest(t), false, "nothing listens at %s: check host and port"},
			{"a closed port, with TLS", localserver.RefusingForTest(t), true, "nothing listens at %s: check host and port"},
			{"an unknown host", "host.invalid:7", false, "there is no host by the name in %s: check its spelling"},
			{"a reset", resetting(t), false, "%s closes the connection at once: it may not be " + b.product},
			{"the end", saying(t, ""), false, "%s closes the connection at once: it may not be " + b.product},
			{"the end, with TLS", saying(t, ""), true, "the server at %s breaks off TLS: it may want a certificate of ours"},
			{"silence", deaf(t), false, "no answer from %s: check host and port, and whether " + b.product + " listens there"},
			{"silence, with TLS", deaf(t), true, "no answer from %s: check host and port, and whether " + b.product + " listens there and speaks TLS"},
			{"another program", saying(t, "220 mail.example ESMTP\r\n"), false, "is not " + b.product},
			{"no TLS", saying(t, "220 mail.example ESMTP\r\n"), true, b.noTLS},
			{"a web server", saying(t, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), false, "%s is a web server: check host and port"},
		} {
			if testing.Short() && strings.HasPrefix(c.name, "silence") {
				continue // it takes as long as a connection may
			}
			url, want := b.plain, c.want
			if c.sealed {
				url = b.sealed
			}
			if strings.Contains(want, "%s") {
				want = fmt.Sprintf(want, c.addr)
			}
			told(t, b.name+": "+c.name, fmt.Sprintf(url, marker, c.addr), c.addr, want)
		}
	}
}

// hostile is what a server may say: long, with escape sequences, lines and our password.
var hostile = "\x1b]0;x\a\u202e \r\n" + marker + "\n" + strings.Repeat("long ", 10_000)

func TestAnswersOfRedisThatKeepUsOutAreExplained(t *testing.T) {
	t.Parallel()
	locked := localserver.RedisForTest(t, localserver.RedisOptions{Password: marker, Users: []string{"blind on >" + marker + " ~* +@all -ping"}})
	full := localserver.RedisForTest(t, localserver.RedisOptions{})
	sealed := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true})
	if err := writer(t, full.Addr()).ConfigSet(t.Context(), "maxclients", "1").Err(); err != nil {
		t.Fatal(err)
	}
	at := func(login, addr string) string { return "redis://" + login + addr + "/0?keys=app:*" }
	server := "the server at " + locked.Addr()
	told(t, "a wrong password", at(":"+marker+"-not@", locked.Addr()), locked.Addr(), server+" refuses the password of default: check both (WRONGPASS")
	told(t, "no password", at("", locked.Addr()), locked.Addr(), server+" wants a password for default: give it with password_env")
	told(t, "an unknown user", at("bob:"+marker+"@", locked.Addr()), locked.Addr(), server+" refuses the password of bob")
	told(t, "a missing right", at("blind:"+marker+"@", locked.Addr()), locked.Addr(), "blind lacks a right at "+locked.Addr()+": NOPERM")
	told(t, "no such database", "redis://:"+marker+"@"+locked.Addr()+"/99?keys=app:*", locked.Addr(), server+" has no database 99")
	told(t, "too many clients", at("", full.Addr()), full.Addr(), "its maxclients")
	told(t, "TLS only", at("", sealed.Addr()), sealed.Addr(), "want TLS (write rediss://)")
	starting := liartest.RedisForTest(t, liartest.Always("-LOADING Redis is loading the dataset in memory\r\n")).Addr()
	told(t, "starting", at("", starting), starting, "cannot serve us now: LOADING Redis is loading")
	lying := liartest.RedisForTest(t, liartest.Always("-ERR "+strings.NewReplacer("\r", "", "\n", "").Replace(hostile)+"\r\n")).Addr()
	told(t, "hostile words", at(":"+marker+"@", lying), lying, "the server at "+lying+" refuses: ERR", "***")
	endless := saying(t, "-ERR "+strings.Repeat("x", 5<<20))
	told(t, "5 MB", at(":"+marker+"@", endless), endless, endless+" sent a line of more than", "it is not a Redis server")
}

func TestAServerOfAnotherKindIsNamed(t *testing.T) {
	t.Parallel()
	redis, postgres := localserver.RedisForTest(t, localserver.RedisOptions{}).Addr(), localserver.PostgresForTest(t, localserver.PostgresOptions{}).Addr()
	locks, _ := dflockd(t, dflocktest.Options{})
	const node = "/local?node=/local/app&mutex=a"
	told(t, "Postgres at a Redis", "postgres://ann:"+marker+"@"+redis+"/db", redis, redis+" is a Redis server: write redis://, or check host and port")
	told(t, "YDB at a Redis", "grpc://"+redis+node, redis, redis+" is a Redis server: write redis://")
	told(t, "Redis at a Postgres", "redis://ann:"+marker+"@"+postgres+"/0", postgres, postgres+" is a Postgres server: write postgres://")
	told(t, "Redis at a dflockd", "redis://ann:"+marker+"@"+locks.Addr()+"/0", locks.Addr(), locks.Addr()+" is a dflockd server: write dflockd://")
	told(t, "Postgres at a dflockd", "postgres://ann:"+marker+"@"+locks.Addr()+"/db", locks.Addr(), locks.Addr()+" is a dflockd server: write dflockd://")
	told(t, "YDB at a dflockd", "grpc://"+locks.Addr()+node, locks.Addr(), locks.Addr()+" is a dflockd server: write dflockd://")
	told(t, "dflockd at a Redis", "dflockd://:"+marker+"@"+redis, redis, redis+" is a Redis server: write redis://")
	told(t, "dflockd at a Postgres", "dflockd://"+postgres, postgres, postgres+" is a Postgres server: write postgres://")
	told(t, "YDB at a Postgres", "grpc://"+postgres+node, postgres, postgres+" is a Postgres server: write postgres://")
}

func TestAnswersOfPostgresThatKeepUsOutAreExplained(t *testing.T) {
	t.Parallel()
	s := localserver.PostgresForTest(t, localserver.PostgresOptions{
		Password: marker, Setup: []string{
			"create database closed", "create role ann login password '" + marker + "'", "create role nologin",
			"create role last login connection limit 0 password '" + marker + "'",
		},
	})
	login(t, s.URLFor("postgres", marker, "closed"), "root").does("revoke connect on database closed from public")
	sealed := localserver.PostgresForTest(t, localserver.PostgresOptions{TLS: true})
	server := "the server at " + s.Addr()
	told(t, "a wrong password", s.URLFor("ann", marker+"-not", "postgres"), s.Addr(), server+" refuses the password of ann: check both (SQLSTATE 28P01)")
	told(t, "no password", s.URLFor("ann", "", "postgres"), s.Addr(), server+" wants a password for ann")
	told(t, "no right to log in", s.URLFor("nologin", marker, "postgres"), s.Addr(), "nologin", "SQLSTATE 28")
	told(t, "a missing right", s.URLFor("ann", marker, "closed"), s.Addr(), "ann lacks a right at "+s.Addr()+": SQLSTATE 42501: ", "CONNECT privilege")
	told(t, "no such database", s.URLFor("ann", marker, "nowhere"), s.Addr(), server+" has no database nowhere: check it in the URL (SQLSTATE 3D000)")
	told(t, "too many clients", s.URLFor("last", marker, "postgres"), s.Addr(), server+" has no connection left for last: see max_connections")
	told(t, "no TLS there", strings.Replace(s.URLFor("ann", marker, "postgres"), "sslmode=disable", "sslmode=require", 1), s.Addr(), "speak no TLS (write sslmode=disable")
	url, _, _ := strings.Cut(sealed.URL(), "?")
	told(t, "TLS only", url+"?sslmode=disable", sealed.Addr(), "does not let postgres in: check the user (SQLSTATE 28000", "no encryption")
	at := func(addr string) string { return "postgres://ann:" + marker + "@" + addr + "/db?sslmode=disable" }
	starting := rejecting(t, "57P03", "the database system is starting up")
	told(t, "starting", at(starting), starting, "cannot serve us now: SQLSTATE 57P03: the database system is starting up")
	stopping := rejecting(t, "57P03", "the database system is shutting down")
	told(t, "stopping", at(stopping), stopping, "cannot serve us now: SQLSTATE 57P03: the database system is shutting down")
	lying := rejecting(t, "XX000", hostile)
	told(t, "hostile words", at(lying), lying, "the server at "+lying+" refuses: SQLSTATE XX000", "***")
	endless := rejecting(t, "XX000", strings.Repeat("x", 5<<20))
	told(t, "5 MB", at(endless), endless)
}

func TestAnswersOfYDBThatKeepUsOutAreExplained(t *testing.T) {
	t.Parallel()
	files := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true}).TLSFiles()
	pair, err := tls.LoadX509KeyPair(filepath.Join(filepath.Dir(files.CA), "server.crt"), filepath.Join(filepath.Dir(files.CA), "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	sealed := ydbForTest(t, ydbtest.Options{TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	s := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{
		"ann": {Password: marker}, "blind": {Password: marker, Deny: ydbtest.Read | ydbtest.Write | ydbtest.Erase},
	}})
	addr := s.Endpoint(0)
	at := func(login, addr, database string) string {
		return "grpc://" + login + addr + database + "?node=" + ydbNode + "&semaphore=quota"
	}
	server := "the server at " + addr
	told(t, "a wrong password", at("ann:"+marker+"-not@", addr, "/local"), addr, server+" refuses the password of ann: check both")
	told(t, "no password", at("", addr, "/local"), addr, server+" wants a password: give user: and password_env")
	told(t, "no such database", "grpc://ann:"+marker+"@"+addr+"/other", addr, server+" has no database /other: check it in the URL")
	told(t, "TLS only", at("", sealed.Endpoint(0), "/local"), sealed.Endpoint(0), "the server at "+sealed.Endpoint(0)+" speaks only TLS: write grpcs://")
	told(t, "an authority that is not ours", strings.Replace(at("", sealed.Endpoint(0), "/local"), "grpc:", "grpcs:", 1), sealed.Endpoint(0),
		"the certificate of "+sealed.Endpoint(0)+" is signed by an authority that is not trusted: name it with ca")
	told(t, "a missing right", at("blind:"+marker+"@", addr, "/local"), ydbNode, "no right to use the coordination node", "grant select_row")
	for _, c := range []struct {
		code codes.Code
		want string
	}{{codes.Unimplemented, "is not a YDB"}, {codes.ResourceExhausted, "refuses: "}, {codes.Unavailable, "cannot connect to "}} {
		ill := ydbForTest(t, ydbtest.Options{})
		ill.FailCalls("WhoAmI", c.code, 1000)
		told(t, c.code.String(), at("", ill.Endpoint(0), "/local"), ill.Endpoint(0), c.want)
	}
}

func TestAClaimThatIsRefusedSaysWhichRightIsMissing(t *testing.T) {
	t.Parallel()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{Users: []string{"ann on >" + marker + " ~* &* +@all -eval -evalsha"}})
	postgres := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: marker, Setup: []string{
		"create role ann login password '" + marker + "'", "revoke execute on function pg_try_advisory_lock(bigint), pg_advisory_lock(bigint) from public",
	}})
	ydb := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{"ann": {Password: marker, Deny: ydbtest.Write}}})
	for name, c := range map[string]struct{ url, addr string }{
		"redis":    {"redis://ann:" + marker + "@" + redis.Addr() + "/0?mutex=app:lock:x", redis.Addr()},
		"postgres": {postgres.URLFor("ann", marker, "postgres") + "&mutex=4242", postgres.Addr()},
		"ydb":      {"grpc://ann:" + marker + "@" + ydb.Endpoint(0) + "/local?node=" + ydbNode + "&semaphore=quota", ydb.Endpoint(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := holds(t, "acquire", "--write", "--yes", "--wait", "10s", c.url)
			code := ends(t, h.cmd)
			if text := h.errs.String(); code != exitNoAnswer || !strings.Contains(text, "refused: ann lacks a right at "+c.addr) || strings.Contains(text, marker) {
				t.Errorf("exit code %d: %s", code, text)
			}
		})
	}
}
