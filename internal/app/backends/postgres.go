package backends

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/action"
	"coordtop/internal/certs"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/pgsource"
)

func postgres() Backend {
	const port, clear = "5432", "sslmode=disable"
	return Backend{
		Backend: config.Backend{
			Type: "postgres", Title: "Postgres",
			Schemes: []config.Scheme{
				{Name: "postgres", Port: port, Shown: "postgres://", Clear: clear}, {Name: "postgresql", Port: port, Clear: clear},
			},
			Traits:    []config.Trait{config.Channels, config.KeyScheme, config.Forget, config.Names, config.LocalSocket},
			Parameter: postgresParameter, Check: checkPostgres,
			Docs: config.Docs{
				Example: "postgres://user@localhost/database", Path: "/postgres", Select: "?locks=4242,17:-4",
				Help: "?locks=4242,17:-4, ?election=NAME and ?mutex=NAME; without that, every advisory lock is shown",
			},
			Variables: postgresVariables(),
		},
		Source: postgresSource, Driver: postgresDriver,
		Row: func(_ config.Source, r *sources.Row, kind string) (query string, user bool) {
			return cmp.Or(kind, "locks") + "=" + escape(r.Name), true
		},
	}
}

func postgresSource(h Host, s config.Source, names map[string]string) (Prepared, error) {
	o := postgresOptions(s, names)
	return Prepared{
		Space: strings.TrimPrefix(urlOf(s).Path, "/"),
		Open:  func(password string) (sources.Source, error) { return openPostgres(h, o, s.TLS, password) },
	}, errors.Join(checkPostgres(s, names), postgresFiles(h.Lookup, o.URL))
}

// postgresOptions are those of a source without what is read anew for every connection:
// the password and the TLS files.
func postgresOptions(s config.Source, names map[string]string) pgsource.Options {
	return pgsource.Options{
		Name: s.Name, URL: s.URL, User: s.User, Scheme: pgcoord.Scheme(s.Scheme), Names: names, Channels: s.Channels,
		Forget: s.Forget, PollMin: s.PollMin, PollMax: s.PollMax, Labels: s.Labels, Selections: s.Watch,
	}
}

// checkPostgres reports what a person has to write in another way.
func checkPostgres(s config.Source, names map[string]string) error {
	_, err := pgsource.New(postgresOptions(s, names))
	if errors.Is(err, pgcoord.ErrKey) {
		return fmt.Errorf("%w: write a lock's number as 4242, its two numbers as 17:-4, or a name", err)
	}
	return err
}

func openPostgres(h Host, o pgsource.Options, files certs.Files, password string) (sources.Source, error) {
	var err error
	if o.TLS, err = postgresTLS(h, o.URL, files); err != nil {
		return nil, err
	}
	o.Password = cmp.Or(password, o.Password)
	return pgsource.New(o)
}

// postgresTLS loads the files that the config names, nil for none, and checks those of the address.
func postgresTLS(h Host, address string, files certs.Files) (*tls.Config, error) {
	if err := postgresFiles(h.Lookup, address); err != nil || files == (certs.Files{}) {
		return nil, err
	}
	return files.Load()
}

// postgresLease is how long Postgres keeps a session whose link was cut: see pgcoord.
const postgresLease = 11 * time.Second

func postgresDriver(h Host, s config.Source, b *operate.Backend) {
	b.Caps = pgcoord.Options{}.Caps(b.Identity)
	b.Lease = postgresLease
	b.Login = cmp.Or(s.User, urlOf(s).User)
	used := explained(b, pgsource.Explain)
	b.Open = func(ctx context.Context, database string) (coord.Driver, error) {
		o := pgcoord.Options{
			Actor: b.Identity, TTL: postgresLease, Scheme: pgcoord.Scheme(s.Scheme), Override: pgcoord.Override{User: s.User, Database: database},
		}
		var err error
		if o.Override.TLS, err = postgresTLS(h, s.URL, s.TLS); err != nil {
			return nil, err
		}
		password, err := secretOf(ctx, h, s)
		if err != nil {
			return nil, err
		}
		o.Override.Password = password
		used.Store(&pgsource.Options{URL: s.URL, User: s.User, Password: password})
		return pgcoord.New(s.URL, o)
	}
	wire := sent(pgcoord.Options{Scheme: pgcoord.Scheme(s.Scheme)}.Wire)
	b.Call = func(r action.Request) string { return cmp.Or(postgresCall(r), wire(r)) }
	b.Force = &postgresForce
	b.Refuses = func(row *sources.Primitive) string {
		if key, named, err := pgcoord.ParseKey(row.Name); err == nil && !named && key.Foreign() {
			return "its key was made by an extension: the functions for advisory locks cannot take it"
		}
		return ""
	}
}
