package app

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coordtop/sources/ydbsource"
)

func TestNamesThatAreKnownCompleteAURLOfYDB(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := ydbsource.NewKnownNames(filepath.Join(w.home, ".local", "state", "coordtop", "ydb-names"), "h:2136", "/local")
	if err := known.Add(t.Context(), "/local/app", []string{"job-1", "a b*", "leader"}); err != nil {
		t.Fatal(err)
	}
	const url = "grpc://h/local?node=/local/app&"
	for typed, want := range map[string][]string{
		url + "semaphore=job":                               {url + "semaphore=job-1"},
		url + "election=":                                   {url + `election=a%20b%5C%2A`, url + "election=job-1", url + "election=leader"},
		"grpc://h/local?node=/local/other&semaphore=":       nil,
		"grpc://elsewhere/local?node=/local/app&semaphore=": nil,
		"redis://h?mutex=":                                  nil,
	} {
		before := len(w.stdout.String())
		if code := w.main(t.Context(), "__complete", "get", typed); code != exitOK {
			t.Errorf("%s: exit code %d", typed, code)
		}
		var got []string
		for line := range strings.Lines(w.stdout.String()[before:]) {
			if strings.Contains(line, "?") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
