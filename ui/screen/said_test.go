package screen

import (
	"testing"

	"coordtop/ui/uitest"
)

func TestDataOfEventsIsShownWithoutBackslashes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ detail, want string }{
		{`"report=1/4"`, `"report=1/4"`}, {`"{\"version\":2}"`, `{"version":2}`}, {`"{\"a\":\"x"... (300 bytes)`, `{"a":"x... (300 bytes)`},
		{`"{\"a\":\"\\n\"}"`, `"{\"a\":\"\\n\"}"`}, {`"a\x1b\"b"`, `"a\x1b\"b"`}, {`plain`, `plain`}, {``, ``},
	} {
		if got := said(c.detail); got != c.want {
			t.Errorf("%s is shown as %s, not %s", c.detail, got, c.want)
		}
	}
}

func TestASessionIsShortWhereItEndsInATime(t *testing.T) {
	t.Parallel()
	sc := &Scene{Clocks: Clocks{Now: uitest.Noon()}}
	for given, want := range map[string]string{"7c0011": "7c0011", "a@b": "a@b", "": "", "9875@2026-11-21T05:13:57.889383Z": "9875@05:13:57"} {
		if got := shortSession(sc, given); got != want {
			t.Errorf("%q became %q", given, got)
		}
	}
}
