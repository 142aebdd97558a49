package pgcoord

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
)

// parse reads a connection string without ever repeating it in an error.
func parse(dsn string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err == nil {
		return config, nil
	}
	if parsing, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		err = parsing.Unwrap()
	}
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	if err == nil {
		err = errors.New("it is no connection string of Postgres")
	}
	// As text: what lies below could give the string away when it is printed.
	return nil, fmt.Errorf("%w: reading the address of the server: %s", coord.ErrInvalid, hideSecrets(dsn, err.Error()))
}

// hideSecrets takes out of a text whatever of the connection string it repeats.
func hideSecrets(dsn, text string) string {
	if u, err := url.Parse(dsn); err == nil && u.User != nil {
		if secret, ok := u.User.Password(); ok && secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
		return text
	}
	for word := range strings.FieldsFuncSeq(dsn, func(r rune) bool { return strings.ContainsRune(" :/@=?&'", r) }) {
		if len(word) > 3 && strings.Contains(text, word) {
			return "its text is malformed"
		}
	}
	return text
}

// severalHosts reports whether the address names more than one server.
func severalHosts(c *pgconn.Config) bool {
	for _, f := range c.Fallbacks {
		if f.Host != c.Host || f.Port != c.Port {
			return true
		}
	}
	return false
}
