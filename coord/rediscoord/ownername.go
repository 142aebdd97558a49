package rediscoord

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/legible"
	"coordtop/internal/ground/mask"
)

// Value is the parsed value of a key.
type Value struct {
	Data   []byte // the part after a UUID and one space; nil if none
	Opaque bool   // not all of the value is a name, and the rest is a secret
	ID     string // the owner: the value if all of it is a name, else the short id of the nonce
	Label  string // for people: the name in the value, else the data's first word, else ID
}

// longestShown is the length in bytes of the longest ID and Label.
const longestShown = 256

var (
	// uuidData matches values of LeaderService and of this driver: a UUID, alone or with one space and data.
	uuidData = lazy.Regexp(`(?s)^(` + legible.UUID + `)(?: (.*))?$`)
	// shedLock matches values of ShedLock: when the lock was taken, the host, and a UUID (lukas-krecan/ShedLock,
	// providers/redis, InternalRedisLockProvider).
	shedLock = lazy.Regexp(`^ADDED:[0-9TZ:.+-]{10,40}@([^@:\s]+):(` + legible.UUID + `)$`)
)

const (
	moment     = `\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`
	snakeNames = `(?i:(?:\w*_)?(?:ts|ttl|time|timestamp|at|count|counter|seq|renewals?|renewed|beats?|heartbeats?|expires|expiry|updated))`
	camelNames = `[a-z]\w*(?:Time|Timestamp|At|Count|Counter|Seq|Renewals?|Renewed|Beats?|Heartbeats?|Expires|Expiry)`
)

// rewritten matches the parts of a value that programs change at each renewal: a time, or a number that its name marks
// as a time or a count. Any other number may distinguish two owners.
var rewritten = lazy.Regexp(`\b(?:` + moment +
	`|(?:` + snakeNames + `|` + camelNames + `)"?\s*[:=]\s*"?(?:` + moment + `|\d+(?:\.\d+)?))`)

// numberedUUID matches a UUID, or 32 hex digits, with a number, for example of a job (BullMQ) or of the renewal.
var numberedUUID = lazy.Regexp(`^(` + legible.UUID + `|[0-9a-f]{32})[:/.#|-]\d+$`)

// shortestName is the length in bytes of the shortest part of a value that can be a name.
const shortestName = 3

// ownerPart returns the part of a value that identifies its owner: the part that the owner's renewals do not change. If
// that part is empty, it returns the whole value.
func ownerPart(raw []byte) []byte {
	if m := numberedUUID().FindSubmatch(raw); m != nil {
		return m[1]
	}
	head := raw[:min(len(raw), mostSearched)]
	if !mayHoldTime(head) || !rewritten().Match(head) {
		return raw
	}
	rest := bytes.Trim(append(rewritten().ReplaceAll(head, nil), raw[len(head):]...), " :;,|/@#_-")
	if len(rest) < shortestName || !bytes.ContainsFunc(rest, unicode.IsLetter) {
		return raw
	}
	return rest
}

// mostSearched is the number of bytes of a value that are searched for rewritten parts.
const mostSearched = 1024

// mayHoldTime reports whether rewritten can match, which needs a digit after a colon or an equals sign, or a date. Most
// values have neither, and the search costs a hundred times as much as this check.
func mayHoldTime(b []byte) bool {
	for i, c := range b {
		switch {
		case c == ':' || c == '=':
			if rest := bytes.TrimLeft(b[i+1:min(len(b), i+16)], " \t\""); len(rest) > 0 && isDigit(rest[0]) {
				return true
			}
		case c == '-' && i >= 4 && isDigit(b[i-1]) && isDigit(b[i-4]):
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// OwnerOf parses a value. Any value may prove ownership, so that it shows only these parts: a part that is positively a
// name (internal/ground/legible); the match of the first pattern that matches, or its first group if it has one; and
// the data after a UUID and a space, which proves nothing; the label shows this data without secrets. OwnerOf never
// fails, and neither ID nor Label has a control character. The ID has no part that a renewal changes.
func OwnerOf(raw []byte, patterns ...*regexp.Regexp) Value {
	part := ownerPart(raw)
	v := Value{Opaque: true, ID: ShortID(part)}
	v.Label = v.ID
	if m := uuidData().FindSubmatch(raw); m != nil {
		v.Data, v.ID = m[2], ShortID(m[1])
		v.Label = v.ID
		word, _, _ := strings.Cut(mask.Text(string(v.Data[:min(len(v.Data), longestLook)])), " ")
		if printable(word) {
			v.Label = word
		}
	} else if m := shedLock().FindSubmatch(raw); m != nil {
		v.ID = ShortID(m[2])
		v.Label = v.ID
		if host := string(m[1]); legible.Name(host) {
			v.Label = host
		}
	} else if text := string(part[:min(len(part), longestShown+1)]); legible.Name(text) {
		if mask.Text(text) == text { // else the text contains a login
			v.Opaque, v.ID, v.Label = len(part) < len(raw), text, text
		}
	} else if name := legible.Part(text); name != "" && mask.Text(text) == text {
		v.Label = name
	}
	if text, whole := matched(raw, patterns); text != "" {
		v.Label = text
		if whole {
			v.Opaque, v.Data, v.ID = false, nil, text
		}
	}
	return v
}

// Matched returns the part of a text that may be shown because a person's pattern says so: the match of the first
// pattern that has one, or its first group. It returns "" if there is no match.
func Matched(text string, patterns []*regexp.Regexp) string {
	found, _ := matched([]byte(text), patterns)
	return found
}

// matched also reports whether the match is the whole text.
func matched(raw []byte, patterns []*regexp.Regexp) (text string, whole bool) {
	for _, p := range patterns {
		m := p.FindSubmatchIndex(raw)
		if m == nil {
			continue
		}
		if len(m) > 2 {
			m = m[2:4]
		}
		if m[0] >= 0 && printable(string(raw[m[0]:m[1]])) {
			return string(raw[m[0]:m[1]]), m[0] == 0 && m[1] == len(raw)
		}
	}
	return "", false
}

// joinValue returns the value that a claim writes. Without data it has LeaderService's form.
func joinValue(nonce string, data []byte) string {
	if len(data) == 0 {
		return nonce
	}
	return nonce + " " + string(data)
}

// ShortID returns the text that stands for a nonce: # and 8 hex digits of its sha1.
func ShortID(nonce []byte) string {
	sum := sha1.Sum(nonce)
	return "#" + hex.EncodeToString(sum[:4])
}

// Guard returns the text that a forced release of a whole key compares: a fingerprint of the key's name and value,
// which matches no other key. It reveals no secret.
func Guard(key string, value []byte) string { return fingerprint(key, "value", string(value)) }

// FieldGuard returns the guard for one field of a hash and its value.
func FieldGuard(key, field, value string) string { return fingerprint(key, "field", field, value) }

// MemberGuard returns the guard for one member of a sorted set.
func MemberGuard(key, member string) string { return fingerprint(key, "member", member) }

// fingerprint returns the sha1 of words with their lengths, in hex; lua/force.lua computes the same.
func fingerprint(words ...string) string {
	h := sha1.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s", len(w), w)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// printable reports whether a person can read s on one line: short, printable UTF-8.
func printable(s string) bool {
	if s == "" || len(s) > longestShown || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
