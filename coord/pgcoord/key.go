package pgcoord

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"coordtop/internal/ground/lazy"
)

// ErrKey reports that a text is no key.
var ErrKey = errors.New("not a key of an advisory lock")

// Key identifies an advisory lock within a database, as pg_locks reports it: the columns
// classid, objid and objsubid. It is comparable. The zero Key cannot be locked.
type Key struct {
	Class, Object uint32
	Sub           uint16 // 1: one bigint, 2: two int4, anything else: an extension's own
}

// The values of Key.Sub that the SQL functions use.
const (
	subBigint = 1
	subPair   = 2
)

// BigintKey returns the key of pg_advisory_lock(bigint).
func BigintKey(n int64) Key {
	return Key{Class: uint32(uint64(n) >> 32), Object: uint32(uint64(n)), Sub: subBigint}
}

// PairKey returns the key of pg_advisory_lock(int4, int4). The pair (0, 5) and the bigint 5 are different locks.
func PairKey(a, b int32) Key { return Key{Class: uint32(a), Object: uint32(b), Sub: subPair} }

// Foreign reports whether an extension made the key: the functions for advisory locks cannot take it.
func (k Key) Foreign() bool { return k.Sub != subBigint && k.Sub != subPair }

// Bigint returns the number of a one-number key. It returns false for another sort of key.
func (k Key) Bigint() (int64, bool) {
	return int64(uint64(k.Class)<<32 | uint64(k.Object)), k.Sub == subBigint
}

// Pair returns the numbers of a two-number key. ok is false for another sort of key.
func (k Key) Pair() (a, b int32, ok bool) {
	return int32(k.Class), int32(k.Object), k.Sub == subPair
}

// String returns a key as it stands in URLs, configuration and JSON: "4242", "17:-4", or "17:4/9" (class, object and
// sub, unsigned) for a key of an extension.
func (k Key) String() string {
	if n, ok := k.Bigint(); ok {
		return strconv.FormatInt(n, 10)
	}
	if a, b, ok := k.Pair(); ok {
		return fmt.Sprintf("%d:%d", a, b)
	}
	return fmt.Sprintf("%d:%d/%d", k.Class, k.Object, k.Sub)
}

// keyText matches the text of Key.String: one number, two, or the three of an extension's key.
var keyText = lazy.Regexp(`^(?:(-?\d+)|(-?\d+):(-?\d+)|(\d+):(\d+)/(\d+))$`)

// ParseKey reads the text of String. named reports whether the text is a name, whose key a Scheme computes. If numbers
// are out of range or the text is empty, the error wraps ErrKey.
func ParseKey(text string) (k Key, named bool, err error) {
	m := keyText().FindStringSubmatch(text)
	switch {
	case text == "":
		return Key{}, false, fmt.Errorf("%w: it is empty", ErrKey)
	case strings.ContainsRune(text, 0):
		return Key{}, false, fmt.Errorf("%w: Postgres has no text with a zero byte", ErrKey)
	case m == nil:
		return Key{}, true, nil
	case m[1] != "":
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return Key{}, false, fmt.Errorf("%w: a number does not fit into a bigint", ErrKey)
		}
		return BigintKey(n), false, nil
	case m[2] != "":
		a, err1 := strconv.ParseInt(m[2], 10, 32)
		b, err2 := strconv.ParseInt(m[3], 10, 32)
		if err1 != nil || err2 != nil {
			return Key{}, false, fmt.Errorf("%w: two numbers do not fit into two int4", ErrKey)
		}
		return PairKey(int32(a), int32(b)), false, nil
	}
	class, err1 := strconv.ParseUint(m[4], 10, 32)
	object, err2 := strconv.ParseUint(m[5], 10, 32)
	sub, err3 := strconv.ParseUint(m[6], 10, 16)
	if err1 != nil || err2 != nil || err3 != nil {
		return Key{}, false, fmt.Errorf("%w: three numbers are out of range", ErrKey)
	}
	return Key{Class: uint32(class), Object: uint32(object), Sub: uint16(sub)}, false, nil
}

// Scheme computes the bigint key of a name. The zero value is Hashtextextended.
type Scheme string

// The schemes. If the server computes the key and the name is not ASCII, the key depends on the database's
// encoding.
const (
	Hashtextextended Scheme = "hashtextextended" // hashtextextended(name, 0), computed by the server
	Hashtext         Scheme = "hashtext"         // hashtext(name), computed by the server: pg_partman, Electric
	CRC32            Scheme = "crc32"            // crc32 (IEEE) as a signed int4: django-pglocks, Concourse
	SHA256LE         Scheme = "sha256le"         // first 8 bytes of sha256, little-endian: django-pglock
)

// SchemeNames returns the names of all schemes.
func SchemeNames() []string {
	return []string{string(Hashtextextended), string(Hashtext), string(CRC32), string(SHA256LE)}
}

// ParseScheme reads a scheme's name; "" means Hashtextextended.
func ParseScheme(text string) (Scheme, error) {
	switch {
	case text == "":
		return Hashtextextended, nil
	case slices.Contains(SchemeNames(), text):
		return Scheme(text), nil
	}
	return "", errors.New("no such key scheme: write one of " + strings.Join(SchemeNames(), ", "))
}

// Key returns the key of a name, if it can be computed here. Else sql is a statement with which the server computes it.
// Its parameter $1 is the name, and it answers one bigint.
func (s Scheme) Key(name string) (k Key, sql string) {
	switch s {
	case Hashtext:
		return Key{}, "select pg_catalog.hashtext($1::text)::bigint"
	case CRC32:
		return BigintKey(int64(int32(crc32.ChecksumIEEE([]byte(name))))), ""
	case SHA256LE:
		sum := sha256.Sum256([]byte(name))
		return BigintKey(int64(binary.LittleEndian.Uint64(sum[:8]))), ""
	}
	return Key{}, "select pg_catalog.hashtextextended($1::text, 0)"
}
