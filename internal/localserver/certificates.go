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
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// TLSFiles are the paths of the PEM files that a client of a TLS server needs.
type TLSFiles struct {
	CA        string // the authority that signed the server's certificate
	Cert, Key string // the client's own, signed by the same authority
}

// writeCertificate makes a certificate for a year, and returns it as files and as a client's configuration. The same
// self-signed certificate serves as the authority, as the client's, and as the server's at 127.0.0.1 and localhost.
func writeCertificate(dir string) (TLSFiles, *tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return TLSFiles{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "coordtop test"},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses:  []net.IP{net.ParseIP(loopback)},
		DNSNames:     []string{"localhost"},
		IsCA:         true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return TLSFiles{}, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return TLSFiles{}, nil, err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	files := TLSFiles{Cert: filepath.Join(dir, "server.crt"), Key: filepath.Join(dir, "server.key")}
	files.CA = files.Cert
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	config := &tls.Config{RootCAs: roots, ServerName: loopback, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return files, config, errors.Join(
		os.WriteFile(files.Cert, cert, 0o600),
		os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
