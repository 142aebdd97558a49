package ydbsource

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

func TestRangesOfNumbersInNames(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"job":              "job",
		"job-{0..3}":       "job-0 job-1 job-2 job-3",
		"job-{08..11}/x":   "job-08/x job-09/x job-10/x job-11/x",
		"{9..10}-{1..2}":   "9-1 9-2 10-1 10-2",
		"{a..b}{}":         "{a..b}{}",
		`a\*`:              "a*",
		"job-*":            "error: no name is found by a *",
		"{3..1}":           "error: from the smaller to the larger number",
		"{0..999999999}":   "error: at most 100000 names",
		"{0..999}{0..999}": "error: at most 100000 names",
		"\xff":             "error: not UTF-8",
		"":                 "error: the name is empty",
	} {
		names, err := expand(pattern)
		if text, bad := strings.CutPrefix(want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%q: %v, want %s", pattern, err, text)
			}
		} else if got := strings.Join(names, " "); err != nil || sorted(got) != sorted(want) {
			t.Errorf("%q: %s, %v", pattern, got, err)
		}
	}
}

func sorted(names string) string {
	list := strings.Fields(names)
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestNamesInAFileAreWatchedAsTheFileChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "names.txt")
	write := func(text string) {
		t.Helper()
		noError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("# leaders\njob-{0..1}\n\nother\n")
	r := serve(t, ydbtest.Options{}, "job-0", "job-1", "job-2", "other", "fixed")
	r.lead(r.person(), "job-2", "a")
	r.watch(Options{Selections: elections("fixed"), Files: []NameFile{{Path: path}}}).synced()
	for _, name := range []string{"fixed", "job-0", "job-1", "other"} {
		r.Row("", name, "there", is(sources.StatusNoLeader))
	}
	write("job-{1..2}\n")
	r.Row("", "job-2", "led by a", ledBy("a"))
	r.State("what left the file to be gone", func(s *sources.State) bool {
		var names []string
		for _, row := range s.Rows {
			if row != nil {
				names = append(names, row.Name)
			}
		}
		slices.Sort(names)
		return slices.Equal(names, []string{"fixed", "job-1", "job-2"})
	})
	write("job-*\n")
	r.About(app, "what is wrong with the file", func(a sources.About) bool {
		return len(a.Warnings) == 1 && strings.Contains(a.Warnings[0], "names.txt") && strings.Contains(a.Warnings[0], "line 1: YDB lists no semaphores")
	})
	r.Row("", "job-2", "still led by a", ledBy("a"))
	noError(t, os.Remove(path))
	write("job-{0..2}\nfixed\n")
	r.Row("", "job-0", "back", is(sources.StatusNoLeader))
}

func TestANodeWithoutNamesIsWatchedOnceTheFileHasSome(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "names.txt")
	r := serve(t, ydbtest.Options{}, "leader")
	s := r.source(Options{Nodes: []string{app}, Files: []NameFile{{Path: path}}})
	r.run(s).synced()
	noError(t, os.WriteFile(path, []byte("leader\n"), 0o600))
	s.Refresh()
	r.Row("", "leader", "there", is(sources.StatusNoLeader))
}

func TestNamesThatWereSeenAreKnownToTheNextRun(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "ydb-names")
	known := func() *KnownNames { return NewKnownNames(folder, "host:2136", "/local") }
	r := serve(t, ydbtest.Options{}, "leader", "other\nname")
	r.watch(Options{Selections: elections("leader", "other\nname", "absent"), Known: known()}).synced()
	r.Stop()
	if names := known().Names(t.Context(), app); !slices.Equal(names, []string{"leader", "other\nname"}) {
		t.Errorf("known are %q", names)
	}
	if names := NewKnownNames(folder, "elsewhere:2136", "/local").Names(t.Context(), app); len(names) > 0 {
		t.Errorf("elsewhere %q are known", names)
	}
	r.run(r.source(Options{Nodes: []string{app}, Known: known()})).synced()
	r.About(app, "known names", func(a sources.About) bool {
		return len(a.Warnings) == 2 && strings.HasPrefix(a.Warnings[1], "names known from before: leader, other")
	})
}

func TestKnownNamesAreBoundedAndEachIsWrittenOnce(t *testing.T) {
	t.Parallel()
	known := NewKnownNames(filepath.Join(t.TempDir(), "ydb-names"), "h", "/d")
	var names []string
	for i := range mostKnown + 10 {
		names = append(names, fmt.Sprint("job-", i))
	}
	for range 2 {
		noError(t, known.Add(t.Context(), app, names))
	}
	data, err := os.ReadFile(filepath.Join(known.folder, known.file(app)))
	if err != nil || strings.Count(string(data), "\n") != mostKnown {
		t.Errorf("%d lines, %v", strings.Count(string(data), "\n"), err)
	}
}
