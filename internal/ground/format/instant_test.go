package format_test

import (
	"testing"
	"time"

	"coordtop/internal/ground/format"
)

func TestAnInstantIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3600)
	now := time.Date(2026, 11, 22, 12, 40, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"12:31":                    time.Date(2026, 11, 22, 12, 31, 0, 0, zone),
		" 12:31:05.250 ":           time.Date(2026, 11, 22, 12, 31, 5, 250e6, zone),
		"12:40":                    now,
		"12:41":                    time.Date(2026, 11, 21, 12, 41, 0, 0, zone),
		"3:12":                     time.Date(2026, 11, 22, 3, 12, 0, 0, zone),
		"today":                    time.Date(2026, 11, 22, 0, 0, 0, 0, zone),
		"Yesterday":                time.Date(2026, 11, 21, 0, 0, 0, 0, zone),
		"yesterday 22:00":          time.Date(2026, 11, 21, 22, 0, 0, 0, zone),
		"yesterday 3:12:05":        time.Date(2026, 11, 21, 3, 12, 5, 0, zone),
		"now":                      now,
		"2h":                       now.Add(-2 * time.Hour),
		"90m ago":                  now.Add(-90 * time.Minute),
		"1d":                       now.Add(-24 * time.Hour),
		"1d12h":                    now.Add(-36 * time.Hour),
		"2026-11-20 03:12":         time.Date(2026, 11, 20, 3, 12, 0, 0, zone),
		"2026-11-20T03:12:09":      time.Date(2026, 11, 20, 3, 12, 9, 0, zone),
		"2026-11-20T03:12:09.001Z": time.Date(2026, 11, 20, 3, 12, 9, 1e6, time.UTC),
		"2026-11-20":               time.Date(2026, 11, 20, 0, 0, 0, 0, zone),
		"-15m":                     now.Add(-15 * time.Minute),
		"-2d":                      now.Add(-48 * time.Hour),
		"--2d":                     {},
		"25:00":                    {},
		"-15":                      {},
		"noon":                     {},
		"yesterday noon":           {},
		"now 12:00":                {},
		"ago":                      {},
		"2 hours":                  {},
		"":                         {},
	} {
		got, ok := format.ParseInstant(text, now, now)
		if ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
}

// TestAnInstantIsReadFromWhatIsShown looks at the day before yesterday, at midnight.
func TestAnInstantIsReadFromWhatIsShown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 40, 0, 0, time.UTC)
	shown := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"15m":             shown.Add(-15 * time.Minute),
		"22:00":           shown.Add(22 * time.Hour),
		"yesterday 22:00": time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC),
		"now":             now,
	} {
		if got, ok := format.ParseInstant(text, now, shown); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
}
