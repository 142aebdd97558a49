package backends

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// All returns the backends, in the order in which texts name them.
func All() []Backend { return []Backend{redis(), postgres(), ydb(), dflockd()} }

// Backend is one entry of the list.
type Backend struct {
	config.Backend
	LogTo func(*slog.Logger) // gives its library a logger; nil: that logs nothing
	// Source prepares a source. The error is about a mistake in the config.
	Source func(h Host, s config.Source, names map[string]string) (Prepared, error)
	// Driver sets in b what can be done with a source, and how.
	Driver func(h Host, s config.Source, b *operate.Backend)
	// Row returns the parameters of a URL that selects one row of a source by the parameter kind, which is
	// "" where the kind is not known; user reports whether the user is sent.
	Row func(s config.Source, r *sources.Row, kind string) (query string, user bool)
}

// LogTo makes the libraries of all backends log to l.
func LogTo(l *slog.Logger) {
	for _, b := range All() {
		if b.LogTo != nil {
			b.LogTo(l)
		}
	}
}

// Host has everything that the program gives to a backend.
type Host struct {
	Lookup config.Lookup
	Logger func() *slog.Logger
	Lasts  bool   // the command watches; others read once
	State  string // the folder for what is remembered between runs; "": nothing is remembered
	Claims Claims
}

// Claims are wishes for claims that only a backend with config.Channels keeps.
type Claims struct {
	Listen   []string // channels to which we listen while we lead
	Notified func(ctx context.Context, channel, payload string, missed uint64)
	Poll     time.Duration // a waiting claim tries so often instead of standing in the queue; 0: it stands there
}

// Prepared is a source that is not opened yet.
type Prepared struct {
	Open  func(secret string) (sources.Source, error)
	Check func() error // finds problems without connecting; nil: Open does that
	Space string       // the one that the URL selects; "": any
	// Place returns the space and the name of the primitive that a person means by NAME or SPACE/NAME. It asks no
	// server. The error is about a name that may mean several.
	Place func(name string) (space, key string, err error)
	// Names returns the remembered names of a server that lists none, in the form for a URL. Nil: none are
	// remembered.
	Names func(context.Context) []string
	Many  bool // the URL selects by patterns, which may match several primitives
	// Selects reports whether the source would show a primitive that an earlier run recorded. Nil: it
	// would, or it lists all selected primitives, owned or not.
	Selects func(*sources.Primitive) bool
	// Named returns a source that has only the primitive with a name, with or without its space before it, whether or
	// not that exists; see Place. Nil: nothing exists without an owner.
	Named func(name string) (_ config.Source, space string, err error)
	// Alone returns a source that has only the space with a path, whether or not that exists, with all its known
	// primitives. A path of "" is the only one that the source names. Nil: there are no such spaces.
	Alone func(ctx context.Context, path string) (_ config.Source, space string, err error)
}

// Config returns the backends for package config.
func Config() config.Backends {
	var all config.Backends
	for _, b := range All() {
		all = append(all, b.Backend)
	}
	return all
}

// Of returns the entry of a type; the zero Backend if the type is unknown.
func Of(typ string) Backend {
	for _, b := range All() {
		if b.Type == typ {
			return b
		}
	}
	return Backend{}
}

// Help returns the names of the variables, and sentences about the parameters of URLs.
func Help() (variables, urls string) {
	var names, lines []string
	for _, b := range All() {
		var own []string
		for _, v := range b.Variables {
			own = append(own, "$"+v.Name)
		}
		if len(own) > 0 {
			names = append(names, format.Series(own, " or "))
		}
		lines = append(lines, fmt.Sprintf("A URL of %s selects with %s.", b.Title, b.Docs.Help))
	}
	return format.Series(names, ", and "), strings.Join(lines, " ")
}

// Select returns what to add to the URL of a source of a type where nothing was found.
func Select(typ string) string { return Of(typ).Docs.Select }

// URL returns a URL that selects one row of a source. It has no password.
func URL(s config.Source, r *sources.Row) string {
	b := Of(s.Type)
	kind := ""
	if r.Kind != sources.KindUnknown {
		kind = r.Kind.String()
	}
	query, sent := b.Row(s, r, kind)
	address, user := s.Address, s.User
	if t, err := Config().ParseURL(s.URL); err == nil && user == "" {
		user = t.User
	}
	if scheme, rest, ok := strings.Cut(address, "://"); ok && user != "" && sent {
		address = scheme + "://" + url.User(user).String() + "@" + rest
	}
	return address + "?" + query
}

// escape escapes the value of one of our parameters, in which a + is a +.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// urlOf parses a source's URL.
func urlOf(s config.Source) config.Target {
	t, _ := Config().ParseURL(s.URL) // it was parsed before
	return t
}
