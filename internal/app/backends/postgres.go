package app

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
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

// postgresOptions are those of a source without what is read anew for every connection:
// the password and the TLS files.
func postgresOptions(s config.Source, names map[string]string) pgsource.Options {
	o := pgsource.Options{
		Name: s.Name, URL: s.URL, User: s.User, Scheme: pgcoord.Scheme(s.Scheme), Names: names, Channels: s.Channels,
		Forget: s.Forget, PollMin: s.PollMin, PollMax: s.PollMax, Labels: labels(s),
	}
	for _, w := range s.Watch {
		o.Selections = append(o.Selections, pgsource.Selection{Key: w.Pattern, Kind: w.Kind, Expected: w.Expected})
	}
	return o
}

// checkPostgres reports what a person has to write in another way.
func (p *program) checkPostgres(o pgsource.Options) error {
	if err := p.postgresFiles(o.URL); err != nil {
		return err
	}
	_, err := pgsource.New(o)
	if errors.Is(err, pgcoord.ErrKey) {
		return fmt.Errorf("%w: write a lock's number as 4242, its two numbers as 17:-4, or a name", err)
	}
	return err
}

func (p *program) openPostgres(o pgsource.Options, files certs.Files, password string) (sources.Source, error) {
	if err := p.postgresFiles(o.URL); err != nil {
		return nil, err
	}
	if files != (certs.Files{}) {
		t, err := files.Load()
		if err != nil {
			return nil, err
		}
		o.TLS = t
	}
	if password != "" {
		o.Password = password
	}
	return pgsource.New(o)
}

// postgresLease is how long Postgres keeps a session whose link was cut: see pgcoord.
const postgresLease = 11 * time.Second

func (p *program) postgresBackend(b *operate.Backend, s config.Source) {
	b.Caps = coord.Caps{Mutex: true, Election: true, Shared: true, Fence: true, FIFO: true, MaxData: 7900}
	b.Lease = postgresLease
	if b.Login = s.User; b.Login == "" {
		if t, err := config.ParseURL(s.URL); err == nil {
			b.Login = t.User
		}
	}
	var used atomic.Pointer[pgsource.Options] // by the newest driver
	b.Explain = func(err error) error {
		if o := used.Load(); o != nil {
			return pgsource.Explain(err, *o)
		}
		return err
	}
	b.Open = func(ctx context.Context, database string) (coord.Driver, error) {
		o := pgcoord.Options{
			TTL: postgresLease, Scheme: pgcoord.Scheme(s.Scheme), Override: pgcoord.Override{User: s.User, Database: database},
		}
		if err := p.postgresFiles(s.URL); err != nil {
			return nil, err
		}
		if s.TLS != (certs.Files{}) {
			t, err := s.TLS.Load()
			if err != nil {
				return nil, err
			}
			o.Override.TLS = t
		}
		password, err := s.Password.Resolve(ctx, p.env.Lookup)
		if err != nil {
			return nil, fmt.Errorf("finding the password: %w", err)
		}
		o.Override.Password = password
		used.Store(&pgsource.Options{URL: s.URL, User: s.User, Password: password})
		return pgcoord.New(s.URL, o)
	}
	b.Call = func(r action.Request) string { return postgresCall(r, pgcoord.Scheme(s.Scheme)) }
	b.Refuses = func(row *sources.Primitive) string {
		if extensionKey.MatchString(row.Name) {
			return "its key was made by an extension: the functions for advisory locks cannot take it"
		}
		return ""
	}
}

// extensionKey is how pgcoord.Key.String writes a key that an extension made.
var extensionKey = regexp.MustCompile(`^\d+:\d+/\d+$`)

// postgresCall is what the driver sends: see coord/pgcoord.
func postgresCall(r action.Request, scheme pgcoord.Scheme) string {
	key := sqlKey(r.Target.Ref.Name, scheme)
	shared := ""
	if r.Mode == sources.Shared {
		shared = "_shared"
	}
	switch r.Verb {
	case action.Acquire, action.Campaign:
		return fmt.Sprintf("select pg_advisory_lock%s(%s), on a connection of its own", shared, key)
	case action.Try:
		return fmt.Sprintf("select pg_try_advisory_lock%s(%s), on a connection of its own", shared, key)
	case action.Proclaim:
		return fmt.Sprintf("set application_name and notify %s with the data %s", pgcoord.Channel, strconv.Quote(cutText(string(r.Data))))
	case action.Resign:
		return fmt.Sprintf("select pg_advisory_unlock%s(%s)", shared, key)
	}
	return r.Verb.String()
}

// sqlKey is the key of a lock as it stands in a call.
func sqlKey(name string, scheme pgcoord.Scheme) string {
	k, named, err := pgcoord.ParseKey(name)
	if named {
		quoted := "'" + strings.ReplaceAll(name, "'", "''") + "'"
		switch scheme {
		case "", pgcoord.Hashtextextended:
			return "hashtextextended(" + quoted + ", 0)"
		}
		return string(scheme) + "(" + quoted + ")"
	}
	if a, b, pair := k.Pair(); pair && err == nil {
		return fmt.Sprintf("%d, %d", a, b)
	}
	return name
}
