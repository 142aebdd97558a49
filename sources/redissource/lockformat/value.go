package lockformat

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/legible"
)

// form classifies a value by its text. Each form is one bit.
type form uint

const (
	isUUID         form = 1 << iota // alone
	isUUIDData                      // with a blank and data
	isUUIDNumber                    // with a colon and a number
	isUUIDWrite                     // Redisson's writer
	isUUIDPermit                    // redis-semaphore's, with _ and the permit's number
	isHex                           // 16 bytes
	isHexTime                       // a UUID of version 1 without dashes
	isBase64                        // 16 bytes, padded
	isBase64Long                    // 32 bytes, padded
	isBase64URL                     // 16 bytes, not padded, with any text behind them
	isRandom16                      // letters and digits
	isRandom22                      // letters and digits, capitals and small ones
	isSerialized16                  // the same in PHP's serialisation
	isShedLock
	isJobID  // 12 bytes in hex
	isNumber // or a time
	isOther
)

var (
	uuids = lazy.Regexp(`^` + legible.UUID + `(?s:(:\d+)?(:write)?|(_\d+)| .*)$`)
	texts = []struct {
		size    int // in bytes; 0 for any
		pattern func() *regexp.Regexp
		form    form
	}{
		{32, lazy.Regexp(`^[0-9a-f]{32}$`), isHex},
		{24, lazy.Regexp(`^[0-9A-Za-z+/]{21}[AQgw]==$`), isBase64},
		{44, lazy.Regexp(`^[0-9A-Za-z+/]{42}[AEIMQUYcgkosw048]=$`), isBase64Long},
		{24, lazy.Regexp(`^[0-9a-f]{24}$`), isJobID},
		{16, lazy.Regexp(`^[0-9A-Za-z]{16}$`), isRandom16},
		{24, lazy.Regexp(`^s:16:"[0-9A-Za-z]{16}";$`), isSerialized16},
		{0, lazy.Regexp(`^ADDED:[^@]+@.+$`), isShedLock},
		{0, lazy.Regexp(`^[0-9A-Za-z_-]{21}[AQgw]`), isBase64URL},
		{22, lazy.Regexp(`^[0-9A-Za-z]{22}$`), isRandom22},
	}
)

// formOf returns the form of a string's value; 0 for any other type.
func formOf(c *Content) form {
	if c.Type != String {
		return 0
	}
	if c.Size > len(c.Text) {
		return isOther
	}
	return formOfText(c.Text)
}

func formOfText(text []byte) form {
	if m := uuids().FindSubmatch(text); m != nil {
		switch {
		case len(m[3]) > 0:
			return isUUIDPermit
		case len(m[2]) > 0:
			return isUUIDWrite
		case len(m[1]) > 0:
			return isUUIDNumber
		case len(text) > uuidLen:
			return isUUIDData
		}
		return isUUID
	}
	if IsNumberOrTime(text) {
		return isNumber
	}
	for _, t := range texts {
		if t.size != 0 && t.size != len(text) || !t.pattern().Match(text) {
			continue
		}
		switch {
		case t.form == isHex && isTimeUUID(text):
			return isHexTime
		case (t.form == isBase64URL || t.form == isRandom22) && !mixed(text[:nonceLen]):
			return isOther
		}
		return t.form
	}
	return isOther
}

// isTimeUUID reports whether 32 hex digits are a UUID of version 1 from this century. Of random texts, one in 2,000 is.
func isTimeUUID(text []byte) bool {
	id, err := uuid.ParseBytes(text)
	if err != nil || id.Version() != 1 || id.Variant() != uuid.RFC4122 {
		return false
	}
	year := time.Unix(id.Time().UnixTime()).Year()
	return year >= 2000 && year < 2100
}

// mixed reports whether text has capitals and small letters and is no name.
func mixed(text []byte) bool {
	return bytes.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && bytes.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") &&
		!legible.Name(string(text))
}

const (
	uuidLen  = 36
	nonceLen = 22 // 16 bytes in base64, not padded
)

// longestNumber is the maximum length in bytes of a value that is parsed as a number or a time, because each failed
// parse copies the value.
const longestNumber = 64

// IsNumberOrTime reports whether a value is a number or a time, which names no owner.
func IsNumberOrTime(value []byte) bool {
	if len(value) > longestNumber {
		return false
	}
	text := strings.TrimSpace(string(value))
	if text == "" || !strings.ContainsRune("0123456789+-.iInN", rune(text[0])) { // a failed try copies it
		return false
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return true
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05 -0700", time.DateOnly} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// NamesNobody reports whether a value names no owner and only marks the lock as owned: a number, a time, a boolean
// (also in PHP's serialisation), or nothing.
func NamesNobody(value []byte) bool {
	value = bytes.Trim(value, `"`)
	return IsNumberOrTime(value) || len(value) <= longestNumber && truths().Match(value)
}

var truths = lazy.Regexp(`(?i)^(|true|false|yes|no|on|ok|y|t|locked|lock|taken|held|null|nil|none|undefined|[ibd]:[0-9.]{1,20};)$`)

// clock formats a time in milliseconds since 1970, from another machine's clock.
func clock(millis float64) string {
	return time.UnixMilli(int64(millis)).UTC().Format(time.RFC3339)
}
