package dflockcoord

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/address"
)

const (
	defaultServer  = "127.0.0.1:6388"
	defaultIdleCut = 23 * time.Second // --read-timeout the server's default --read-timeout
	defaultWait    = 10 * time.Minute
)

// ClientOptions are the addresses of the servers and the options of connections to them. The zero value means one
// server at 127.0.0.1:6388, in plain text.
type ClientOptions struct {
	Servers        []string      // host:port; the order decides which server has a key
	TLS            *tls.Config   // nil: TLSFiles
	TLSFiles       *certs.Files  // read by New. TLS and TLSFiles nil: plain text
	Secret         string        // --auth-token of the servers; "": no login
	ConnectTimeout time.Duration // bounds connecting, TLS handshake and login together. 0: 5 s
	AnswerTimeout  time.Duration // bounds each request; the wait of a claim is added. 0: 5 s
	// Lease, Renew and IdleCut are parameters of a URL for drivers and sources: the lease of a grant, the pause between
	// two renewals, and the --read-timeout of the servers. 0: not set.
	Lease, Renew, IdleCut time.Duration
	// OwnSharding reports whether clients choose the server of a key by a function of their own instead of by the hash of
	// the key. A driver of several servers then needs Options.Shard.
	OwnSharding bool
	// Dial makes the network connections. If it is nil, they are TCP.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Dialers returns a Dialer for each server, in the order of Servers. It reads the certificates.
func (o ClientOptions) Dialers() ([]dflockwire.Dialer, error) {
	config, err := certs.Config(o.TLS, o.TLSFiles)
	if err != nil {
		return nil, err
	}
	servers := o.Servers
	if len(servers) == 0 {
		servers = []string{defaultServer}
	}
	var all []dflockwire.Dialer
	for _, addr := range servers {
		all = append(all, dflockwire.Dialer{
			Addr: addr, TLS: config, Secret: o.Secret, ConnectTimeout: o.ConnectTimeout, AnswerTimeout: o.AnswerTimeout, Dial: o.Dial,
		})
	}
	return all, nil
}

// Options configure a driver. The zero value is usable.
type Options struct {
	// Lease is the lease of sessions that ask for no TTL. 0: the server's default, which is 33 s unless configured.
	Lease time.Duration
	// RenewEvery is the longest pause between two renewals of sessions that set none. The default, and the maximum, is
	// half of the window. The core renews earlier if there would be no time for a second try.
	RenewEvery time.Duration
	// IdleCut is the --read-timeout of the servers. 0: 23 s.
	IdleCut time.Duration
	// Learned holds the shortest silence, in nanoseconds, after which a server ended a connection of this driver or of
	// others that share Learned; 0: none yet. Windows are shorter than that. If it is nil, the driver has its own.
	Learned *atomic.Int64
	// LongestWait bounds the wait of a claim in the queue of a server before 2.0; the claim then joins the queue
	// again. See Waiting in the package's comment. 0: 10 minutes. At least 1 s.
	LongestWait time.Duration
	// Shard returns the index of a key's server, from 0 to servers-1. If it is nil, dflockwire.Shard is used.
	Shard func(key string, servers int) int
	// OnGranted is called once for each grant, with a nonce for each permit, before the claim returns. Whoever has a
	// nonce can release its permit. It must not block. It may be nil.
	OnGranted func(key string, nonces []string)
	// OnLost is called once for each grant that the server ended or whose connection ended. It must not block. It may
	// be nil.
	OnLost func(key, nonce string, cause error)
}

// Caps returns the abilities of every dflockd server; a session may have more, if its server has.
func (o Options) Caps() coord.Caps {
	return coord.Caps{Mutex: true, Semaphore: true, Election: true, FIFO: true}
}

func (o Options) withDefaults() (Options, error) {
	o.IdleCut = cmp.Or(o.IdleCut, defaultIdleCut)
	o.LongestWait = cmp.Or(o.LongestWait, defaultWait)
	if o.Learned == nil {
		o.Learned = new(atomic.Int64)
	}
	if o.Shard == nil {
		o.Shard = dflockwire.Shard
	}
	switch {
	case o.IdleCut < 0 || o.Lease < 0 || o.RenewEvery < 0:
		return o, fmt.Errorf("a negative lease, pause or idle cut: %w", coord.ErrInvalid)
	case o.LongestWait < time.Second:
		return o, fmt.Errorf("a longest wait of %v: it is at least 1 s: %w", o.LongestWait, coord.ErrInvalid)
	}
	return o, nil
}

// ParseURL reads
//
//	dflockd://[:token@]host[:6388],host...
//
// or the same with dflockds for TLS. Parameters: dial_timeout and read_timeout (for example 1.5s), lease (whole
// seconds), renew and idle, which is the --read-timeout of the servers, sharding (crc32 or custom), and with TLS ca,
// cert, key (files) and server_name. An unknown parameter is an error that wraps address.ErrParameter. The auth token
// is percent-decoded. No error repeats anything of the URL but the names of known parameters.
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
		o.TLSFiles = &certs.Files{}
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
	case "lease":
		if o.Lease, err = address.Timeout(name, value); err == nil && o.Lease%time.Second != 0 {
			err = errors.New("lease= is a number of whole seconds, as lease=30s")
		}
	case "renew":
		o.Renew, err = address.Timeout(name, value)
	case "idle":
		o.IdleCut, err = address.Timeout(name, value)
	case "sharding":
		if o.OwnSharding = value == "custom"; !o.OwnSharding && value != "crc32" {
			err = errors.New("sharding= is crc32, as clients do by default, or custom: by a function of their own")
		}
	case "ca", "cert", "key", "server_name":
		return o.TLSFiles.Set(name, value, "dflockds instead of dflockd")
	default:
		return fmt.Errorf("%w: of the connection there are dial_timeout, read_timeout, lease, renew, idle, sharding and with dflockds ca, cert, key, server_name", address.ErrParameter)
	}
	return err
}
