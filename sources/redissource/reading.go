package redissource

import (
	"time"

	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// shape is what was found under a key's name.
type shape uint8

const (
	missing shape = iota
	text          // a string
	table         // a hash or a sorted set small enough to be read
	other         // anything else; reading.typ says what
	denied        // we have no right to read it
	moved         // another node of a cluster has it
)

// reading is one look at one key. Sent and got bound the instant it is true for.
type reading struct {
	shape     shape
	sent, got time.Time
	ttl       time.Duration // what is left; noTTL: it stays for ever
	head      []byte        // of a string
	size      int           // of the whole string
	typ       string        // of another type: Redis's name for it
	fields    map[string]string
	members   []lockformat.Member
	beside    []lockformat.Content // of the companions; nil: it has none, or they were not read
}

// content is what stands in the key.
func (r *reading) content() *lockformat.Content {
	c := &lockformat.Content{Type: lockformat.Type(r.typ), Leased: r.leased(), Fields: r.fields, Members: r.members}
	switch c.Size = len(r.fields) + len(r.members); r.shape {
	case text:
		c.Type, c.Text, c.Size = lockformat.String, r.head, r.size
	case other:
		c.Size = -1
	}
	return c
}

const noTTL time.Duration = -1

// The server counts milliseconds and cuts fractions off, so a remainder is right to one.
const tick = time.Millisecond

// expiry is the span in which the lease ends, on our clock.
func (r *reading) expiry() span {
	return span{r.sent.Add(r.ttl - tick), r.got.Add(r.ttl + tick)}
}

// span is a stretch of time: (after, at].
type span struct{ after, at time.Time }

// doubt is by how much two spans of the same lease may miss each other.
const doubt = 2 * time.Millisecond

func (s span) length() time.Duration { return s.at.Sub(s.after) }

// laterThan reports whether s surely lies behind old.
func (s span) laterThan(old span) bool { return s.after.Sub(old.at) > doubt }

// narrowed returns what s and t, which tell of the same instant, have in common.
func (s span) narrowed(t span) span {
	s = span{sources.Later(s.after, t.after), sources.Earlier(s.at, t.at)}
	if !s.at.After(s.after) {
		return t
	}
	return s
}
