package backends

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// All are the backends, in the order in which people are told of them.
func All() []Backend { return []Backend{redis(), postgres(), ydb(), dflockd()} }

// Backend is one entry of the list.
type Backend struct {
	config.Backend
	LogTo func(*slog.Logger) // takes what its library logs; nil: that logs nothing
	// Source prepares a source. The error is what a person has to write in another way.
	Source func(h Host, s config.Source, names map[string]string) (Prepared, error)
	// Driver says what can be done with a source and how.
	Driver func(h Host, s config.Source, b *operate.Backend)
	// Row is the parameters of a URL that selects one row of a source by a parameter named kind,
	// which is "" where the kind is not known; user reports whether the user is sent.
	Row func(s config.Source, r *sources.Row, kind string) (query string, user bool)
}

// LogTo sends what the libraries of all backends have to say to a logger.
func LogTo(l *slog.Logger) {
	for _, b := range All() {
		if b.LogTo != nil {
			b.LogTo(l)
		}
	}
}

// Host is what the program gives to a backend.
type Host struct {
	Lookup config.Lookup
	Logger func() *slog.Logger
	Lasts  bool   // the command watches, where others look once
	State  string // the folder of what is remembered between runs; "": nothing is
}

// Prepared is a source that is not opened yet.
type Prepared struct {
	Open  func(secret string) (sources.Source, error)
	Check func() error // what can be found out without connecting; nil: Open does that
	Space string       // of what the URL selects, as far as it names one; "": any
	// Names are those that are remembered of a server that lists none, as they stand in a URL. Nil:
	// none are remembered.
	Names func(context.Context) []string
	Many  bool // the URL selects by patterns, which may fit several primitives
	// Selects reports whether the source would show what an earlier run recorded of it. Nil: it would, or
	// it tells all that it selects, whether it is owned or not.
	Selects func(*sources.Primitive) bool
}

// Config is what package config must know of them.
func Config() config.Backends {
	var all config.Backends
	for _, b := range All() {
		all = append(all, b.Backend)
	}
	return all
}

// Of returns the entry of a type, without functions if there is none.
func Of(typ string) Backend {
	for _, b := range All() {
		if b.Type == typ {
			return b
		}
	}
	return Backend{}
}

// Help says what URLs select with, and names the variables.
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

// Select says what to add to the URL of a source of a type where nothing was found.
func Select(typ string) string { return Of(typ).Docs.Select }

// URL selects one row of a source. Where a password is needed, it is left out: it must come
// from the environment.
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

// escape is for the value of a parameter of ours, in which a + is a +.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// urlOf is a source's URL taken apart.
func urlOf(s config.Source) config.Target {
	t, _ := Config().ParseURL(s.URL) // it was parsed before
	return t
}
