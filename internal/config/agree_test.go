package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheFirstScreenIsOneOfThoseThatThereAre(t *testing.T) {
	t.Parallel()
	for start, ok := range map[string]bool{"auto": true, "pulse": true, "locks": true, "pulls": false, "[auto]": false} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte("sources:\n  - url: redis://h/0\nstart: "+start+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := load(t, path, noEnv)
		if ok && (err != nil || c.Start != start) || !ok && (err == nil || !strings.Contains(err.Error(), "3:8: start: ")) {
			t.Errorf("%s: %q, %v", start, c.Start, err)
		}
	}
}

func TestSourcesThatAgreeAreListed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"":                          {0, 0, 0},
		"agree: [a, c]":             {1, 0, 1},
		"agree: [[a, c]]":           {1, 0, 1},
		"agree:\n  - [c, b, a]\n":   {1, 1, 1},
		"agree:\n  - a\n  - b\n":    {1, 1, 0},
		"agree: [[a]]":              nil,
		"agree: [a]":                nil,
		"agree: [a, d]":             nil,
		"agree: [a, a]":             nil,
		"agree: [[a, b], [b, c]]":   nil,
		"agree: a":                  nil,
		"agree: {a: b}":             nil,
		"agree: [[a, b], c]":        nil,
		"agree: [a, [b, c]]":        nil,
		"agree: [[a, b], [[c, b]]]": nil,
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		text := "sources:\n  - {name: a, url: redis://h/0}\n  - {name: b, url: redis://h/1}\n  - {name: c, url: redis://h/2}\n" + text
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := load(t, path, noEnv)
		var got []int
		for i := range c.Sources {
			got = append(got, c.Sources[i].Agree)
		}
		if want == nil && (err == nil || !strings.Contains(err.Error(), "agree")) || want != nil && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}
