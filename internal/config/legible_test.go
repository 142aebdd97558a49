package config_test

import (
	"strings"
	"testing"
)

func TestLegiblePatternsAreReadOrRefused(t *testing.T) {
	t.Parallel()
	c, err := parse(t, []byte(`sources: [{url: "redis://h", legible: ["^[0-9a-f]{12}$", 'by=(\w+)']}]`), "/etc/c.yaml", noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if list := c.Sources[0].Legible; len(list) != 2 || !list[0].MatchString("0123456789ab") || list[1].NumSubexp() != 1 {
		t.Errorf("%v", list)
	}
	for text, want := range map[string]string{
		`legible: ["(TOPSECRET"]`: "c.yaml:1:40: sources[0].legible[0]: not a regular expression (RE2): missing closing )",
		`legible: ["x", ""]`:      "c.yaml:1:45: sources[0].legible[1]: is empty",
		`legible: x`:              "c.yaml:1:39: sources[0].legible: must be a list",
		`legible: ["((((((((x{100}){100}){100}){100}){100}){100}){100}){100}"]`: "sources[0].legible[0]: not a regular expression (RE2): ",
	} {
		_, err := parse(t, []byte(`sources: [{url: "redis://h", `+text+`}]`), "/etc/c.yaml", noEnv)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "TOPSECRET") {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
	_, err = parse(t, []byte(`sources: [{url: "postgres://h/d", legible: [x]}]`), "/etc/c.yaml", noEnv)
	if err == nil || !strings.Contains(err.Error(), "sources[0].legible: only for Redis") {
		t.Errorf("%v", err)
	}
}
