package pgsource

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// program is a program that is known to use a lock.
type program struct {
	name string // "Prisma Migrate"
	hint string // a word in the application name, user or query of its sessions
	weak bool   // anything may use the number, so that the program is named only if the hint is found
	wide bool   // others may use the number, although none is known to, so that the name begins with "likely"
}

// alias returns the name that people use for a lock: that of the configuration, else those of the programs that are
// known to use this key. If several use it, the sessions may show which one it is, and the text calls it a guess. If
// the key alone proves too little, the sessions must also match.
func (t *lockTable) alias(l *lock) (string, sources.Known) {
	if name, ok := t.names[l.key]; ok {
		return name, sources.Told
	}
	text := ""
	switch {
	case l.rule != nil && l.rule.named: // the lock has its own name; the number is what the server shows
		return "key " + l.key.String(), sources.Told
	case len(l.programs) == 0:
		text = spelled(l.key)
	default:
		text = aliasText(l.programs, func(hint string) bool { return t.hinted(l, hint) })
	}
	if text == "" {
		return "", sources.Unknown
	}
	return text, sources.Inferred
}

// aliasText returns the alias for these programs.
func aliasText(known []program, hinted func(hint string) bool) string {
	if len(known) == 1 && !known[0].weak && !known[0].wide {
		return known[0].name
	}
	fit := slices.DeleteFunc(slices.Clone(known), func(k program) bool { return k.hint == "" || !hinted(k.hint) })
	if len(fit) == 0 {
		fit = slices.DeleteFunc(slices.Clone(known), func(k program) bool { return k.weak })
	}
	if len(fit) == 0 {
		return ""
	}
	names := make([]string, len(fit))
	for i, k := range fit {
		names[i] = k.name
	}
	return "likely " + format.Series(names, " or ")
}

// hinted reports whether the known facts about a lock's sessions contain a word. The name of the database is not
// searched, because it does not show who uses it.
func (t *lockTable) hinted(l *lock, hint string) bool {
	for i := range l.rows {
		s := t.sessions[l.rows[i].pid]
		if s == nil {
			continue
		}
		if slices.ContainsFunc([]string{s.who.application, s.who.user, s.does.query}, func(text string) bool { return hasWord(strings.ToLower(text), hint) }) {
			return true
		}
	}
	return false
}

// shortWord is the maximum length of a word that must stand alone. "que" does not match in "queue", but "timescale"
// matches in "timescaledb".
const shortWord = 3

// hasWord reports whether text contains a word, in lower case, with no letter before it.
func hasWord(text, word string) bool {
	letter := func(i int) bool { return i >= 0 && i < len(text) && 'a' <= text[i] && text[i] <= 'z' }
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if !letter(i-1) && (len(word) > shortWord || !letter(i+len(word))) {
			return true
		}
		from = i + 1
	}
}

// spelled returns the text from which a key is made, if any: the bytes of the number, or a name of at most nine
// characters that DistributedLock (.NET) packs into a key.
func spelled(k pgcoord.Key) string {
	if n, ok := k.Bigint(); ok {
		text := bytes.TrimLeft(binary.BigEndian.AppendUint64(nil, uint64(n)), "\x00")
		if len(text) >= 4 && legible(text) {
			return `ASCII "` + string(text) + `"`
		}
		return ""
	}
	if _, _, ok := k.Pair(); !ok {
		return ""
	}
	if text := unpack7(uint64(k.Class)<<32 | uint64(k.Object)); len(text) >= 2 && legible(text) {
		return `likely DistributedLock "` + string(text) + `"`
	}
	return ""
}

// unpack7 decodes characters of 7 bits, followed by a 0 and then ones (madelson/DistributedLock,
// src/DistributedLock.Postgres/PostgresAdvisoryLockKey.cs). It returns nil for other keys.
func unpack7(key uint64) []byte {
	length := 9
	for length > 0 && key&0x7f == 0x7f {
		length--
		key >>= 7
	}
	if key&1 != 0 {
		return nil
	}
	key >>= 1
	text := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		text[i] = byte(key & 0x7f)
		key >>= 7
	}
	return text
}

func legible(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.:/", c) >= 0)
	})
}
