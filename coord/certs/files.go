package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
)

// Files names the files of a TLS connection. The zero Files trusts the system's
// authorities and shows no certificate of ours.
type Files struct {
	CA string `yaml:"ca"` // PEM file of the authorities to trust; "": the system's
	// Cert and Key are PEM files that prove who we are; both or none.
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server_name"` // expected in the server's certificate; "": the host that is dialled
}

// Set sets the field of the URL parameter name: ca, cert, key or server_name. It ignores any other name. A nil f stands
// for a connection without TLS; the error says what to write instead.
func (f *Files) Set(name, value, write string) error {
	if f == nil {
		return fmt.Errorf("the parameter %q is for TLS: write %s", name, write)
	}
	switch name {
	case "ca":
		f.CA = value
	case "cert":
		f.Cert = value
	case "key":
		f.Key = value
	case "server_name":
		f.ServerName = value
	}
	return nil
}

// Over returns f with its empty fields taken from below.
func (f Files) Over(below Files) Files {
	if f.Cert == "" && f.Key == "" { // they belong together
		f.Cert, f.Key = below.Cert, below.Key
	}
	f.CA, f.ServerName = cmp.Or(f.CA, below.CA), cmp.Or(f.ServerName, below.ServerName)
	return f
}

// most bounds each file: an operating system's own authorities are 250 kB.
const most = 2 << 20

// Config returns c, or else what the files say; nil if both are nil.
func Config(c *tls.Config, f *Files) (*tls.Config, error) {
	if c != nil || f == nil {
		return c, nil
	}
	return f.Load()
}

// Load reads the files. Its errors name only files that exist, and repeat nothing of their content.
func (f Files) Load() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName}
	if f.CA != "" {
		pem, err := read(f.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the TLS authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the TLS authorities: no certificate in %s", format.Clean(f.CA, 200))
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("a TLS certificate and its key belong together: only one of them is given")
	}
	if f.Cert != "" {
		pair, err := f.pair()
		if err != nil {
			return nil, fmt.Errorf("reading the TLS certificate and key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (f Files) pair() (tls.Certificate, error) {
	cert, err := read(f.Cert)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cert: %w", err)
	}
	key, err := read(f.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("key: %w", err)
	}
	return tls.X509KeyPair(cert, key)
}

func read(path string) ([]byte, error) {
	data, _, err := files.Read(context.Background(), path, most)
	return data, err
}
