package format_test

import (
	"testing"
	"time"

	"coordtop/internal/format"
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
		"":                         {},
	} {
		got, ok := format.ParseInstant(text, now)
		if ok == want.IsZero() || ok && !got.Equal(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
}
