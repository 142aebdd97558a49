package pgwire

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Parse reads an address as libpq does: a URL or keywords, completed by PG* variables, password files and service
// files. It leaves out parameters that mean nothing to us; notes has a sentence about each. The error repeats nothing
// of the address that could be a secret.
func Parse(address string) (config *pgconn.Config, notes []string, err error) {
	config, err = pgconn.ParseConfig(address)
	if err != nil {
		return nil, nil, unreadable(address)
	}
	for _, name := range slices.Sorted(maps.Keys(config.RuntimeParams)) {
		if why, known := ignored[strings.ToLower(name)]; known {
			delete(config.RuntimeParams, name)
			if why != "" {
				notes = append(notes, fmt.Sprintf("the parameter %s= is ignored: %s", Line(name), why))
			}
		}
	}
	if SeveralHosts(config) && config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	return config, notes, nil
}

const (
	ownKeepalives = "coordtop sets its own keepalives"
	notTaken      = "psql has it, coordtop does not"
)

// ignored maps parameters that servers refuse, or would understand as something else, to the reason in the note; "" if
// there is no note. Open leaves out others that a server refuses.
var ignored = map[string]string{
	"application_name":          "", // ours is our identity
	"fallback_application_name": "",
	"client_encoding":           "coordtop reads UTF-8",
	"keepalives":                ownKeepalives,
	"keepalives_idle":           ownKeepalives,
	"keepalives_interval":       ownKeepalives,
	"keepalives_count":          ownKeepalives,
	"tcp_user_timeout":          ownKeepalives,
	"schema":                    "an advisory lock belongs to a database, not to a schema",
	"currentschema":             "an advisory lock belongs to a database, not to a schema",
	"gssencmode":                notTaken,
	"gssdelegation":             notTaken,
	"gsslib":                    notTaken,
	"hostaddr":                  notTaken + ": host= is connected to",
	"load_balance_hosts":        notTaken + ": hosts are tried in turn",
	"replication":               notTaken,
	"requirepeer":               notTaken,
	"ssl_max_protocol_version":  notTaken,
	"ssl_min_protocol_version":  notTaken + ": it is at least TLS 1.2",
	"sslcompression":            notTaken,
	"sslcrl":                    notTaken,
	"sslcrldir":                 notTaken,
	"sslkeylogfile":             notTaken,
}

// errUnreadable is the error about an address that cannot be parsed. Unlike the library's errors it repeats no word of
// the address, which could be a secret.
var errUnreadable = errors.New("the address cannot be read: write it as postgres://user@host:port/database, " +
	"with / ? # @ : % in a user or a password as %2F %3F %23 %40 %3A %25")

// judged lists the parameters whose values the library checks or whose files it reads.
var judged = []string{
	"sslmode", "connect_timeout", "target_session_attrs", "port", "sslnegotiation", "sslcertmode", "channel_binding", "require_auth",
	"min_protocol_version", "max_protocol_version", "sslrootcert", "sslcert", "sslkey", "service", "servicefile",
}

// unreadable returns an error about the part of an address that the library refuses, which it finds by giving the
// library one part at a time. The error repeats only the name of a parameter.
func unreadable(address string) error {
	if _, err := pgconn.ParseConfig("postgres://localhost/"); err != nil {
		return errors.New("the environment cannot be used: check PGPORT, PGSSLMODE, PGCONNECT_TIMEOUT, PGTARGETSESSIONATTRS, " +
			"PGSERVICE and the files that PGSSLROOTCERT, PGSSLCERT, PGSSLKEY and PGSERVICEFILE name")
	}
	u, err := url.Parse(address)
	if err != nil {
		return errUnreadable
	}
	for _, name := range judged {
		value := u.Query().Get(name)
		if value == "" {
			continue
		}
		if _, err := pgconn.ParseConfig("postgres://localhost/?" + url.Values{name: {value}}.Encode()); err != nil {
			return fmt.Errorf("the address cannot be read: its parameter %s= cannot have this value, or names what cannot be used", name)
		}
	}
	return errUnreadable
}

// SeveralHosts reports whether an address names more than one server.
func SeveralHosts(c *pgconn.Config) bool { return len(Hosts(c)) > 1 }

// Hosts returns the servers of an address without duplicates: host and port, or a socket's folder.
func Hosts(c *pgconn.Config) []string {
	list := []string{HostPort(c.Host, int32(c.Port))}
	for _, f := range c.Fallbacks {
		if h := HostPort(f.Host, int32(f.Port)); !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

// HostPort joins a host and a port; a Unix socket's folder has none.
func HostPort(host string, port int32) string {
	if strings.HasPrefix(host, "/") {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// Override replaces parts of an address, for programs that store them separately. Zero fields change nothing.
type Override struct {
	User, Password string
	// Database is another database of the same server. Each database has its own advisory locks.
	Database string
	// TLS, if not nil, is required; an empty ServerName in it stands for the host.
	TLS *tls.Config
}

// Apply replaces these parts in a config.
func (o Override) Apply(c *pgconn.Config) {
	c.User, c.Password, c.Database = cmp.Or(o.User, c.User), cmp.Or(o.Password, c.Password), cmp.Or(o.Database, c.Database)
	if o.TLS != nil {
		requireTLS(c, o.TLS)
	}
}

// requireTLS makes every connection of a config use t. It removes the alternatives for the same host that use other TLS
// or none.
func requireTLS(c *pgconn.Config, t *tls.Config) {
	towards := func(host string) *tls.Config {
		own := t.Clone()
		own.ServerName = cmp.Or(own.ServerName, host)
		return own
	}
	c.TLSConfig = towards(c.Host)
	var others []*pgconn.FallbackConfig
	for _, f := range c.Fallbacks {
		if f.TLSConfig == nil || f.Host == c.Host && f.Port == c.Port {
			continue // the same host with less or other TLS
		}
		others = append(others, &pgconn.FallbackConfig{Host: f.Host, Port: f.Port, TLSConfig: towards(f.Host)})
	}
	c.Fallbacks = others
}
