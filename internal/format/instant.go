package format

import (
	"strings"
	"time"
)

// InstantForms says how an instant is written.
const InstantForms = "12:31, 12:31:05, 2026-11-22 12:31, an RFC 3339 time, or -15m for a quarter of an hour ago"

// ParseInstant reads an instant as people write it, see InstantForms, in the zone of now. A
// time of day without a date is the last one up to now. ok is false where it is none.
func ParseInstant(text string, now time.Time) (t time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if ago, found := strings.CutPrefix(text, "-"); found {
		d, ok := ParseLength(ago)
		return now.Add(-d), ok
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, true
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if clock, err := time.Parse(form, text); err == nil {
			t = time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), now.Location())
			if t.After(now) {
				t = t.AddDate(0, 0, -1)
			}
			return t, true
		}
	}
	return time.Time{}, false
}
