package ydbsource

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coordtop/coord/certs"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// refusal connects a source that cannot, for as long as may be, and returns why.
func (r *rig) refusal(o Options, within time.Duration) error {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	o.Nodes, o.Selections = []string{app}, elections("leader")
	s := r.source(o)
	began := time.Now()
	err := s.Connect(ctx)
	r.t.Logf("told after %v: %v", time.Since(began).Round(time.Millisecond), err)
	if err == nil {
		r.t.Error("it connects")
	}
	if err := s.Close(); err != nil {
		r.t.Error(err)
	}
	return err
}

func TestConnectTellsRefusedUnresolvableAndSilentApart(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	closed := l.Addr().String()
	noError(t, l.Close())
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer silent.Close()
	for address, want := range map[string]string{
		closed:                   "nothing listens at " + closed,
		"no-such-host.invalid:1": "there is no host by the name in no-such-host.invalid:1",
		silent.Addr().String():   "no answer from ",
	} {
		o, within := r.client(), testLimit
		if o.Address = address; address == silent.Addr().String() {
			within = time.Second
		}
		err := r.refusal(Options{Client: o}, within)
		if err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, sources.ErrRefused) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// authority writes the certificate of an authority, and one that it signed for 127.0.0.1.
func authority(t *testing.T) (ca string, server *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	noError(t, err)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	noError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	return ca, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func TestTLSIsWatchedAndItsMistakesAreToldApart(t *testing.T) {
	t.Parallel()
	ca, server := authority(t)
	other, _ := authority(t)
	r := serve(t, ydbtest.Options{TLS: server}, "leader")
	o := r.client()
	for want, files := range map[string]*certs.Files{
		"signed by an authority that is not trusted: name it with ca": {CA: other},
		"is not accepted": {CA: ca, ServerName: "example.com"},
	} {
		o.TLSFiles = files
		if err := r.refusal(Options{Client: o}, testLimit); !errors.Is(err, sources.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o.TLSFiles = nil
	if err := r.refusal(Options{Client: o}, testLimit); !errors.Is(err, sources.ErrRefused) || !strings.Contains(err.Error(), "write grpcs://") {
		t.Error(err)
	}
	plain := serve(t, ydbtest.Options{})
	p := plain.client()
	p.TLSFiles = &certs.Files{CA: ca}
	if err := plain.refusal(Options{Client: p}, testLimit); err == nil || !strings.Contains(err.Error(), "grpc://") {
		t.Error(err)
	}
	o.TLSFiles = &certs.Files{CA: ca}
	began := time.Now()
	r.watch(Options{Client: o, Selections: elections("leader")}).synced()
	r.Row("", "leader", "without a leader", is(sources.StatusNoLeader))
	t.Logf("on the screen after %v", time.Since(began).Round(time.Millisecond))
}
