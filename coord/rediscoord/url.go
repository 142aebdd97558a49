package rediscoord

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/address"
	"coordtop/internal/certs"
)

// ParseURL reads
//
//	redis://[user[:password]@]host[:6379][/db]
//	redis+sentinel://[user[:password]@]host[:26379],host.../master[/db]
//	redis+cluster://[user[:password]@]host[:6379],host...
//
// and the same with rediss for TLS. Parameters: db, master, client_name, protocol,
// dial_timeout and read_timeout (as 1.5s), sentinel_user, sentinel_password, and with TLS
// ca, cert, key (files) and server_name. An unknown parameter is an error that wraps
// address.ErrParameter. User and password are percent-decoded. No error repeats anything of the URL
// but the names of known parameters.
func ParseURL(raw string) (ClientOptions, error) {
	o, err := parseURL(raw)
	if err != nil {
		return ClientOptions{}, fmt.Errorf("reading the Redis URL: %w", err)
	}
	return o, nil
}

func parseURL(raw string) (ClientOptions, error) {
	var o ClientOptions
	u, err := address.Split(raw)
	if unknown := o.setScheme(u.Scheme); unknown != nil {
		return o, unknown
	}
	o.User, o.Password = u.User, u.Password
	if err == nil {
		err = o.setHosts(u.Hosts)
	}
	if err == nil {
		err = o.setPath(strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/"))
	}
	if err == nil {
		err = address.Parameters(u.Query, o.setParameter)
	}
	if err == nil {
		err = o.check()
	}
	return o, err
}

func (o *ClientOptions) setScheme(scheme string) error {
	base, topology, _ := strings.Cut(strings.ToLower(scheme), "+")
	o.Topology = Topology(topology)
	if !slices.Contains([]Topology{Single, Sentinel, Cluster}, o.Topology) || base != "redis" && base != "rediss" {
		return errors.New("its scheme is unknown: write redis, rediss, redis+sentinel or redis+cluster")
	}
	if base == "rediss" {
		o.TLS = &certs.Files{}
	}
	return nil
}

func (o *ClientOptions) setHosts(list string) (err error) {
	port := "6379"
	if o.Topology == Sentinel {
		port = "26379"
	}
	o.Addrs, err = address.Hosts(list, port, "redis://host:6379/0")
	return err
}

// setPath reads db, or master, or master/db.
func (o *ClientOptions) setPath(path string) error {
	if path == "" {
		return nil
	}
	first, second, both := strings.Cut(path, "/")
	if o.Topology != Sentinel {
		if both {
			return errors.New("a bad path: it is the number of the DB, as in redis://host:6379/0")
		}
		return o.setDB(first)
	}
	if _, err := strconv.Atoi(first); err == nil && !both {
		return o.setDB(first) // the master is then a parameter
	}
	master, err := url.PathUnescape(first)
	if err != nil {
		return errors.New("a bad % in the master's name: write % itself as %25")
	}
	o.Master = master
	if both {
		return o.setDB(second)
	}
	return nil
}

func (o *ClientOptions) setDB(text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return errors.New("a bad DB: it is a number from 0 on, as in redis://host:6379/0")
	}
	o.DB = int(n)
	return nil
}

func (o *ClientOptions) setParameter(name, value string) (err error) {
	switch name {
	case "db":
		return o.setDB(value)
	case "master":
		o.Master = value
	case "client_name":
		o.Name = value
	case "protocol":
		if o.Protocol, err = strconv.Atoi(value); err != nil {
			return errors.New("a bad protocol: it is 2 or 3")
		}
	case "dial_timeout":
		o.DialTimeout, err = address.Timeout(name, value)
	case "read_timeout":
		o.ReadTimeout, err = address.Timeout(name, value)
	case "sentinel_user":
		o.SentinelUser = value
	case "sentinel_password":
		o.SentinelPassword = value
	case "ca", "cert", "key", "server_name":
		return o.TLS.Set(name, value, "rediss instead of redis")
	default:
		return fmt.Errorf("%w: of the connection there are db, master, client_name, protocol, dial_timeout, read_timeout, "+
			"sentinel_user, sentinel_password and with rediss ca, cert, key, server_name", address.ErrParameter)
	}
	return err
}
