package lockformat

import (
	"regexp"
	"strings"

	"coordtop/sources"
)

// Type is a type of Redis, as named by the TYPE command.
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
	Size    int    // of the whole string, or the number of fields or members; -1 if there are too many, so that none was read
	Leased  bool   // the key has a TTL
	Fields  map[string]string
	Members []Member // of a sorted set by score, or of a list from the head
}

// Member is a member of a sorted set or of a list.
type Member struct {
	Text  string
	Score float64
}

// Format is one way to keep a lock.
type Format struct {
	Program string       // the library: "Redisson"
	Kind    sources.Kind // if KindUnknown, the word in the name decides, and without one it is a mutex
	Certain bool         // name or value prove that the lock is from this library
	NoTTL   bool         // its locks have no TTL by design
	Weak    bool         // without a word for a lock in the name, the key may be no lock
	Nonce   bool         // the value is new with each grant, not the same for a client, process or lock object
	Release Release

	// The conditions on a key; all of them must be true.

	typ            Type
	name           name
	fixed          bool   // the name alone proves the format, with any value
	needsWord      bool   // the name has a word for a lock, or the kind is configured
	needsSemaphore bool   // that word, or that kind, is for a semaphore
	values         form   // form of a string; 0 for any
	members        form   // form of each field of a hash, or member of a sorted set; 0 for any
	mark           string // a required field or member; "" if none

	beside []companion
	// read fills a Lock from the key and its companions. It is nil if the value is the only owner.
	read func(l *Lock, c *Content, beside []Content, o Options)
}

// name is a condition on a key's name. The zero value matches any name.
type name struct {
	begins string // at the start
	part   string // at the start, or after a separator
	ends   string

	pattern func() *regexp.Regexp // nil for any
}

func (n name) match(s string) bool {
	return (n.pattern == nil || n.pattern().MatchString(s)) && strings.HasPrefix(s, n.begins) && strings.HasSuffix(s, n.ends) && partAt(s, n.part) >= 0
}

// partAt returns the index of part in s, at the start or after a separator, or -1.
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

// Separators are the characters that end a part of a key's name.
const Separators = ":/.|-_#@{}"

// marks has the fields and members that are not owners.
var marks = map[string]bool{"mode": true, "__write__": true}
