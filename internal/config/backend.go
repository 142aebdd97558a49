package config

import (
	"fmt"
	"slices"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
)

// Backend is what a config must know of one kind of server.
type Backend struct {
	Type    string // as it is shown and printed: "redis"
	Title   string // for people: "Redis"
	Docs    Docs
	Schemes []Scheme
	Traits  []Trait
	// Parameter reads a parameter of a URL and reports whether it is one of ours. An error about
	// one that is not says what is wrong, as far as that is known.
	Parameter func(t *Target, key, value string) (ours bool, err error)
	// Check reports what is wrong with a source that a file describes, without a look at anything
	// else; names are those of its locks.
	Check func(s Source, names map[string]string) error
	// Variables name servers in the environment: the first that does counts.
	Variables []Variable
}

// Docs describes a backend for people.
type Docs struct {
	Example string // a URL to start with, without a password
	Path    string // of the URL of a server of this machine
	Select  string // what to add to a URL where nothing was found
	Help    string // what else a URL selects with, behind "selects with "
}

// Scheme is one scheme of the URLs of a backend.
type Scheme struct {
	Name  string
	Port  string // the usual one
	Shown string // how people are told of it: "rediss:// (TLS)"; "": they are not
	Plain string // its connections are not encrypted: what to write where they are to be; "": they are, or can be
	Clear string // a parameter that turns encryption off; "": none
	// Primary reports whether the path begins with the name of what is watched: the hosts only know where it is.
	Primary bool
	Socket  bool // there is no host: the path is that of a socket of this machine
}

// Trait is something that only some backends have or take.
type Trait int

// The traits. The first are keys of a source.
const (
	Legible     Trait = iota // "legible": values that prove ownership
	Channels                 // "channels"
	KeyScheme                // "key_scheme"
	Tokens                   // "token_env" and "token_file"; a password there has a user
	Forget                   // "forget": what is gone without a word is forgotten after a while
	Nodes                    // "node": primitives live on coordination nodes
	Names                    // "names": locks are numbers that can be given names
	Semaphores               // there are semaphores
	LocalSocket              // a URL without a host means the local socket
	Numbered                 // the path of a URL is the number of a database, which may be shown
	Sharded                  // a URL may name several servers, and a lock belongs to one of them
)

// Variable is an environment variable that names a server.
type Variable struct {
	Name  string
	Typed bool                             // it is also used for other things: only a URL of this backend counts
	URL   func(env Lookup) (string, error) // makes a URL of it; nil: it is one
	Add   func(s *Source, env Lookup)      // adds what other variables say; nil: nothing does
	With  string                           // which those are, for people
}

func (b *Backend) has(t Trait) bool { return b != nil && slices.Contains(b.Traits, t) }

// traitFor returns the trait without which a backend does not take a key of a source, or of an entry of
// its watch. ok is false: every backend takes it.
func traitFor(key string) (t Trait, ok bool) {
	t, ok = map[string]Trait{
		"legible": Legible, "channels": Channels, "key_scheme": KeyScheme, "token_env": Tokens, "token_file": Tokens, "forget": Forget,
		"clients_unprotected": Nodes, "allow_recreate": Nodes, "names": Nodes, "node": Nodes, "semaphores_file": Nodes, "semaphore": Semaphores,
	}[key]
	return t, ok
}

// Backends are all that a config can name.
type Backends []Backend

// Of returns the backend of a type; nil: there is none.
func (all Backends) Of(typ string) *Backend {
	for i := range all {
		if all[i].Type == typ {
			return &all[i]
		}
	}
	return nil
}

// byScheme returns the backend that a scheme belongs to, which is in lower case.
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

// with are the titles of the backends that have a trait.
func (all Backends) with(t Trait) string {
	var titles []string
	for i := range all {
		if all[i].has(t) {
			titles = append(titles, all[i].Title)
		}
	}
	return format.Series(titles, " and ")
}

// onlyWith says who takes what needs a trait.
func (all Backends) onlyWith(t Trait) string { return "only for " + all.with(t) }

// Schemes are those of the URLs that this build watches, for people.
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
