package backends

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/coord/pgcoord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/files"
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
			Traits:    []config.Trait{config.Channels, config.KeyScheme, config.Forget, config.Names, config.LocalSocket, config.ListsOwned, config.KeepsPast},
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
	o, database := postgresOptions(s, names), strings.TrimPrefix(urlOf(s).Path, "/")
	return Prepared{
		Space: database, Place: postgresPlace(database),
		Open: func(password string) (_ sources.Source, err error) {
			o := o
			if o.TLS, err = postgresTLS(h, o.URL, s.TLS); err != nil {
				return nil, err
			}
			o.Password = cmp.Or(password, o.Password)
			return pgsource.New(o)
		},
	}, errors.Join(checkPostgres(s, names), postgresFiles(h.Lookup, o.URL))
}

// postgresPlace also takes the name of another database before a number: a number has no slash.
func postgresPlace(database string) func(name string) (space, key string, err error) {
	place := placed(database)
	return func(name string) (space, key string, err error) {
		space, key, err = place(name)
		if i := strings.LastIndexByte(key, '/'); i > 0 {
			if _, named, err := pgcoord.ParseKey(key[i+1:]); err == nil && !named {
				return key[:i], key[i+1:], nil
			}
		}
		return space, key, err
	}
}

// postgresOptions returns the options of a source but for the password and the TLS files, which each connection reads
// again.
func postgresOptions(s config.Source, names map[string]string) pgsource.Options {
	return pgsource.Options{
		Name: s.Name, URL: s.URL, User: s.User, Scheme: pgcoord.Scheme(s.Scheme), Names: names, Channels: s.Channels,
		Forget: s.Forget, PollMin: s.PollMin, PollMax: s.PollMax, Labels: s.Labels, Selections: s.Watch,
	}
}

// checkPostgres reports mistakes in the config of a source.
func checkPostgres(s config.Source, names map[string]string) error {
	_, err := pgsource.New(postgresOptions(s, names))
	if errors.Is(err, pgcoord.ErrKey) {
		return fmt.Errorf("%w: write a lock's number as 4242, its two numbers as 17:-4, or a name", err)
	}
	return err
}

// postgresTLS loads the files of the config, nil for none, and checks those of the address.
func postgresTLS(h Host, address string, files certs.Files) (*tls.Config, error) {
	if err := postgresFiles(h.Lookup, address); err != nil || files == (certs.Files{}) {
		return nil, err
	}
	return files.Load()
}

// postgresLease is the time after which Postgres ends a session whose connection was cut: see pgcoord.
const postgresLease = 11 * time.Second

func postgresDriver(h Host, s config.Source, b *operate.Backend) {
	b.Caps = pgcoord.Options{}.Caps(b.Identity)
	b.Lease, b.CheckLease, b.KeepsFrozen = postgresLease, pgcoord.CheckTTL, true
	b.Login = cmp.Or(s.User, urlOf(s).User)
	used := explained(b, pgsource.Explain)
	b.Open = func(ctx context.Context, database string) (coord.Driver, error) {
		o := pgcoord.Options{
			Actor: b.Identity, TTL: postgresLease, Scheme: pgcoord.Scheme(s.Scheme), Override: pgcoord.Override{User: s.User, Database: database},
			Poll: h.Claims.Poll,
		}
		for _, name := range h.Claims.Listen {
			o.Channels = append(o.Channels, pgcoord.Listener{Channel: name, Handle: func(ctx context.Context, n pgcoord.Notification) {
				h.Claims.Notified(ctx, n.Channel, n.Payload, n.Missed)
			}})
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

// postgresFiles reports the first file of an address that cannot be read. The library reads these files without a
// bound: a pipe at ~/.pgpass would block it for ever.
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
		// The library itself reports a missing file, if it needs that.
		if err := files.Check(context.Background(), path, 2<<20); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return nil
}

// postgresForce ends the whole session of an owner: a lock belongs to its session, and nobody else can release it.
var postgresForce = operate.Force{
	Refuses:       func(_ *sources.Row, w *sources.Owner) string { return sources.AttrOf(w.Attrs, pgsource.NotEnded) },
	RefusesWaiter: func(w *sources.Waiter) string { return sources.AttrOf(w.Attrs, pgsource.NotEnded) },
	Effect:        postgresEffect, WholeSession: true,
	Cancel: "Its statement fails (57014) and it leaves the queue; it keeps its session and what that owns, and a transaction that is open in it fails.",
}

func postgresEffect(_ *sources.Row, w *sources.Owner) []string {
	lines := []string{"Its whole session ends: its program gets an error (57P01) at once if it reads from the connection, else with its next statement. " +
		"It may connect again and take the lock again.",
		"The check and the signal are not one step: if it gives the lock up in that instant, its session ends all the same."}
	for _, who := range []string{pgsource.OwnerEvicted, pgsource.WaitEvicted} {
		if how := sources.AttrOf(w.Attrs, who); how != "" {
			lines = append(lines, "Just now "+who+" was "+how+".")
		}
	}
	if began, err := time.Parse(time.RFC3339, sources.AttrOf(w.Attrs, "transaction start")); err == nil {
		lines = append(lines, fmt.Sprintf("Its transaction, open for %v (%s), is rolled back.", time.Since(began).Round(time.Second), sources.AttrOf(w.Attrs, "state")))
	}
	if also := sources.AttrOf(w.Attrs, pgsource.AlsoOwns); also != "" {
		lines = append(lines, "Its session owns locks that are not watched, which fall too: "+also+".")
	}
	return lines
}

// postgresCall describes what a request about another session sends; "": it is no such request.
func postgresCall(r action.Request) string {
	g, err := pgcoord.ParseGuard(r.Target.Guard)
	if err != nil {
		return ""
	}
	at := time.UnixMicro(g.Start).UTC().Format(time.DateTime)
	switch r.Verb {
	case action.Release:
		return fmt.Sprintf("select pg_terminate_backend(%d), if that process began at %s and still owns %v", g.PID, at, g.Key)
	case action.CancelWait:
		return fmt.Sprintf("select pg_cancel_backend(%d), if that process began at %s and still waits for %v", g.PID, at, g.Key)
	}
	return ""
}
