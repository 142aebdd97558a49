package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"coordtop/internal/config"
	"coordtop/sources"
	"coordtop/sources/redissource"
)

// specs makes the sources of a config. A source of a backend that this build does not
// know stands on the screen with that as its error; one that is written wrongly is a
// usage error, and all of those are reported at once.
func (p *program) specs(c config.Config, logger *slog.Logger) ([]sources.Spec, error) {
	var specs []sources.Spec
	var wrong []error
	for _, s := range c.Sources {
		source, err := p.source(s, c)
		if errors.Is(err, config.ErrNotYet) {
			source, err = unavailable{err}, nil
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("source %s: %w", s.Name, err))
			continue
		}
		if p.env.wrapSource != nil {
			source = p.env.wrapSource(source)
		}
		specs = append(specs, sources.Spec{Name: s.Name, Type: s.Type, Address: s.Shown(), Source: source, Owners: c.Owners, Logger: logger})
	}
	if len(wrong) > 0 {
		return nil, usageError{errors.Join(wrong...)}
	}
	return specs, nil
}

// source makes one source: the only place that knows which package serves which type.
func (p *program) source(s config.Source, c config.Config) (sources.Source, error) {
	source := &configured{
		secret: func(ctx context.Context) (string, error) { return s.Secret().Resolve(ctx, p.env.Lookup) },
	}
	if len(s.Secret().Command) > 0 {
		source.rarely = commandRest
	}
	switch s.Type {
	case config.TypeRedis:
		client, err := redisClient(s)
		source.open = func(password string) (sources.Source, error) {
			client := client
			if password != "" {
				client.Password = password
			}
			return redissource.New(redisOptions(s, client)), nil
		}
		return source, err
	case config.TypePostgres:
		o := postgresOptions(s, c.Names[s.Name])
		source.open = func(password string) (sources.Source, error) { return p.openPostgres(o, s.TLS, password) }
		return source, p.checkPostgres(o)
	case config.TypeYDB:
		source.open = func(secret string) (sources.Source, error) { return openYDB(s, secret, p.logger()) }
		return source, checkYDB(s)
	default:
		return nil, config.Supported(s.Type)
	}
}

// secrets reports the passwords that cannot be read although no server has to be asked for
// that: whoever looks once, or starts a stream for a program, is told at once, and not that a
// server did not answer. Commands are not run for it.
func (p *program) secrets(ctx context.Context, c config.Config) error {
	var wrong []error
	for _, s := range c.Sources {
		if err := s.Secret().Check(ctx, p.env.Lookup); err != nil {
			wrong = append(wrong, fmt.Errorf("source %s: %w", s.Name, err))
		}
	}
	if len(wrong) > 0 {
		return usageError{errors.Join(wrong...)}
	}
	return nil
}

func labels(s config.Source) []sources.Attr {
	var list []sources.Attr
	for _, l := range s.Labels {
		list = append(list, sources.Attr{Key: l.Key, Value: l.Value})
	}
	return list
}

// usable reports what would keep a source from being connected, as far as that can be
// found out without connecting and without running a password command.
func (p *program) usable(ctx context.Context, s config.Source, c config.Config) error {
	check := config.Supported(s.Type)
	switch s.Type {
	case config.TypeRedis:
		check = checkRedis(s)
	case config.TypePostgres:
		o := postgresOptions(s, c.Names[s.Name])
		if check = p.checkPostgres(o); check == nil {
			_, check = p.openPostgres(o, s.TLS, "")
		}
	case config.TypeYDB:
		check = checkYDB(s)
	}
	if check != nil {
		return check
	}
	return s.Secret().Check(ctx, p.env.Lookup)
}
