package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/sources"
)

// specs makes the sources of a config. A mistake in the config is a usage error; all mistakes are reported at
// once.
func (p *program) specs(c config.Config, logger *slog.Logger) ([]sources.Spec, error) {
	var specs []sources.Spec
	var wrong []error
	for i, s := range c.Sources {
		source, err := p.settings.source(s, c)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("source %s: %w", s.Name, err))
			continue
		}
		if p.env.wrapSource != nil {
			source = p.env.wrapSource(source)
		}
		if s.Agree == 0 && slices.Contains(backends.Of(s.Type).Traits, config.Sharded) {
			s.Agree = -1 - i
		}
		specs = append(specs, sources.Spec{
			Name: s.Name, Type: s.Type, Address: backends.Config().AddressWithoutLogin(&s), Source: source, Owners: c.Owners, Agree: s.Agree, Logger: logger,
		})
	}
	if len(wrong) > 0 {
		return nil, usageError{errors.Join(wrong...)}
	}
	return specs, nil
}

// host returns what the program gives to a backend.
func (st *settings) host() backends.Host {
	h := backends.Host{Lookup: st.lookup, Logger: st.logger, Lasts: st.lasts, Claims: st.claims}
	if st.demoState == "" && !st.forgets { // nothing about the demo's servers is worth remembering
		h.State = st.stateFolder()
	}
	return h
}

// prepared returns a source as its backend prepares it.
func (st *settings) prepared(s config.Source, c config.Config) (backends.Prepared, error) {
	return backends.Of(s.Type).Source(st.host(), s, c.Names[s.Name])
}

func (st *settings) source(s config.Source, c config.Config) (sources.Source, error) {
	prepared, err := st.prepared(s, c)
	if err != nil {
		return nil, err
	}
	source := &configured{
		secret: func(ctx context.Context) (string, error) {
			if waits := st.waits[s.Name]; waits != nil && waits() != nil {
				return "", waits()
			}
			return s.Secret().Resolve(ctx, st.lookup)
		},
		open: prepared.Open,
	}
	if len(s.Secret().Command) > 0 {
		source.rarely = commandRest
	}
	return source, nil
}

// secrets reports the passwords that cannot be read. It runs no commands.
func (st *settings) secrets(ctx context.Context, c config.Config) error {
	var wrong []error
	for _, s := range c.Sources {
		if err := s.Secret().Check(ctx, st.lookup); err != nil {
			wrong = append(wrong, fmt.Errorf("source %s: %w", s.Name, err))
		}
	}
	if len(wrong) > 0 {
		return usageError{errors.Join(wrong...)}
	}
	return nil
}

// unusable returns, by key, the problems that would keep a source from connecting and that reading the file
// does not find. It neither connects nor runs a password command.
func (st *settings) unusable(ctx context.Context, s config.Source) map[string]error {
	wrong := map[string]error{}
	if err := s.Secret().Check(ctx, st.lookup); err != nil {
		wrong[s.Secret().String()] = err
	}
	bare := config.Source{Name: s.Name, Type: s.Type, URL: s.URL, Address: s.Address, User: s.User}
	if s.Type == "" || backends.Of(s.Type).Check(bare, nil) != nil {
		return wrong // reading the file reports that problem
	}
	if err := st.usable(bare); err != nil {
		wrong["url"] = err
	} else if bare.TLS = s.TLS; st.usable(bare) != nil {
		wrong["tls"] = st.usable(bare)
	}
	return wrong
}

func (st *settings) usable(s config.Source) error {
	prepared, err := st.prepared(s, config.Config{})
	if err != nil {
		return err
	}
	if prepared.Check != nil {
		return prepared.Check()
	}
	_, err = prepared.Open("")
	return err
}
