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
				{"coord/a.go": "package coord\nimport _ \"coordtop/ui\"\n"},
				{"sources/ydbsource/a.go": "package ydbsource\nimport _ \"coordtop/sources/pgsource\"\n"},
				{"news/a.go": "package news\n"},
				{"ui/dialog/a.go": "package dialog\nimport _ \"coordtop/ui\"\n"},
				{"ui/screen/a.go": "package screen\nimport _ \"coordtop/ui/dialog\"\n"},
				{"ui/keys/a.go": "package keys\nimport _ \"coordtop/ui/rows\"\n"},
				{"ui/rows/a.go": "package rows\nimport _ \"coordtop/ui/screen\"\n"},
				{"ui/paint/a.go": "package paint\nimport _ \"coordtop/ui/cursor\"\n"},
				{"ui/terminal/a.go": "package terminal\nimport _ \"coordtop/ui/cursor\"\n"},
			},
			keeps: map[string]string{"sources/ydbsource/a.go": "package ydbsource\nimport _ \"coordtop/coord/ydbcoord\"\n"},
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

// directions says what the packages of a folder may import of this module, beside internal/ground/lazy:
// path.Match patterns. The first rule that matches a folder counts. Tests may import more; the
// rules hold for what is shipped.
func directions() []direction {
	return []direction{
		{".", []string{"internal/app"}},
		{"coord", []string{"internal/ground/backoff", "internal/ground/failure", "internal/ground/spawn", "internal/ground/suspend"}},
		{"coord/coordtest", []string{"coord", "internal/ground/backoff", "internal/ground/failure"}},
		{"coord/internal/lifetime", []string{"coord", "internal/ground/spawn"}},
		{"coord/*coord", []string{"coord", "coord/internal/lifetime", "internal/ground/address", "internal/ground/backoff", "internal/ground/certs", "internal/ground/dflockwire", "internal/ground/failure", "internal/ground/legible", "internal/ground/mask", "internal/ground/pgwire", "internal/ground/respwire", "internal/ground/spawn"}},
		{"sources", []string{"coord", "internal/ground/backoff", "internal/ground/format", "sources/lane", "internal/ground/mask", "internal/ground/spawn"}},
		{"sources/kit", []string{"sources", "internal/ground/failure", "internal/ground/format", "internal/ground/identify", "internal/ground/mask", "internal/ground/spawn"}},
		{"sources/tape", []string{"sources", "sources/tape/internal/pack"}},
		{"sources/tape/internal/pack", nil},
		{"sources/sourcetest/filled", []string{"sources"}},
		{"sources/sourcetest", []string{"sources", "sources/tape", "internal/ground/backoff", "internal/ground/raced"}},
		{"sources/redissource/lockformat", []string{"sources", "coord/rediscoord", "internal/ground/legible"}},
		{"sources/*source", []string{"sources", "sources/kit", "sources/redissource/lockformat", "coord/*coord", "internal/ground/backoff", "internal/ground/dflockwire", "internal/ground/files", "internal/ground/format", "internal/ground/glob", "internal/ground/identify", "internal/ground/mask", "internal/ground/pgwire", "internal/ground/respwire", "internal/ground/spawn"}},
		{"ui", []string{"ui/*", "sources", "sources/verdict", "internal/action", "internal/ground/address", "internal/ground/format", "internal/history", "internal/history/trouble", "sources/lane", "internal/ground/spawn"}},
		{"ui/terminal", []string{"internal/ground/spawn"}},
		{"ui/dialog", []string{"ui/screen", "ui/rows", "ui/keys", "ui/paint", "sources", "sources/verdict", "internal/action", "internal/ground/address", "internal/ground/format", "internal/ground/spawn"}},
		{"ui/screen", []string{"ui/rows", "ui/keys", "ui/paint", "ui/filter", "ui/cursor", "ui/timeline", "sources", "internal/action", "internal/ground/format", "internal/help", "internal/history", "internal/history/trouble", "sources/lane", "sources/verdict"}},
		{"ui/keys", []string{"internal/ground/address"}},
		{"ui/rows", []string{"ui/paint", "ui/filter", "sources", "internal/action", "sources/verdict"}},
		{"ui/paint", []string{"ui/timeline", "sources", "internal/ground/format", "sources/verdict"}},
		{"ui/uitest", []string{"sources", "sources/sourcetest", "internal/action"}},
		{"ui/filter", []string{"internal/ground/address", "internal/ground/format"}},
		{"ui/cursor", nil},
		{"ui/timeline", []string{"sources", "sources/lane"}},
		{"internal/action", []string{"sources", "internal/ground/format"}},
		{"internal/operate", []string{"coord", "sources", "internal/action", "internal/ground/backoff", "internal/ground/failure", "internal/ground/files", "internal/ground/format", "internal/ground/spawn", "internal/ground/suspend"}},
		{"internal/foreground", []string{"sources", "internal/action", "internal/ground/failure", "internal/ground/format", "internal/headless", "internal/ground/spawn"}},
		{"internal/history", []string{"sources", "sources/tape", "internal/action", "internal/ground/format", "sources/lane", "internal/ground/spawn"}},
		{"internal/history/historytest", []string{"sources", "sources/sourcetest", "internal/history"}},
		{"internal/history/recordtest", []string{"sources", "sources/tape", "internal/history", "internal/history/record", "internal/history/sqlite"}},
		{"internal/history/report", []string{"sources", "internal/history", "internal/history/trouble", "internal/ground/format", "sources/lane"}},
		{"internal/history/record", []string{"sources", "sources/tape", "internal/history", "internal/action", "internal/ground/backoff", "internal/ground/spawn"}},
		{"internal/history/*", []string{"sources", "sources/tape", "internal/history", "internal/ground/files", "internal/ground/format", "sources/lane", "internal/ground/spawn"}},
		{"internal/ground/address", nil},
		{"internal/ground/backoff", nil},
		{"internal/ground/certs", []string{"internal/ground/files", "internal/ground/format"}},
		{"internal/ground/dflockwire", []string{"internal/ground/failure", "internal/ground/spawn"}},
		{"internal/doctor", []string{"sources/kit", "sources", "internal/ground/address", "internal/ground/format"}},
		{"internal/ground/failure", nil},
		{"internal/ground/files", []string{"internal/ground/format", "internal/ground/spawn"}},
		{"internal/ground/format", nil},
		{"internal/ground/glob", nil},
		{"internal/help", []string{"internal/ground/format"}},
		{"internal/ground/identify", []string{"internal/ground/address", "internal/ground/spawn"}},
		{"sources/lane", []string{"internal/ground/format"}},
		{"internal/ground/legible", nil},
		{"internal/lint", nil},
		{"internal/ground/mask", nil},
		{"internal/ground/raced", nil},
		{"internal/ground/respwire", []string{"internal/ground/format"}},
		{"internal/ground/spawn", nil},
		{"internal/ground/pgwire", []string{"internal/ground/failure", "internal/ground/format", "internal/ground/spawn"}},
		{"internal/ground/schematest", nil},
		{"internal/shots", nil},
		{"internal/truth", nil},
		{"internal/incidents", nil},
		{"sources/verdict", []string{"sources", "internal/ground/format"}},
		{"internal/ground/suspend", nil},
		{"internal/ground/lazy", nil},
		{"internal/localserver", []string{"internal/ground/spawn"}},
		{"internal/emulator/*test", []string{"internal/emulator/network"}},
		{"internal/emulator/network", nil},
		{"internal/config", []string{"internal/ground/address", "internal/ground/certs", "internal/ground/files", "internal/ground/format", "internal/ground/legible", "internal/ground/spawn", "sources"}},
		{"internal/headless", []string{"sources", "internal/ground/address", "internal/ground/format", "internal/history", "sources/lane", "sources/verdict"}},
		{"internal/demo", []string{"coord", "coord/*coord", "internal/ground/backoff", "internal/localserver", "internal/ground/spawn", "internal/emulator/*"}},
		{"internal/app", []string{"coord", "sources", "sources/kit", "ui", "ui/keys", "internal/*", "internal/ground/*", "internal/history/*", "internal/app/backends", "sources/lane", "sources/verdict"}},
		{"internal/app/backends", []string{
			"coord", "coord/*coord", "sources", "sources/*source", "internal/action", "internal/ground/address", "internal/ground/certs", "internal/config", "internal/ground/files", "internal/ground/format", "internal/ground/glob", "internal/operate",
		}},
	}
}

type direction struct {
	dir   string
	allow []string
}

func pointDownwards(files []file) []string {
	var wrong []string
	rules := directions()
	for _, f := range files {
		if f.test {
			continue
		}
		i := slices.IndexFunc(rules, func(d direction) bool { ok, _ := path.Match(d.dir, f.dir); return ok })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: no rule says what packages in %q may import: add one to directions", f.path, f.dir))
			continue
		}
		for _, p := range f.own() {
			if p != "internal/ground/lazy" && !matchesAny(rules[i].allow, p) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s; %q may import only %q", f.path, p, f.dir, rules[i].allow))
			}
		}
	}
	return wrong
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
