package format

import (
	"strings"
	"time"
)

// InstantForms says how an instant is written.
const InstantForms = "12:31, 12:31:05, yesterday 22:00, today, 2026-11-22, 2026-11-22 12:31, an RFC 3339 time, or 2h, 90m or 1d for so long ago"

// ParseInstant reads an instant as people write it, see InstantForms, in the zone of now, while
// they look at an instant, shown: a length goes back from that, and a time of day without a date is one
// of its day, or where that is still to come of the day before. ok is false where it is none.
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

// onDay is a time of day, or without one the beginning, of the day of t.
func onDay(t time.Time, clock string) (_ time.Time, ok bool) {
	y, month, day := t.Date()
	for _, form := range []string{"15:04:05", "15:04", ""} {
		if c, err := time.Parse(form, strings.TrimSpace(clock)); err == nil {
			return time.Date(y, month, day, c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), t.Location()), true
		}
	}
	return t, false
}
