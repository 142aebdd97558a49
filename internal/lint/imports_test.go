//go:build !race

package lint_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

func importRules() []rule {
	return []rule{
		{
			name: "imports point downwards", check: pointDownwards,
			breaks: []map[string]string{
				{"coord/doc.go": "// Package coord is.\n//\n// It may import internal/ground/spawn.\npackage coord\nimport _ \"coordtop/ui\"\n"},
				{"ui/dialog/doc.go": "// Package dialog is.\n//\n// It may import nothing of this module.\npackage dialog\nimport _ \"coordtop/ui\"\n"},
				{"sources/ydbsource/doc.go": "// Package ydbsource is.\n//\n// It may import sources, coord/*coord.\npackage ydbsource\nimport _ \"coordtop/sources/pgsource\"\n"},
				{"news/doc.go": "// Package news is.\npackage news\n"},
			},
			keeps: map[string]string{"sources/ydbsource/doc.go": "// Package ydbsource is.\n//\n// It may import sources, coord/*coord.\npackage ydbsource\nimport _ \"coordtop/coord/ydbcoord\"\n"},
		},
		{
			name: "nothing imports the program", check: nothingImportsTheProgram,
			breaks: []map[string]string{{"ui/a_test.go": "package ui\nimport _ \"coordtop/internal/app\"\n"}},
			keeps:  map[string]string{"main.go": "package main\nimport _ \"coordtop/internal/app\"\n"},
		},
		{
			name: "of pgx only the connection is in the program", check: onlyTheConnectionOfPgx,
			breaks: []map[string]string{{"a/a.go": "package a\nimport _ \"github.com/jackc/pgx/v5\"\n"}},
			keeps: map[string]string{
				"a/a.go": "package a\nimport _ \"github.com/jackc/pgx/v5/pgconn\"\n", "a/a_test.go": "package a\nimport _ \"github.com/jackc/pgx/v5\"\n",
			},
		},
	}
}

// onlyTheConnectionOfPgx keeps 2.8 MB out of the program: pgx.Conn brings a codec for each type.
func onlyTheConnectionOfPgx(files []file) []string {
	var wrong []string
	for _, f := range files {
		if !f.test && slices.Contains(f.imports(), "github.com/jackc/pgx/v5") {
			wrong = append(wrong, f.path+" imports the whole of pgx: use its pgconn")
		}
	}
	return wrong
}

// pointDownwards finds imports of this module that the doc.go of a package does not name in its sentence "It may import
// a, b/*." The elements are patterns of path.Match. Tests may import more, and anybody internal/ground/lazy.
func pointDownwards(files []file) []string {
	var wrong []string
	allowed := map[string][]string{}
	for _, f := range files {
		if path.Base(f.path) == "doc.go" {
			allowed[f.dir] = mayImport(f.ast.Doc.Text())
		}
	}
	for _, f := range files {
		if f.test || f.path == "main.go" {
			continue
		}
		if allowed[f.dir] == nil {
			wrong = append(wrong, fmt.Sprintf("%s: the doc.go in %q has no sentence that begins with: It may import", f.path, f.dir))
			continue
		}
		for _, p := range f.own() {
			if p != "internal/ground/lazy" && !matchesAny(allowed[f.dir], p) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s; its doc.go says that %q may import only %q", f.path, p, f.dir, allowed[f.dir]))
			}
		}
	}
	return wrong
}

// mayImport are the patterns of the sentence in a doc; nil: it has none.
func mayImport(doc string) []string {
	_, list, ok := strings.Cut(strings.Join(strings.Fields(doc), " "), "It may import ")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list+" ", ". ")
	return strings.Split(list, ", ")
}

func nothingImportsTheProgram(files []file) []string {
	var wrong []string
	for _, f := range files {
		if f.path != "main.go" && f.dir != "internal/app" && slices.Contains(f.own(), "internal/app") {
			wrong = append(wrong, f.path+" imports internal/app")
		}
	}
	return wrong
}

func screenRules() []rule {
	return []rule{
		{
			name: "screens import what they need and no network", check: screensImport,
			breaks: []map[string]string{
				{"ui/a.go": "package ui\nimport _ \"net\"\n"},
				{"ui/cursor/a.go": "package cursor\nimport _ \"os/exec\"\n"},
				{"ui/a.go": "package ui\nimport _ \"github.com/redis/go-redis/v9\"\n"},
			},
			keeps: map[string]string{"ui/a.go": "package ui\nimport (\n_ \"strings\"\n_ \"charm.land/lipgloss/v2\"\n)\n"},
		},
		{
			name: "screens take the time from their feed", check: screensTakeTheTime,
			breaks: []map[string]string{{"ui/a.go": "package ui\nimport \"time\"\nvar now = time.Now()\n"}},
			keeps:  map[string]string{"ui/a_test.go": "package ui\nimport \"time\"\nvar now = time.Now()\n"},
		},
		{
			name: "text fields are edited where their panics are caught", check: fieldsAreGuarded,
			breaks: []map[string]string{
				{"ui/dialog/a.go": "package dialog\nimport _ \"charm.land/bubbles/v2/textinput\"\n"},
				{"ui/a.go": "package ui\nimport _ \"charm.land/bubbles/v2/textarea\"\n"},
			},
			keeps: map[string]string{guardedFields: "package dialog\nimport (\n_ \"charm.land/bubbles/v2/textinput\"\n_ \"charm.land/bubbles/v2/textarea\"\n)\n"},
		},
	}
}

// foreign is what the screens may import that is neither ours nor Go's; the second list
// is for what helps to test them.
func foreign() (shipped, tests []string) {
	shipped = []string{"charm.land/bubbletea/v2", "charm.land/bubbles/v2/*", "charm.land/lipgloss/v2", "github.com/charmbracelet/colorprofile", "github.com/charmbracelet/x/*", "golang.org/x/sys/unix"}
	return shipped, append(shipped, "github.com/charmbracelet/ultraviolet", "github.com/creack/pty", "go.uber.org/goleak", "pgregory.net/rapid")
}

func inUI(f file) bool { return f.dir == "ui" || strings.HasPrefix(f.dir, "ui/") }

// screensImport keeps the state of the screens behind an interface: they cannot reach a
// network, and what else they build on is decided here.
func screensImport(files []file) []string {
	var wrong []string
	network := []string{"net", "net/*", "os/exec"}
	shipped, tests := foreign()
	for _, f := range files {
		if !inUI(f) {
			continue
		}
		allow := tests
		if f.shipped() {
			allow = shipped
		}
		for _, p := range f.imports() {
			first, _, _ := strings.Cut(p, "/")
			theirs := strings.Contains(first, ".")
			if f.shipped() && matchesAny(network, p) || theirs && !matchesAny(allow, p) {
				wrong = append(wrong, f.path+" imports "+p)
			}
		}
	}
	return wrong
}

func screensTakeTheTime(files []file) []string {
	var wrong []string
	for _, f := range files {
		if f.test || !inUI(f) {
			continue
		}
		for _, c := range f.calls("time", "Now", "Since", "Until") {
			wrong = append(wrong, fmt.Sprintf("%s calls time.%s: a replay shows another time than now", f.at(c), c.Sel.Name))
		}
	}
	return wrong
}

// guardedFields is the file in which a panic of a text field of bubbles costs one edit.
const guardedFields = "ui/dialog/textinput.go"

func fieldsAreGuarded(files []file) []string {
	var wrong []string
	for _, f := range files {
		if !f.shipped() || f.path == guardedFields {
			continue
		}
		for _, p := range f.imports() {
			if p == "charm.land/bubbles/v2/textinput" || p == "charm.land/bubbles/v2/textarea" {
				wrong = append(wrong, f.path+" imports "+p+": use the lines of "+guardedFields)
			}
		}
	}
	return wrong
}
