package localserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
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

// writeCertificates makes an authority, a server's certificate for 127.0.0.1 and
// localhost and a client's, and returns the client's side as files and as configuration.
func writeCertificates(dir string) (TLSFiles, *tls.Config, error) {
	in := func(name string) string { return filepath.Join(dir, name) }
	files := TLSFiles{CA: in("ca.crt"), Cert: in("client.crt"), Key: in("client.key")}
	var failed error
	issued := func(ca *certificate, name, certFile, keyFile string, usage ...x509.ExtKeyUsage) *certificate {
		c, err := issue(ca, "coordtop test "+name, usage)
		if err == nil {
			err = c.write(certFile, keyFile)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("making the certificate of the %s: %w", name, err))
		}
		return c
	}
	ca := issued(nil, "authority", files.CA, in("ca.key"))
	issued(ca, "server", in(serverCertFile), in(serverKeyFile), x509.ExtKeyUsageServerAuth)
	client := issued(ca, "client", files.Cert, files.Key, x509.ExtKeyUsageClientAuth)
	if failed != nil {
		return TLSFiles{}, nil, failed
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	return files, &tls.Config{
		RootCAs:      roots,
		ServerName:   loopback,
		Certificates: []tls.Certificate{{Certificate: [][]byte{client.cert.Raw}, PrivateKey: client.key}},
	}, nil
}

// certificate is a certificate with its key.
type certificate struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate that ca signed; nil: an authority. It is valid for a year: no demo
// and no test runs longer.
func issue(ca *certificate, name string, usage []x509.ExtKeyUsage) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  usage,
		IPAddresses:  []net.IP{net.ParseIP(loopback)},
		DNSNames:     []string{"localhost"},
	}
	if ca == nil {
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage |= x509.KeyUsageCertSign
		ca = &certificate{cert: template, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, key.Public(), ca.key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &certificate{cert: cert, key: key}, err
}

func (c *certificate) write(certFile, keyFile string) error {
	der, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		return err
	}
	return errors.Join(writePEM(certFile, "CERTIFICATE", c.cert.Raw), writePEM(keyFile, "PRIVATE KEY", der))
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
