package rediscoord

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/certs"
)

// Topology is how the servers of a Redis are arranged, as the scheme of a URL says it.
type Topology string

// The topologies.
const (
	Single   Topology = ""         // one server
	Sentinel Topology = "sentinel" // a master that Sentinels know
	Cluster  Topology = "cluster"  // masters that share the keys: see ErrCluster
)

// ClientOptions say where a Redis is and how to talk to it. They hold secrets: formatting
// and logging them shows the address only.
type ClientOptions struct {
	Topology Topology
	// Addrs are host:port: the server, or the Sentinels.
	Addrs []string
	// Master is the master's name at the Sentinels.
	Master string
	// DB is the number of the database.
	DB int
	// User and Password log in at the servers. User "": the default user.
	User, Password string
	// SentinelUser and SentinelPassword log in at the Sentinels.
	SentinelUser, SentinelPassword string
	// TLS is nil for plain text. Its files are read when the client is made. It is used
	// towards Sentinels too.
	TLS *certs.Files
	// Name is what the server lists the connections as (CLIENT SETNAME), as far as the
	// user may set it. "": "coordtop".
	Name string
	// PoolSize is the most connections a node. 0: the library's default.
	PoolSize int
	// DialTimeout bounds making a connection. 0: 2 s.
	DialTimeout time.Duration
	// ReadTimeout bounds sending a command and reading its reply, each. 0: 3 s. A context
	// that ends earlier is obeyed where it has a deadline; a cancel is seen only between
	// two commands.
	ReadTimeout time.Duration
	// Protocol is the version of RESP, 2 or 3. 0: 3, or 2 where the server knows no 3.
	Protocol int
	// Refusals remembers what the user has no right to, from one client to the next. Nil: each
	// connection asks anew for what it can do without.
	Refusals *Refusals
	// OnConnect is called on every new connection after login, also on those to Sentinels, of
	// NewClient. Nil: nothing is done.
	OnConnect func(ctx context.Context, c *redis.Conn) error
}

// String returns the address without user and password.
func (o ClientOptions) String() string {
	scheme, path := "redis", strconv.Itoa(o.DB)
	if o.TLS != nil {
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

// GoString returns what String returns.
func (o ClientOptions) GoString() string { return o.String() }

// LogValue returns what String returns.
func (o ClientOptions) LogValue() slog.Value { return slog.StringValue(o.String()) }
