package filter

import (
	"math"
	"strconv"
	"strings"
	"time"
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

// units from the longest to the shortest; "ms" stands before "m" where it is looked for.
var units = [...]struct {
	name string
	size time.Duration
}{{"ms", time.Millisecond}, {"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// parseLength reads "1h30m" and returns the smallest unit that was written.
func parseLength(s string) (n, unit int64, ok bool) {
	unit = largest
	for s != "" {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		count, good := parseCount(s[:digits])
		s = s[digits:]
		size := int64(0)
		for _, u := range units {
			if strings.HasPrefix(s, u.name) {
				size, s = int64(u.size), s[len(u.name):]
				break
			}
		}
		if !good || size == 0 || count > maxCount/size || n > maxCount-count*size {
			return 0, 0, false
		}
		n += count * size
		unit = min(unit, size)
	}
	return n, unit, unit != largest
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
