package backends

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"

	"coordtop/internal/config"
	"coordtop/internal/files"
)

// postgresFiles reports which of the files that belong to an address cannot be read. The
// library reads them without a bound: a pipe in the place of ~/.pgpass would keep it for ever.
func postgresFiles(env config.Lookup, address string) error {
	var query url.Values
	if u, err := url.Parse(address); err == nil {
		query = u.Query()
	}
	home, _ := env("HOME")
	for _, f := range []struct{ parameter, variable, usual string }{
		{"passfile", "PGPASSFILE", ".pgpass"}, {"servicefile", "PGSERVICEFILE", ".pg_service.conf"},
		{"sslrootcert", "PGSSLROOTCERT", ".postgresql/root.crt"}, {"sslcert", "PGSSLCERT", ".postgresql/postgresql.crt"},
		{"sslkey", "PGSSLKEY", ".postgresql/postgresql.key"},
	} {
		path, from := query.Get(f.parameter), f.parameter+"="
		if path == "" {
			path, _ = env(f.variable)
			from = "$" + f.variable
		}
		if path == "" && home != "" {
			path, from = filepath.Join(home, f.usual), "~/"+f.usual
		}
		if path == "" || path == "system" && f.parameter == "sslrootcert" {
			continue
		}
		if err := files.Check(context.Background(), path, 2<<20); err != nil && !errors.Is(err, fs.ErrNotExist) { // who needs it will say that it is not there
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return nil
}
