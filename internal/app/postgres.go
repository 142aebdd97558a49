package app

import (
	"errors"
	"fmt"

	"coordtop/coord/pgcoord"
	"coordtop/internal/certs"
	"coordtop/internal/config"
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
func checkPostgres(o pgsource.Options) error {
	_, err := pgsource.New(o)
	if errors.Is(err, pgcoord.ErrKey) {
		return fmt.Errorf("%w: write a lock's number as 4242, its two numbers as 17:-4, or a name", err)
	}
	return err
}

func openPostgres(o pgsource.Options, files certs.Files, password string) (sources.Source, error) {
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
