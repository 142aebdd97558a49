package pgwire

import (
	"cmp"
	"crypto/tls"

	"github.com/jackc/pgx/v5/pgconn"
)

// Override replaces parts of an address, for programs that keep them beside it. Zero fields
// leave what the address says.
type Override struct {
	User, Password string
	// Database is another one of the same server: advisory locks are each database's own.
	Database string
	// TLS is required then; an empty ServerName in it stands for the host.
	TLS *tls.Config
}

// Apply replaces them in a config.
func (o Override) Apply(c *pgconn.Config) {
	c.User, c.Password, c.Database = cmp.Or(o.User, c.User), cmp.Or(o.Password, c.Password), cmp.Or(o.Database, c.Database)
	if o.TLS != nil {
		requireTLS(c, o.TLS)
	}
}

// requireTLS makes every connection of a config use t. Variants of a host with other TLS
// or none are taken out.
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
