package dflockcoord

import (
	"errors"
	"fmt"
	"strings"

	"coordtop/internal/address"
	"coordtop/internal/certs"
)

// ParseURL reads
//
//	dflockd://[:token@]host[:6388],host...
//
// and the same with dflockds for TLS. Parameters: dial_timeout and read_timeout (as 1.5s), and
// with TLS ca, cert, key (files) and server_name. An unknown parameter is an error that wraps
// address.ErrParameter. The auth token is percent-decoded. No error repeats anything of the URL but the
// names of known parameters.
func ParseURL(raw string) (ClientOptions, error) {
	o, err := parseURL(raw)
	if err != nil {
		return ClientOptions{}, fmt.Errorf("reading the dflockd URL: %w", err)
	}
	return o, nil
}

func parseURL(raw string) (o ClientOptions, err error) {
	u, err := address.Split(raw)
	switch u.Scheme {
	case "dflockd":
	case "dflockds":
		o.TLS = &certs.Files{}
	default:
		return o, errors.New("its scheme is unknown: write dflockd or dflockds")
	}
	switch {
	case err != nil:
		return o, err
	case u.User != "":
		return o, errors.New("it has a user: dflockd knows only an auth token, as in dflockd://:token@host:6388")
	case strings.Trim(u.Path, "/") != "":
		return o, errors.New("it has a path: a dflockd URL ends with its servers, as in dflockd://host:6388,host2:6388")
	}
	o.Secret = u.Password
	if o.Servers, err = address.Hosts(u.Hosts, "6388", "dflockd://host:6388"); err != nil {
		return o, err
	}
	return o, address.Parameters(u.Query, o.setParameter)
}

func (o *ClientOptions) setParameter(name, value string) (err error) {
	switch name {
	case "dial_timeout":
		o.ConnectTimeout, err = address.Timeout(name, value)
	case "read_timeout":
		o.AnswerTimeout, err = address.Timeout(name, value)
	case "ca", "cert", "key", "server_name":
		return o.TLS.Set(name, value, "dflockds instead of dflockd")
	default:
		return fmt.Errorf("%w: of the connection there are dial_timeout, read_timeout and with dflockds ca, cert, key, server_name", address.ErrParameter)
	}
	return err
}
