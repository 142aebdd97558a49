package ydbcoord_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// client makes a client that is closed at the end of the test.
func client(t testing.TB, url string) *ydbcoord.Client {
	t.Helper()
	o, err := ydbcoord.ParseURL(url)
	noError(t, err)
	c, err := ydbcoord.NewClient(o)
	noError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// certificate makes one for 127.0.0.1 that signs itself, and a file to trust it by.
func certificate(t *testing.T) (*tls.Config, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	noError(t, err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	noError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, NextProtos: []string{"h2"}}, file
}

// sayer is a server that says the same to everybody.
func sayer(t *testing.T, text string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				_, _ = io.WriteString(c, text)
				_, _ = io.Copy(io.Discard, c) // until they have read it and go
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

func TestWhatIsWrongWithAnAddressIsToldApart(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	silent := listener.Addr().String() // connections are taken by the system, and nobody answers
	t.Cleanup(func() { listener.Close() })
	config, _ := certificate(t)
	encrypted := start(t, ydbtest.Options{TLS: config})
	refusing := start(t, ydbtest.Options{})
	refusing.Refuse(0, true)
	other := sayer(t, "-ERR unknown command\r\n")
	hungUp := func(err error) bool {
		return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	}
	isDNS := func(err error) bool { _, ok := errors.AsType[*net.DNSError](err); return ok }
	isCertificate := func(err error) bool {
		_, ok := errors.AsType[*tls.CertificateVerificationError](err)
		return ok && errors.Is(err, coord.ErrRefused)
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for what, c := range map[string]struct {
		url  string
		want func(error) bool
	}{
		"nobody listens":                {"grpc://" + localserver.RefusingForTest(t) + "/local", is(syscall.ECONNREFUSED)},
		"no such name":                  {"grpc://coordtop.invalid:1/local", isDNS},
		"a certificate nobody trusts":   {encrypted.URL(0), isCertificate},
		"silent":                        {"grpc://" + silent + "/local", is(ydbcoord.ErrSilent)},
		"TLS that was not asked for":    {"grpc://" + encrypted.Endpoint(0) + "/local", is(ydbcoord.ErrWantsTLS)},
		"closes at once":                {"grpc://" + refusing.Endpoint(0) + "/local", hungUp},
		"another language":              {"grpc://" + other + "/local", is(ydbcoord.ErrForeign)},
		"silent, no discovery":          {"grpc://" + silent + "/local?discovery=off", is(ydbcoord.ErrSilent)},
		"silent, encrypted":             {"grpcs://" + silent + "/local", is(context.DeadlineExceeded)},
		"a file of authorities missing": {encrypted.URL(0) + "?ca=/does/not/exist", is(coord.ErrInvalid)},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := client(t, c.url).Ping(ctx)
			if !c.want(err) {
				t.Errorf("pinging: %v", err)
			}
			if err != nil && (len(err.Error()) > 300 || strings.Contains(err.Error(), ".go")) {
				t.Errorf("not an error for people: %v", err)
			}
		})
	}
}

func TestEncryptedConnectionWorksForThoseWhoTrustIt(t *testing.T) {
	t.Parallel()
	config, ca := certificate(t)
	b := start(t, ydbtest.Options{TLS: config})
	o, err := ydbcoord.ParseURL(b.URL(0) + "?ca=" + ca)
	noError(t, err)
	loaded, err := o.TLSFiles.Load()
	noError(t, err)
	o.TLS, o.TLSFiles = loaded, nil
	byConfig, err := ydbcoord.NewClient(o)
	noError(t, err)
	t.Cleanup(func() { byConfig.Close(context.Background()) })
	for how, c := range map[string]*ydbcoord.Client{"by files": client(t, b.URL(0)+"?ca="+ca), "by a config": byConfig} {
		if err := c.Check(t.Context()); err != nil {
			t.Errorf("checking %s: %v", how, err)
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("pinging %s: %v", how, err)
		}
	}
}

func TestUsersAreLetInByPasswordAndRefusedForGood(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{Users: map[string]ydbtest.User{
		"ann": {Password: "pw"}, "blind": {Password: "pw", Deny: ydbtest.Read}, "mute": {Password: "pw", Deny: ydbtest.Write},
	}})
	login := func(who string) string { return strings.Replace(b.URL(0), "://", "://"+who+"@", 1) }
	if err := client(t, login("ann:pw")).Ping(t.Context()); err != nil {
		t.Errorf("with the password: %v", err)
	}
	for _, who := range []string{"ann:wrong", "nobody:pw"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := client(t, login(who)).Ping(ctx); !errors.Is(err, coord.ErrRefused) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("as %s: %v, want ErrRefused", who, err)
		}
	}
	open := func(who string) *ydbcoord.Session {
		t.Helper()
		d, err := client(t, login(who)).Driver(node, ydbcoord.Options{})
		noError(t, err)
		s, err := d.OpenSession(t.Context(), coord.SessionOptions{})
		noError(t, err)
		t.Cleanup(s.Abandon)
		return s
	}
	f := open("blind:pw").Follow()
	noError(t, f.Add("s"))
	if state, err := f.Next(t.Context()); err != nil || !errors.Is(state.Err, coord.ErrRefused) {
		t.Errorf("without the right to read: %+v, %v", state, err)
	}
	if _, _, err := open("mute:pw").Acquire(t.Context(), mutex("m")); !errors.Is(err, coord.ErrRefused) {
		t.Errorf("without the right to write: %v", err)
	}
}

func TestSessionMovesToAnotherFrontEndWhenItsOwnIsGone(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{AdvertiseAll: true})
	d, err := client(t, b.URL(0)).Driver(node, ydbcoord.Options{})
	noError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := coord.Open(ctx, d, coord.SessionOptions{TTL: patience})
	noError(t, err)
	l, err := s.Mutex("m", coord.MutexOptions{}).Lock(ctx)
	noError(t, err)
	for i := range 2 { // wherever the stream is
		b.Refuse(i, true)
		if err := b.Await(ctx, func() bool { return b.Sessions(node)[0].Attached && b.Streams() == 1 }); err != nil {
			t.Fatalf("front end %d is gone: %v", i, err)
		}
		if _, err := s.Mutex("m", coord.MutexOptions{}).Lock(ctx); !errors.Is(err, coord.ErrClaimed) {
			t.Errorf("got %v", err)
		}
		if _, err := s.Semaphore("none", coord.SemaphoreOptions{}).Describe(ctx); !errors.Is(err, coord.ErrNotFound) {
			t.Errorf("front end %d is gone: %v", i, err)
		}
		b.Refuse(i, false)
	}
	if l.Check() != nil {
		t.Errorf("the lease: %v", l.Check())
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestClosedClientConnectsNoMore(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	c := client(t, b.URL(0))
	for range 2 {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := c.Ping(t.Context()); !errors.Is(err, coord.ErrClosed) {
		t.Errorf("pinging: %v", err)
	}
}

// Whether a session is lucky is drawn by lot, so there are many.
func TestSessionsLeaveAFrontEndThatSaysNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 18 s")
	}
	const ttl = 36 * time.Second // half of it is left for three tries to attach, of which one leads elsewhere for sure
	b := start(t, ydbtest.Options{AdvertiseAll: true})
	c := client(t, b.URL(0))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var leases []*coord.Lease
	for i := range 24 {
		d, err := c.Driver(node, ydbcoord.Options{})
		noError(t, err)
		s, err := coord.Open(ctx, d, coord.SessionOptions{TTL: ttl})
		noError(t, err)
		t.Cleanup(s.Abandon)
		l, err := s.Mutex(fmt.Sprint("m", i), coord.MutexOptions{}).Lock(ctx)
		noError(t, err)
		leases = append(leases, l)
	}
	b.BlackHole(0, true)
	quiet := time.Now()
	for i, l := range leases { // each was renewed twice since, so it is elsewhere
		for !l.TrustedUntil().After(quiet.Add(ttl + 3*ttl/8)) {
			select {
			case <-l.Context().Done():
				t.Fatalf("lease %d: %v", i, context.Cause(l.Context()))
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	b.BlackHole(0, false)
}
