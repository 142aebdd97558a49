package pgsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/pgwire"
)

// parseURL makes the config of a connection. notes are about parameters that are ignored.
// Its error repeats nothing of the URL that could be a secret.
func parseURL(o Options) (c *pgconn.Config, notes []string, err error) {
	if c, notes, err = pgwire.Parse(o.URL); err != nil {
		return nil, nil, err
	}
	pgwire.Override{User: o.User, Password: o.Password, TLS: o.TLS}.Apply(c)
	if validate := c.ValidateConnect; validate != nil {
		c.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
			if err := validate(ctx, conn); err != nil {
				return fmt.Errorf("%w: %w", errWrongRole, err)
			}
			return nil
		}
	}
	return c, notes, nil
}

// errWrongRole: no server among the hosts is of the sort that was asked for.
var errWrongRole = errors.New("not the role that was asked for")
