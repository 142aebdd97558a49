package rediscoord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/certs"
	"coordtop/internal/ground/address"
)

// Topology is the arrangement of the servers of a Redis. The scheme of a URL names it.
type Topology string

// The topologies.
const (
	Single   Topology = ""         // one server
	Sentinel Topology = "sentinel" // a master that Sentinels know
	Cluster  Topology = "cluster"  // masters that share the keys: see ErrCluster
)

// ClientOptions are the address of a Redis and the options of connections to it. They hold secrets: formatting
// and logging them shows the address only.
type ClientOptions struct {
	Topology Topology
	// Addrs are host:port: the server, or the Sentinels. The path of a Unix socket is one server.
	Addrs []string
	// Master is the master's name at the Sentinels.
	Master string
	// DB is the number of the database.
	DB int
	// User and Password log in at the servers. If User is "", they log in as the default user.
	User, Password string
	// SentinelUser and SentinelPassword log in at the Sentinels.
	SentinelUser, SentinelPassword string
	// TLS is the encryption of connections to servers and Sentinels. If it is nil, TLSFiles describe it; their files
	// are read when the client is made. Both nil: plain text.
	TLS      *tls.Config
	TLSFiles *certs.Files
	// Name is the name of the connections in the server's list (CLIENT SETNAME), if the user has the right to set it.
	// The default is the session's description, or "coordtop".
	Name string
	// PoolSize is the maximum number of connections to a server. 0: the library's default.
	PoolSize int
	// DialTimeout bounds making a connection. 0: 2 s.
	DialTimeout time.Duration
	// ReadTimeout bounds the sending of a command, and also the reading of its reply. 0: 3 s. An earlier deadline of
	// the context bounds them as well, but a cancel is noticed only between two commands.
	ReadTimeout time.Duration
	// Protocol is the version of RESP, 2 or 3. 0: 3 if the server knows it, else 2.
	Protocol int
	// Refusals remembers, for several clients, the commands that the user may not send. If it is nil, each connection
	// tries all optional commands.
	Refusals *Refusals
	// OnConnect is called by a client of NewClient on every new connection after login, including those to Sentinels.
	// It may be nil.
	OnConnect func(ctx context.Context, c *redis.Conn) error
}

// String returns the address without user and password.
func (o ClientOptions) String() string {
	if len(o.Addrs) == 1 && address.Network(o.Addrs[0]) == "unix" {
		return fmt.Sprintf("unix://%s?db=%d", o.Addrs[0], o.DB)
	}
	scheme, path := "redis", strconv.Itoa(o.DB)
	if o.TLS != nil || o.TLSFiles != nil {
		scheme = "rediss"
	}
	if o.Topology != Single {
		scheme += "+" + string(o.Topology)
	}
	if o.Master != "" {
		path = o.Master + "/" + path
	}
	return fmt.Sprintf("%s://%s/%s", scheme, strings.Join(o.Addrs, ","), path)
}

// GoString returns the text of String.
func (o ClientOptions) GoString() string { return o.String() }

// LogValue returns the text of String.
func (o ClientOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }

// ParseURL reads
//
//	redis://[user[:password]@]host[:6379][/db]
//	redis+sentinel://[user[:password]@]host[:26379],host.../master[/db]
//	redis+cluster://[user[:password]@]host[:6379],host...
//	unix://[user[:password]@]/path/of/socket[?db=0]
//
// or the first three with rediss for TLS, and with valkey and valkeys. Parameters: db, master, client_name, protocol,
// dial_timeout and read_timeout (for example 1.5s), sentinel_user, sentinel_password, and with TLS ca, cert, key
// (files) and server_name. An unknown parameter is an error. User and password are
// percent-decoded. No error repeats anything of the URL but the names of known parameters.
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
		err = o.setPlace(u)
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
	if scheme == "unix" {
		return nil
	}
	base, topology, several := strings.Cut(scheme, "+")
	base = strings.Replace(base, "valkey", "redis", 1) // same protocol; valkeys becomes rediss
	o.Topology = Topology(topology)
	if several != slices.Contains([]Topology{Sentinel, Cluster}, o.Topology) || base != "redis" && base != "rediss" {
		return errors.New("its scheme is unknown: write redis, rediss, redis+sentinel, redis+cluster or unix")
	}
	if base == "rediss" {
		o.TLSFiles = &certs.Files{}
	}
	return nil
}

// setPlace reads the hosts and the path.
func (o *ClientOptions) setPlace(u address.URL) (err error) {
	if u.Scheme == "unix" {
		return o.setSocket(u)
	}
	port := "6379"
	if o.Topology == Sentinel {
		port = "26379"
	}
	if o.Addrs, err = address.Hosts(u.Hosts, port, "redis://host:6379/0"); err != nil {
		return err
	}
	return o.setPath(strings.TrimSuffix(strings.TrimPrefix(u.Path, "/"), "/"))
}

// longestSocket is the length in bytes of the longest path of a socket. sun_path has 104 bytes on macOS and 108 on
// Linux, including a zero at the end.
const longestSocket = 103

// setSocket reads the path of a socket. It refuses a blank in the path, because the server names our connections by the
// path, in a list with blanks.
func (o *ClientOptions) setSocket(u address.URL) error {
	path, err := url.PathUnescape(u.Path)
	if err != nil || u.Hosts != "" || len(path) < 2 || len(path) > longestSocket || strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' }) {
		return fmt.Errorf("a bad path of a socket: it begins with /, has no blanks and %d bytes at most, as in unix:///run/redis.sock?db=0", longestSocket)
	}
	o.Addrs = []string{path}
	return nil
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
		return o.setDB(first) // then the master is a parameter
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
	texts := map[string]*string{"master": &o.Master, "client_name": &o.Name, "sentinel_user": &o.SentinelUser, "sentinel_password": &o.SentinelPassword}
	if text := texts[name]; text != nil {
		*text = value
		return nil
	}
	switch name {
	case "db":
		return o.setDB(value)
	case "protocol":
		if o.Protocol, err = strconv.Atoi(value); err != nil {
			return errors.New("a bad protocol: it is 2 or 3")
		}
	case "dial_timeout":
		o.DialTimeout, err = address.Timeout(name, value)
	case "read_timeout":
		o.ReadTimeout, err = address.Timeout(name, value)
	case "ca", "cert", "key", "server_name":
		return o.TLSFiles.Set(name, value, "rediss instead of redis")
	default:
		return fmt.Errorf("%w: of the connection there are db, master, client_name, protocol, dial_timeout, read_timeout, "+
			"sentinel_user, sentinel_password and with rediss ca, cert, key, server_name", address.ErrParameter)
	}
	return err
}
