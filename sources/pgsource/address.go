package pgsource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
)

// parseURL makes the config of a connection. Its errors repeat nothing of the URL that
// could be a secret.
func parseURL(o Options) (*pgconn.Config, error) {
	c, err := pgconn.ParseConfig(o.URL)
	if err != nil {
		return nil, badURL(err)
	}
	if o.User != "" {
		c.User = o.User
	}
	if o.Password != "" {
		c.Password = o.Password
	}
	if o.TLS != nil {
		pgcoord.RequireTLS(c, o.TLS)
	}
	c.RuntimeParams["application_name"] = clientName
	if severalHosts(c) && c.ValidateConnect == nil {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	if validate := c.ValidateConnect; validate != nil {
		c.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
			if err := validate(ctx, conn); err != nil {
				return fmt.Errorf("%w: %w", errWrongRole, err)
			}
			return nil
		}
	}
	return c, nil
}

// errWrongRole: no server among the hosts is of the sort that was asked for.
var errWrongRole = errors.New("not the role that was asked for")

// badURL says what is wrong without repeating what could be a part of the password: where
// the URL cannot be taken apart, any of its text could.
func badURL(err error) error {
	var parsing *pgconn.ParseConfigError
	if errors.As(err, new(*url.Error)) || !errors.As(err, &parsing) || parsing.Unwrap() == nil {
		return errors.New("the address cannot be read: write it as postgres://user@host:port/database, " +
			"with / ? # @ : % in a user or a password as %2F %3F %23 %40 %3A %25")
	}
	return fmt.Errorf("the address cannot be read: %s", parsing.Unwrap().Error())
}

func severalHosts(c *pgconn.Config) bool { return len(hosts(c)) > 1 }

// hosts are the servers of an address, each once.
func hosts(c *pgconn.Config) []string {
	list := []string{joinHostPort(c.Host, int32(c.Port))}
	for _, f := range c.Fallbacks {
		if h := joinHostPort(f.Host, int32(f.Port)); !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

func joinHostPort(host string, port int32) string {
	if strings.HasPrefix(host, "/") {
		return host // a Unix socket's folder
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
