package localserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// TLSFiles are the paths of what a client of a TLS server needs, all PEM.
type TLSFiles struct {
	CA        string // the authority that signed the server's certificate
	Cert, Key string // the client's own, signed by the same authority
}

const (
	serverCertFile = "server.crt"
	serverKeyFile  = "server.key"
)

// authority is a certificate authority made for one server.
type authority struct {
	cert *x509.Certificate
	der  []byte
	key  *ecdsa.PrivateKey
}

// writeCertificates makes an authority, a server's certificate for 127.0.0.1 and
// localhost and a client's, and returns the client's side as files and as configuration.
func writeCertificates(dir string) (TLSFiles, *tls.Config, error) {
	files := TLSFiles{
		CA:   filepath.Join(dir, "ca.crt"),
		Cert: filepath.Join(dir, "client.crt"),
		Key:  filepath.Join(dir, "client.key"),
	}
	ca, err := newAuthority()
	if err != nil {
		return TLSFiles{}, nil, fmt.Errorf("making the certificate authority: %w", err)
	}
	if err := writePEM(files.CA, "CERTIFICATE", ca.der); err != nil {
		return TLSFiles{}, nil, err
	}
	server, err := ca.issue("coordtop test server", x509.ExtKeyUsageServerAuth)
	if err != nil {
		return TLSFiles{}, nil, err
	}
	if err := server.write(filepath.Join(dir, serverCertFile), filepath.Join(dir, serverKeyFile)); err != nil {
		return TLSFiles{}, nil, err
	}
	client, err := ca.issue("coordtop test client", x509.ExtKeyUsageClientAuth)
	if err != nil {
		return TLSFiles{}, nil, err
	}
	if err := client.write(files.Cert, files.Key); err != nil {
		return TLSFiles{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	config := &tls.Config{
		RootCAs:      roots,
		ServerName:   loopback,
		Certificates: []tls.Certificate{{Certificate: [][]byte{client.der}, PrivateKey: client.key}},
	}
	return files, config, nil
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := newTemplate(1, "coordtop test authority")
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, der: der, key: key}, nil
}

// newTemplate is valid for a year: no demo and no test runs longer.
func newTemplate(serial int64, name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		IPAddresses:  []net.IP{net.ParseIP(loopback)},
		DNSNames:     []string{"localhost"},
	}
}

// issued is a certificate with its key.
type issued struct {
	der []byte
	key *ecdsa.PrivateKey
}

func (a *authority) issue(name string, usage x509.ExtKeyUsage) (issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return issued{}, fmt.Errorf("making a key: %w", err)
	}
	template := newTemplate(time.Now().UnixNano(), name)
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return issued{}, fmt.Errorf("making a certificate: %w", err)
	}
	return issued{der: der, key: key}, nil
}

func (i issued) write(certFile, keyFile string) error {
	if err := writePEM(certFile, "CERTIFICATE", i.der); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return fmt.Errorf("encoding a key: %w", err)
	}
	return writePEM(keyFile, "PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("writing a certificate: %w", err)
	}
	return nil
}
