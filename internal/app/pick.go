package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"coordtop/internal/address"
	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/format"
)

// pick finds out what to watch: the URLs among the arguments, else the config file,
// else the environment. Arguments that are no URLs are the names of primitives, or of a source:
// then all of its primitives are meant.
func (p *program) pick(args []string) (c config.Config, names []string, err error) {
	var urls, places, where []string // where: the places of names
	for i, arg := range args {
		place := fmt.Sprintf("argument %d", i+1)
		if strings.Contains(arg, "://") {
			urls, places = append(urls, arg), append(places, place)
		} else {
			names, where = append(names, arg), append(where, place)
		}
	}
	if len(urls) > 0 {
		c, err = backends.Config().FromURLs(urls, places...)
	} else {
		c, err = p.found()
	}
	if err != nil && len(names) > 0 && errors.Is(err, errNothing) {
		return c, nil, noSource(names[0], where[0], "there is no config file (coordtop config example prints one to start from)")
	}
	if err != nil {
		return c, nil, err
	}
	for i, name := range names {
		if err := plausible(name, where[i], c.Sources); err != nil {
			return c, nil, err
		}
	}
	if len(names) > 0 { // a source that nobody asked for is not asked, and cannot fail
		c.Sources = slices.DeleteFunc(c.Sources, func(s config.Source) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return name == s.Name || strings.HasPrefix(name, s.Name+"/") })
		})
	}
	return c, names, nil
}

// plausible refuses a name that no row can ever have.
func plausible(name, where string, list []config.Source) error {
	var known []string
	for _, s := range list {
		if name == s.Name || strings.HasPrefix(name, s.Name+"/") {
			return nil
		}
		known = append(known, format.Clean(s.Name, 100))
	}
	source, _, _ := strings.Cut(name, "/")
	names := "the sources here are " + strings.Join(known, ", ")
	if near := address.Near(source, known...); near != "" {
		names += ": did you mean " + near + "?"
	}
	return noSource(name, where, names)
}

// noSource explains an argument that is not a URL and names no source, with what is known of the
// names. It does not repeat the argument, which may be a URL without its scheme.
func noSource(arg, where, names string) error {
	source, _, _ := strings.Cut(arg, "/")
	schemes := backends.Config().Schemes()
	if strings.ContainsAny(source, ":@=. ") { // as the address of a server has
		return usagef("%s is neither a URL nor a name: a URL begins with its scheme, %s, and a name is SOURCE/NAME, or SOURCE for all of it; %s", where, schemes, names)
	}
	return usagef("%s is read as SOURCE/NAME, or SOURCE for all of it, and no config names this source: %s; a URL begins with its scheme, %s", where, names, schemes)
}

// errNothing says that neither a file nor a variable names a source.
var errNothing = errors.New("nothing to watch")

// found reads the config file, or the environment where there is none.
func (p *program) found() (config.Config, error) {
	path, from := p.locate()
	if path != "" {
		c, err := p.load(path)
		switch absent := errors.Is(err, fs.ErrNotExist); {
		case absent && from != "":
			return c, absentConfig(from)
		case !absent:
			return c, asUsage(err)
		}
	}
	c, err := backends.Config().FromEnv(p.env.Lookup)
	if err == nil && len(c.Sources) == 0 {
		err = usagef("%w. Looked for\n%s", errNothing, p.nothing(path))
	}
	return c, err
}

// locate finds the path of the config file; "": not even a home directory is known. from is who
// names it: it must exist then, else "".
func (p *program) locate() (path, from string) {
	if p.configFile != "" {
		return p.configFile, "--config"
	}
	path, must := config.Locate(p.env.Lookup)
	if must {
		from = "$" + config.EnvPath
	}
	return path, from
}

// absentConfig reports that there is no config file at the place that was named, which need not be a path.
func absentConfig(from string) error {
	return usagef("the config file that %s names does not exist: `coordtop config example` prints one to start from", from)
}

// asUsage makes an unreadable config a usage error.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// nothing tells a person who gave us nothing what was looked for and what to type.
func (p *program) nothing(path string) string {
	var b strings.Builder
	path = quoted(path)
	if path == "''" {
		path = "$XDG_CONFIG_HOME/coordtop/config.yaml"
	}
	line := func(what, found string) { fmt.Fprintf(&b, "  %-*s %s\n", max(len(path), 26), what, found) }
	line("a URL on the command line", "none")
	line("$"+config.EnvPath, "not set")
	line(path, "not there")
	for _, v := range backends.Config().Unused(p.env.Lookup) {
		line(v[0], v[1])
	}
	b.WriteString("Start with one of\n  coordtop demo\n")
	for _, entry := range backends.All() {
		if entry.Docs.Example != "" {
			b.WriteString("  coordtop " + entry.Docs.Example + "\n")
		}
	}
	b.WriteString("  mkdir -p " + filepath.Dir(path) + " && coordtop config example > " + path)
	return b.String()
}
