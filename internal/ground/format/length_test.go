package format_test

import (
	"testing"
	"time"

	"coordtop/internal/ground/format"
)

func TestALengthIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	const none = time.Duration(-1)
	for text, want := range map[string]time.Duration{
		"250ms": 250 * time.Millisecond, "1h30m": 90 * time.Minute, "0s": 0, "0d": 0, "7d": 168 * time.Hour, "1.5d": 36 * time.Hour, "1d12h": 36 * time.Hour, "106751d": 106751 * 24 * time.Hour,
		"": none, "5": none, "-1s": none, "-1d": none, "d": none, "1dd": none, "1d2d": none, "1h2d": none, "1d-1h": none, "infd": none, "1d5": none, "106752d": none, "9999999999999d": none,
		"106751d23h59m": none,
	} {
		if got, ok := format.ParseLength(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, ok, want)
		}
	}
}
