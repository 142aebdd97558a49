package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// pick decides what to watch: the URLs among the arguments, else the config file, else the environment. Arguments
// that are no URLs are the names of primitives, or of a source with all its primitives. With peers the sources that
// agree with a named one are read too, since two owners of a name show only in all of them.
func (st *settings) pick(args []string, peers bool) (c config.Config, names []string, err error) {
	var urls, places, where []string // where: the places of names
	for i, arg := range args {
		place := fmt.Sprintf("argument %d", i+1)
		scheme, _, isURL := strings.Cut(arg, "://")
		if isURL && !strings.Contains(scheme, "/") { // else it is a name with a URL in it
			urls, places = append(urls, arg), append(places, place)
		} else {
			names, where = append(names, arg), append(where, place)
		}
	}
	if len(urls) > 0 {
		c, err = backends.Config().FromURLs(urls, places...)
	} else {
		if c, err = st.found(); err == nil && len(c.Sources) == 0 {
			err = usagef("%s: names no sources to ask, only a recorder (see coordtop record --status): name at least one, as - url: redis://host:6379/0", c.Path)
		}
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
	if len(names) > 0 { // a source that is not named is not read, and cannot fail
		c.Sources = selected(c.Sources, names, peers, func(s config.Source) (string, int) { return s.Name, s.Agree })
	}
	return c, names, nil
}

// selected returns the sources that names select, and with peers those that agree with them. of returns the name of a
// source, and its Agree.
func selected[S any](list []S, names []string, peers bool, of func(S) (string, int)) []S {
	is, agrees := map[string]bool{}, map[int]bool{}
	for _, s := range list {
		source, agree := of(s)
		is[source] = slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name+"/", source+"/") })
		agrees[agree] = agrees[agree] || is[source] && peers && agree != 0
	}
	return slices.DeleteFunc(slices.Clone(list), func(s S) bool { source, agree := of(s); return !is[source] && !agrees[agree] })
}

// pickReadable is pick for commands of scripts: a password that cannot be read is an error at once, and does not
// look like a server without an answer.
func (st *settings) pickReadable(ctx context.Context, args []string, peers bool) (c config.Config, names []string, err error) {
	if c, names, err = st.pick(args, peers); err == nil {
		err = st.secrets(ctx, c)
	}
	return c, names, err
}

// pickOne finds the one source of a NAME or URL. name is "" for a URL, which selects the primitive itself; space is
// then preferred. With ofKind the URL must name the kind of the primitive.
func (st *settings) pickOne(arg string, ofKind bool) (c config.Config, name, space string, err error) {
	c, names, spaces, err := st.pickEach([]string{arg}, ofKind)
	if err != nil || len(spaces) == 0 {
		return c, strings.Join(names, ""), "", err
	}
	return c, "", spaces[names[0]], nil
}

// pickEach finds the sources of NAMEs, or of URLs, each of which must select one primitive. The name of what a URL
// selects is that of its source, and spaces has the space that it prefers.
func (st *settings) pickEach(args []string, ofKind bool) (c config.Config, names []string, spaces map[string]string, err error) {
	c, names, err = st.pick(args, false)
	if err != nil {
		return c, nil, nil, err
	}
	for _, name := range names {
		if isSource := slices.ContainsFunc(c.Sources, func(s config.Source) bool { return s.Name == name }); isSource {
			return c, nil, nil, usagef("%s is a whole source: name one primitive of it, as %s/NAME; coordtop get %s lists them", name, name, format.ShellWord(name))
		}
	}
	if len(names) > 0 {
		return c, names, nil, nil
	}
	spaces = map[string]string{}
	for _, s := range c.Sources {
		prepared, _ := st.prepared(s, c) // its error is reported when the source is made
		if len(s.Watch) != 1 || ofKind && s.Watch[0].Kind == sources.KindUnknown || prepared.Many {
			return c, nil, nil, usagef("name one primitive in the URL: exactly one of election=, mutex= and semaphore= (Postgres: locks=), without a pattern")
		}
		names, spaces[s.Name] = append(names, s.Name), prepared.Space
	}
	return c, names, spaces, nil
}

// wouldShow reports whether one of the sources would show SOURCE/NAME or SOURCE/DATABASE/NAME if somebody owned it: a
// URL or a pattern selects it, or nothing is selected and the backend then lists all that is owned.
func wouldShow(list []config.Source, name string) bool {
	return slices.ContainsFunc(list, func(s config.Source) bool {
		rest, ok := strings.CutPrefix(name, s.Name+"/")
		if name == s.Name || ok && len(s.Watch) == 0 && slices.Contains(backends.Of(s.Type).Traits, config.ListsOwned) {
			return true
		}
		space, key, _ := strings.Cut(rest, "/")
		return ok && slices.ContainsFunc(s.Watch, func(w config.Watch) bool {
			return glob.Pattern(w.Pattern).Match(rest) || strings.Trim(space, "0123456789") == "" && glob.Pattern(w.Pattern).Match(key)
		})
	})
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

// noSource returns the error about an argument that is not a URL and names no source; names tells the known ones. It
// does not repeat the argument, which may be a URL without its scheme.
func noSource(arg, where, names string) error {
	source, _, _ := strings.Cut(arg, "/")
	schemes := backends.Config().Schemes()
	if strings.ContainsAny(source, ":@=. ") { // as the address of a server has
		return usagef("%s is neither a URL nor a name: a URL begins with its scheme, %s, and a name is SOURCE/NAME, or SOURCE for all of it; %s", where, schemes, names)
	}
	return usagef("%s is read as SOURCE/NAME, or SOURCE for all of it, and no config names this source: %s; a URL begins with its scheme, %s", where, names, schemes)
}

// offer asks the person at the terminal which server of this machine to watch. unnamed is the error about a missing
// source: offer prints it, and returns it if the person chooses no server.
func (p *program) offer(ctx context.Context, unnamed error) (config.Config, error) {
	urls := p.listening(ctx)
	if len(urls) == 0 {
		return config.Config{}, unnamed
	}
	p.report(ctx, unnamed)
	fmt.Fprintln(p.env.Stderr, "Or watch what listens on this machine. Nothing was sent to it yet, and watching only reads:")
	for i, url := range urls {
		fmt.Fprintf(p.env.Stderr, "  %d) %s\n", i+1, url)
	}
	for {
		answer := typed(ctx, p.env, "Type its number, or enter alone to end: ")
		if n, err := strconv.Atoi(answer); err == nil && n > 0 && n <= len(urls) {
			return backends.Config().FromURLs(urls[n-1 : n])
		}
		if answer == "" || answer == "q" {
			p.said = true
			return config.Config{}, unnamed
		}
	}
}

const connectWithin = 200 * time.Millisecond // to this machine

// listening connects to the usual ports of this machine, sends nothing, and returns the URLs of those that
// accept; none unless standard input, output and error are terminals.
func (p *program) listening(ctx context.Context) (urls []string) {
	if p.env.Loopback == nil {
		return nil
	}
	for _, f := range []any{p.env.Stdin, p.env.Stdout, p.env.Stderr} {
		if !isTerminal(f) {
			return nil
		}
	}
	all := backends.All()
	found := make([][2]string, len(all))
	var connecting sync.WaitGroup
	for i, b := range all {
		scheme := b.Schemes[0]
		for j, address := range p.env.Loopback(scheme.Port) {
			spawn.Go(ctx, &connecting, func() {
				if conn, err := (&net.Dialer{Timeout: connectWithin}).DialContext(ctx, "tcp", address); err == nil {
					_ = conn.Close() // nothing was written
					found[i][j] = scheme.Name + "://" + address + b.Docs.Path
				}
			})
		}
	}
	connecting.Wait()
	for _, two := range found {
		if url := cmp.Or(two[0], two[1]); url != "" {
			urls = append(urls, url)
		}
	}
	return urls
}
