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

// Content is what stands in one key. The zero value is a key that does not exist.
type Content struct {
	Type    Type
	Text    []byte // of a string: its first bytes
	Size    int    // of the whole string, or how many fields or members there are; -1: too many, none was read
	Leased  bool   // the key ends by itself
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
	Weak    bool         // without a word in its name not even a lock is proved
	Nonce   bool         // each take surely draws a value of its own; not that of a client, a process, a lock object or another program
	Release Release

	// What a key must be, all of it.

	typ            Type
	name           name
	fixed          bool   // the name alone proves it, whatever the value is
	needsWord      bool   // the name has a word for a lock, or a person named the kind
	needsSemaphore bool   // that word, or that kind, is a semaphore's
	values         form   // of a string; 0: any
	members        form   // of each field of a hash, or member of a sorted set; 0: any
	mark           string // a field or member that is there; "": none is needed

	beside []companion // what is read with the key
	// read reads key and companions into a Lock; nil: the value is the one owner.
	read func(l *Lock, c *Content, beside []Content, o Options)
}

// name is what a key's name must have. The zero value is any name.
type name struct {
	begins string // at the very start
	part   string // at the start, or behind a separator
	ends   string

	pattern func() *regexp.Regexp // nil: any
}

func (n name) match(s string) bool {
	return (n.pattern == nil || n.pattern().MatchString(s)) && strings.HasPrefix(s, n.begins) && strings.HasSuffix(s, n.ends) && partAt(s, n.part) >= 0
}

// partAt is where part begins in s: at the start or behind a separator; -1: nowhere.
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
