package rediscoord

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"log/slog"
	"unicode"
	"unicode/utf8"
)

// Nonce is the part of a key's value that proves ownership. Who knows an opaque one can
// release the key, so formatting and logging a Nonce show its short id instead; convert
// it to a string to get at it.
type Nonce string

// String returns the short id.
func (n Nonce) String() string { return ShortID([]byte(n)) }

// GoString returns the short id, so that %#v keeps the secret too.
func (n Nonce) GoString() string { return n.String() }

// LogValue returns the short id.
func (n Nonce) LogValue() slog.Value { return slog.StringValue(n.String()) }

// Value is a key's value taken apart.
type Value struct {
	Nonce  Nonce  // what distinguishes this owner from every other
	Data   []byte // what stands behind an opaque nonce and one space; nil: none
	Opaque bool   // the nonce is random and says nothing to a person
	ID     string // the owner: the short id of an opaque nonce, the text of a legible one
	Label  string // for people: the legible value, else the data's first word, else ID
}

// longestLegible is the length in bytes up to which a value can be somebody's name. A
// longer one is treated as opaque.
const longestLegible = 256

// ParseValue takes a value apart: a nonce (LeaderService's UUID, or what other libraries
// write), or a nonce, one space and data, or a text that names its owner. It never fails,
// and neither ID nor Label holds a control character.
func ParseValue(raw []byte) Value {
	head, data, has := bytes.Cut(raw, []byte{' '})
	switch {
	case has && opaque(head):
		v := opaqueValue(head)
		v.Data = data
		word, _, _ := bytes.Cut(data, []byte{' '})
		if legible(word) {
			v.Label = string(word)
		}
		return v
	case opaque(raw) || !legible(raw):
		return opaqueValue(raw)
	}
	return Value{Nonce: Nonce(raw), ID: string(raw), Label: string(raw)}
}

func opaqueValue(nonce []byte) Value {
	id := ShortID(nonce)
	return Value{Nonce: Nonce(nonce), Opaque: true, ID: id, Label: id}
}

// joinValue is the value a claim writes: LeaderService's form when there is no data.
func joinValue(nonce string, data []byte) string {
	if len(data) == 0 {
		return nonce
	}
	return nonce + " " + string(data)
}

// ShortID is how an opaque nonce is shown: # and 8 hex digits of its sha1.
func ShortID(nonce []byte) string {
	sum := sha1.Sum(nonce)
	return "#" + hex.EncodeToString(sum[:4])
}

// Guard is what a compare-and-act on the whole value compares: its sha1 in hex, as Redis's
// redis.sha1hex computes it. It gives no secret away.
func Guard(raw []byte) string {
	sum := sha1.Sum(raw)
	return hex.EncodeToString(sum[:])
}

// legible reports whether a person can read b as a name: short, printable UTF-8.
func legible(b []byte) bool {
	if len(b) == 0 || len(b) > longestLegible || !utf8.Valid(b) {
		return false
	}
	return bytes.IndexFunc(b, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
