package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Age writes a length of time in at most six characters, rounded down: "8s", "41s",
// "12m", "3h12m", "1d04h", "12d". Below ten minutes it keeps the seconds: "9m27s".
// A negative length is "0s".
func Age(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s < 600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 3600:
		return strconv.FormatInt(s/60, 10) + "m"
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	case s < 10*86400:
		return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
	}
	return strconv.FormatInt(s/86400, 10) + "d"
}

// Left writes the rest of a time, in whole seconds rounded up, so that it reads 0s only when nothing is left. A minute
// or more is written like Age.
func Left(d time.Duration) string {
	if d <= 0 {
		return "0s"
	}
	if d > time.Minute {
		return Age(d)
	}
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10) + "s"
}

// Offset says how far a clock is from another one: "5m00s ahead of", "2.0 s behind".
func Offset(ahead time.Duration) string {
	if ahead < 0 {
		return Precise(-ahead) + " behind"
	}
	return Precise(ahead) + " ahead of"
}

// Precise writes a length of time for a sentence: "0.8 ms", "210 ms", "3.8 s", "41 s", and longer ones like Age. A
// negative length is "0 ms".
func Precise(d time.Duration) string {
	switch d = max(d, 0); {
	case d == 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	}
	return Age(d)
}

// Count writes n with a comma between thousands: "812,000".
func Count(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// LengthForms lists the ways to write a length of time: with its unit.
const LengthForms = "30s, 1h30m or 7d"

// ParseLength reads a length of time as people write it, see LengthForms. ok is false if text is not a length, or is
// negative.
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

// InstantForms lists the ways to write an instant.
const InstantForms = "12:31, 12:31:05, yesterday 22:00, today, 2026-11-22, 2026-11-22 12:31, an RFC 3339 time, or 2h, 90m or 1d for so long ago"

// ParseInstant reads an instant as people write it, see InstantForms, in the zone of now. shown is the instant on the
// screen: a length counts back from it, and a time of day without a date lies on its day, or on the day before if it
// would be in the future. ok is false if text is not an instant.
func ParseInstant(text string, now, shown time.Time) (t time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if d, ok := ParseLength(strings.TrimSuffix(strings.TrimPrefix(text, "-"), " ago")); ok {
		return shown.Add(-d), true
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, true
		}
	}
	word, clock, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "now":
		return now, clock == ""
	case "today":
		return onDay(now, clock)
	case "yesterday":
		return onDay(now.AddDate(0, 0, -1), clock)
	case "":
		return t, false
	}
	if t, ok = onDay(shown.In(now.Location()), text); ok && t.After(now) {
		t, ok = onDay(shown.In(now.Location()).AddDate(0, 0, -1), text)
	}
	return t, ok
}

// onDay returns a time of day on the day of t; the beginning of that day if clock is empty.
func onDay(t time.Time, clock string) (_ time.Time, ok bool) {
	y, month, day := t.Date()
	for _, form := range []string{"15:04:05", "15:04", ""} {
		if c, err := time.Parse(form, strings.TrimSpace(clock)); err == nil {
			return time.Date(y, month, day, c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), t.Location()), true
		}
	}
	return t, false
}
