package ydbcoord

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/internal/ground/address"
	"coordtop/internal/ground/failure"
)

// ParseURL reads
//
//	grpc://[user[:password]@]host[:2136]/database[?parameters]
//
// or grpcs for TLS (port 2135). The database may also be a parameter of that name, as in YDB's own connection strings.
// The other parameters are node (path of the coordination node; without a leading slash it is relative to the
// database), discovery (off: use only this address), access_token, and with TLS ca, cert, key (files) and server_name.
// An unknown parameter is an error. User and password are percent-decoded. Errors wrap
// coord.ErrInvalid, without its text, and contain nothing of the URL except the names of known parameters.
func ParseURL(raw string) (ClientOptions, error) {
	o, err := parseURL(raw)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return ClientOptions{}, fmt.Errorf("reading the YDB URL: %w", invalid(err))
	}
	return o, nil
}

// invalid returns err with its text, but wrapping coord.ErrInvalid. The text says what is wrong or what to write
// instead.
func invalid(err error) error { return failure.With(err, coord.ErrInvalid) }

func parseURL(raw string) (ClientOptions, error) {
	var o ClientOptions
	u, err := address.Split(raw)
	port := "2136"
	switch u.Scheme {
	case "grpc":
	case "grpcs":
		o.TLSFiles, port = &certs.Files{}, "2135"
	default:
		return o, errors.New("its scheme is unknown: write grpc://host:2136/database, or grpcs")
	}
	switch {
	case err != nil:
		return o, err
	case !utf8.ValidString(raw):
		return o, errors.New("it is not UTF-8: write such bytes percent-encoded")
	case u.Login && u.User == "":
		return o, errors.New("there is an @ but no user before it")
	}
	o.User, o.Password = u.User, u.Password
	if o.Address, err = address.Host(u.Hosts, port, "grpc://host:2136/database"); err != nil {
		return o, err
	}
	path, err := url.PathUnescape(u.Path)
	if err != nil {
		return o, errors.New("a bad % in the database: write % itself as %25")
	}
	if err := o.setDatabase(path); err != nil {
		return o, err
	}
	return o, address.Parameters(u.Query, o.setParameter)
}

func (o *ClientOptions) setDatabase(path string) error {
	path = strings.Trim(path, "/")
	switch {
	case path == "":
		return nil
	case o.Database != "" && o.Database != "/"+path:
		return errors.New("two databases, in the path and as a parameter: which of them?")
	case !utf8.ValidString(path):
		return errors.New("the database is not UTF-8")
	}
	o.Database = "/" + path
	return nil
}

func (o *ClientOptions) setParameter(name, value string) error {
	switch name {
	case "database":
		return o.setDatabase(value)
	case "node":
		o.Node = value
	case "access_token":
		o.AccessToken = value
	case "discovery":
		if value != "on" && value != "off" {
			return errors.New("a bad discovery: it is on or off")
		}
		o.NoDiscovery = value == "off"
	case "ca", "cert", "key", "server_name":
		return o.TLSFiles.Set(name, value, "grpcs instead of grpc")
	default:
		return fmt.Errorf("%w: of the connection there are database, discovery, access_token and with grpcs ca, cert, key, server_name", address.ErrParameter)
	}
	return nil
}
