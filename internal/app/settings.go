package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
)

// settings find out what to watch from the config file, the arguments and the environment. They ask no server.
type settings struct {
	lookup    config.Lookup
	file      string // of --config
	from      string // of --from
	demoState string // folder of the demo's recording, which is removed with it; "": this is no demo
	logger    func() *slog.Logger
	lasts     bool            // the command watches; others read once
	forgets   bool            // sources remember nothing
	claims    backends.Claims // of the command, for the drivers that are made after it is set

	waits map[string]func() error // why a source of the demo that is being installed is not there yet
}

// load reads a config file and checks its keys, which only the board knows. The error is a usage error: a
// *config.Problems with everything that is wrong, or that the file, which from names, does not exist.
func (st *settings) load(path, from string) (config.Config, error) {
	c, err := backends.Config().Load(path, st.lookup)
	wrong := &config.Problems{Path: path}
	switch {
	case errors.Is(err, fs.ErrNotExist) && from != "": // its name need not be a path
		return c, usagef("the config file that %s names does not exist: `coordtop config example` prints one to start from", from)
	case err != nil && !errors.As(err, &wrong):
		return c, usageError{err}
	}
	for _, one := range keys.Check(c.Keys) {
		problem := c.Problem("keys."+one.Action, format.Clean(one.Text, 0))
		if one.Known {
			problem.Path = "keys." + one.Action
		}
		wrong.List = append(wrong.List, problem)
	}
	wrong.List = append(wrong.List, filterProblems(&c)...)
	if err := wrong.Err(); err != nil {
		return c, usageError{err}
	}
	return c, nil
}

// errNothing reports that neither a file nor a variable names a source.
var errNothing = errors.New("nothing to watch")

// found reads the config file. Without a file it reads the environment.
func (st *settings) found() (config.Config, error) {
	path, from := st.locate()
	if path != "" {
		if c, err := st.load(path, from); !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	c, err := backends.Config().FromEnv(st.lookup)
	if err == nil && len(c.Sources) == 0 {
		err = usagef("%w. Looked for\n%s", errNothing, st.nothing(path))
	}
	return c, err
}

// locate finds the path of the config file; "": not even a home directory is known. from is the flag or variable that
// names it, in which case the file must exist; "": none does.
func (st *settings) locate() (path, from string) {
	if st.file != "" {
		return st.file, "--config"
	}
	path, must := config.Locate(st.lookup)
	if must {
		from = "$" + config.EnvPath
	}
	return path, from
}

// nothing returns the message without a source: where coordtop looked for one, and what to type.
func (st *settings) nothing(path string) string {
	var b strings.Builder
	dir := format.ShellWord(filepath.Dir(path))
	if path = format.ShellWord(path); path == "''" {
		dir, path = "$XDG_CONFIG_HOME/coordtop", "$XDG_CONFIG_HOME/coordtop/config.yaml"
	}
	line := func(what, found string) { fmt.Fprintf(&b, "  %-*s %s\n", max(len(path), 26), what, found) }
	line("a URL on the command line", "none")
	line("$"+config.EnvPath, "not set")
	line(path, "not there")
	for _, v := range backends.Config().Unused(st.lookup) {
		line(v[0], v[1])
	}
	b.WriteString("Start with one of\n  coordtop demo\n")
	for _, entry := range backends.All() {
		if entry.Docs.Example != "" {
			b.WriteString("  coordtop " + entry.Docs.Example + "\n")
		}
	}
	b.WriteString("  mkdir -p " + dir + " && coordtop config example > " + path)
	return b.String()
}

// stateFolder returns the folder of the files that are kept between runs; "": there is none.
func (st *settings) stateFolder() string {
	return config.Dir(st.lookup, "XDG_STATE_HOME", filepath.Join(".local", "state"))
}

// checkConfig loads the file and finds the secrets that it names. It runs no password commands.
func (st *settings) checkConfig(cmd *cobra.Command, args []string) error {
	path, from := st.locate()
	if len(args) == 1 {
		path, from = args[0], "the argument"
	}
	if path == "" {
		return usagef("no config file: set $%s or $HOME, or name one", config.EnvPath)
	}
	c, err := st.load(path, from)
	wrong := &config.Problems{Path: path}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("no config file at %s: coordtop config example prints one to start from", path)
	case err != nil && !errors.As(err, &wrong):
		return err
	}
	var names []string
	for i, s := range c.Sources {
		names = append(names, s.Name)
		for key, err := range st.unusable(cmd.Context(), s) {
			wrong.List = append(wrong.List, c.Problem(fmt.Sprintf("sources[%d].%s", i, key), err.Error()))
		}
	}
	for i := range c.Notify {
		if key, err := c.Notify[i].Check(cmd.Context(), st.lookup); err != nil {
			wrong.List = append(wrong.List, c.Problem(fmt.Sprintf("notify[%d].%s", i, key), err.Error()))
		}
	}
	if password := c.History.Password(); password.Check(cmd.Context(), st.lookup) != nil {
		wrong.List = append(wrong.List, c.Problem("history."+password.String(), password.Check(cmd.Context(), st.lookup).Error()))
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %s\n", path, cmp.Or(strings.Join(names, ", "), "no sources, only a recorder"))
	return err
}

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
