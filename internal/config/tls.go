package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS names the files of a TLS connection. The zero TLS leaves the choice to the URL.
type TLS struct {
	CA         string // PEM file of the authorities to trust; "": the system's
	Cert, Key  string // PEM files that prove who we are; both or none
	ServerName string // expected in the server's certificate; "": the host of the URL
}

// Load reads the files, for a backend whose client has no such names of its own. The zero
// TLS trusts the system's authorities.
func (t TLS) Load() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the TLS authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the TLS authorities: no certificate in %s", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("reading the TLS certificate and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
