package lockformat

import (
	"regexp"
	"strings"

	"coordtop/sources"
)

// Type is a type of Redis, as its TYPE command names it.
type Type string

// The types that are read.
const (
	String    Type = "string"
	Hash      Type = "hash"
	SortedSet Type = "zset"
	List      Type = "list"
)

// Content is the content of one key. The zero value is a key that does not exist.
type Content struct {
	Type    Type
	Text    []byte // of a string: its first bytes
	Size    int    // of the whole string, or the number of fields or members; -1: too many, none was read
	Leased  bool   // the key has a TTL
	Fields  map[string]string
	Members []Member // of a sorted set by score, of a list from its head
}

// Member is one of a sorted set or of a list.
type Member struct {
	Text  string
	Score float64
}

// Format is one way to keep a lock.
type Format struct {
	Program string       // the library: "Redisson"
	Kind    sources.Kind // KindUnknown: the word in the name decides, and without one it is a mutex
	Certain bool         // name or value prove that it is this library's
	NoTTL   bool         // its locks have no TTL by design
	Weak    bool         // without a word for a lock in its name, the key may be no lock at all
	Nonce   bool         // each take draws a new value; not one per client, process or lock object
	Release Release

	// The conditions on a key; all of them must hold.

	typ            Type
	name           name
	fixed          bool   // the name alone proves the format, whatever the value is
	needsWord      bool   // the name has a word for a lock, or the kind is configured
	needsSemaphore bool   // that word, or that kind, is a semaphore's
	values         form   // of a string; 0: any
	members        form   // of each field of a hash, or member of a sorted set; 0: any
	mark           string // a required field or member; "": none

	beside []companion
	// read reads key and companions into a Lock; nil: the value is the one owner.
	read func(l *Lock, c *Content, beside []Content, o Options)
}

// name is a condition on a key's name. The zero value matches any name.
type name struct {
	begins string // at the start
	part   string // at the start, or behind a separator
	ends   string

	pattern func() *regexp.Regexp // nil: any
}

func (n name) match(s string) bool {
	return (n.pattern == nil || n.pattern().MatchString(s)) && strings.HasPrefix(s, n.begins) && strings.HasSuffix(s, n.ends) && partAt(s, n.part) >= 0
}

// partAt returns the index of part in s, at the start or behind a separator; -1: it is not there.
func partAt(s, part string) int {
	for from := 0; ; {
		at := strings.Index(s[from:], part)
		if at < 0 {
			return -1
		}
		if at += from; at == 0 || strings.IndexByte(Separators, s[at-1]) >= 0 {
			return at
		}
		from = at + 1
	}
}

// Separators end a part of a key's name.
const Separators = ":/.|-_#@{}"

// marks are fields and members beside the owners.
var marks = map[string]bool{"mode": true, "__write__": true}
