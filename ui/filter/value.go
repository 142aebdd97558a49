package filter

import (
	"math"
	"strconv"
	"strings"
	"time"

	"coordtop/internal/format"
)

const (
	smallest = math.MinInt64
	largest  = math.MaxInt64
)

// maxCount keeps sums with numbers and lengths of time far from their ends.
const maxCount = 1 << 60

func parseCount(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && n < maxCount
}

// hasUnit reports whether a value is a length of time rather than a plain number.
func hasUnit(s string) bool { return strings.Trim(s, "0123456789") != "" }

// parseLength reads "1h30m" and returns the last unit that was written.
func parseLength(s string) (n, unit int64, ok bool) {
	d, ok := format.ParseLength(s)
	last := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[s[strings.LastIndexAny(s, "0123456789")+1:]]
	return int64(d), int64(last), ok && last > 0 && d < maxCount
}

// contains returns what reports whether a text holds word, in any case of letters. It allocates
// nothing for a text in lower case: it runs over every row as somebody types.
func contains(word string) func(string) bool {
	lower := strings.ToLower(word)
	return func(s string) bool { return strings.Contains(strings.ToLower(s), lower) }
}

func equals(value string) func(string) bool {
	return func(s string) bool { return strings.EqualFold(s, value) }
}

// OneWord writes words as one, so that they need no quotes: "led, renewal late" is
// led-renewal-late.
func OneWord(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '-' || r == '_' }), "-")
}
