package format

import (
	"math"
	"strings"
	"time"
)

// LengthForms says how a length of time is written: with its unit.
const LengthForms = "30s, 1h30m or 7d"

// ParseLength reads a length of time as people write it, see LengthForms. ok is false where it is
// none, or negative.
func ParseLength(text string) (d time.Duration, ok bool) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= 0
	}
	if strings.Trim(days, "0123456789.") != "" {
		return 0, false
	}
	d, err := time.ParseDuration(days + "h")
	if err != nil || d > math.MaxInt64/24 {
		return 0, false
	}
	d *= 24
	if rest != "" {
		more, ok := ParseLength(rest)
		if !ok || strings.Contains(rest, "d") {
			return 0, false
		}
		d += more
	}
	return d, d >= 0
}
