package config

import (
	"fmt"
	"slices"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
)

// Backend describes one kind of server to a config.
type Backend struct {
	Type    string // on the screen and in output: "redis"
	Title   string // for people: "Redis"
	Docs    Docs
	Schemes []Scheme
	Traits  []Trait
	// Parameter reads a parameter of a URL and reports whether it is one of ours. It may return an error even if it is
	// not.
	Parameter func(t *Target, key, value string) (ours bool, err error)
	// Check returns an error about a source that a file describes. It reads no files. names are those of the source's
	// locks.
	Check func(s Source, names map[string]string) error
	// Variables are environment variables that name a server. The first one that is set counts.
	Variables []Variable
}

// Docs describes a backend for people.
type Docs struct {
	Example string // a URL to start with, without a password
	Path    string // the path in the URL of a server of this machine
	Select  string // what to add to a URL with which nothing was found
	Help    string // the parameters that select, for a text after "selects with "
}

// Scheme is one scheme of the URLs of a backend.
type Scheme struct {
	Name  string
	Port  string // usual port
	Shown string // its form in messages: "rediss:// (TLS)"; "": messages do not mention it
	Plain string // if connections are not encrypted, the scheme with encryption; "": they are encrypted, or can be
	Clear string // the parameter that turns encryption off; "": none
	// Primary reports whether the path begins with the name of the watched server, and the hosts only help to find it.
	Primary bool
	Socket  bool // there is no host, and the path is that of a socket of this machine
}

// Trait is something that only some backends have or take.
type Trait int

// The traits. The first ones allow keys of a source.
const (
	Legible     Trait = iota // "legible": values that prove ownership
	Channels                 // "channels"
	KeyScheme                // "key_scheme"
	Tokens                   // "token_env" and "token_file"; a password then needs a user
	Forget                   // "forget": primitives that disappeared without a notice are forgotten after a while
	Nodes                    // "node": primitives live on coordination nodes
	Names                    // "names": locks are numbers that can be given names
	Semaphores               // the backend has semaphores
	LocalSocket              // a URL without a host means the local socket
	Numbered                 // the path of a URL is the number of a database, which may be shown
	ListsOwned               // a source that selects nothing shows all that is owned, by whatever name
	Sharded                  // a URL may name several servers, and a lock belongs to one of them
	KeepsPast                // a team's recording can be on such a server
)

// Variable is an environment variable that names a server.
type Variable struct {
	Name  string
	Also  []string                         // others that name a server in its place; then URL is not nil
	Typed bool                             // it also has other uses, so only a URL of this backend counts
	URL   func(env Lookup) (string, error) // makes a URL from it; nil: its value is a URL
	Add   func(s *Source, env Lookup)      // adds the values of other variables; nil: none
	With  string                           // names these variables, for people
}

func (b *Backend) has(t Trait) bool { return b != nil && slices.Contains(b.Traits, t) }

// traitFor returns the trait without which a backend does not take a key of a source, or of an entry of its watch. ok
// is false if every backend takes it.
func traitFor(key string) (t Trait, ok bool) {
	t, ok = map[string]Trait{
		"legible": Legible, "channels": Channels, "key_scheme": KeyScheme, "token_env": Tokens, "token_file": Tokens, "forget": Forget,
		"clients_unprotected": Nodes, "allow_recreate": Nodes, "names": Nodes, "node": Nodes, "semaphores_file": Nodes, "semaphore": Semaphores,
	}[key]
	return t, ok
}

// Backends are all backends that a config can name.
type Backends []Backend

// Of returns the backend of a type; nil if the type is unknown.
func (all Backends) Of(typ string) *Backend {
	for i := range all {
		if all[i].Type == typ {
			return &all[i]
		}
	}
	return nil
}

// byScheme returns the backend of a scheme. name must be in lower case.
func (all Backends) byScheme(name string) (*Backend, Scheme) {
	for i := range all {
		for _, s := range all[i].Schemes {
			if s.Name == name {
				return &all[i], s
			}
		}
	}
	return nil, Scheme{}
}

// with returns the titles of the backends that have a trait.
func (all Backends) with(t Trait) string {
	var titles []string
	for i := range all {
		if all[i].has(t) {
			titles = append(titles, all[i].Title)
		}
	}
	return format.Series(titles, " and ")
}

// onlyWith returns the part of a sentence that names the backends with a trait.
func (all Backends) onlyWith(t Trait) string { return "only for " + all.with(t) }

// Schemes lists the schemes of URLs, for people.
func (all Backends) Schemes() string {
	var list []string
	for _, b := range all {
		for _, s := range b.Schemes {
			if s.Shown != "" {
				list = append(list, s.Shown)
			}
		}
	}
	return format.Series(list, " or ")
}

func (all Backends) unknownScheme(scheme string) error {
	var known []string
	for _, b := range all {
		for _, s := range b.Schemes {
			known = append(known, s.Name)
		}
	}
	if near := address.Near(scheme, known...); near != "" {
		return fmt.Errorf("unknown scheme %q: did you mean %s://?", scheme, near)
	}
	if schemeWord().MatchString(scheme) {
		return fmt.Errorf("unknown scheme %q: write %s", scheme, all.Schemes())
	}
	return fmt.Errorf("unknown scheme: write %s", all.Schemes())
}
