//go:build !race

package lint_test

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

func wordRules() []rule {
	return []rule{
		{
			name: "comments and names use the project's words", check: plainWords,
			breaks: []map[string]string{
				{"a/a.go": "package a\n// f asks the holder.\nfunc f() {}\n"},
				{"a/a.go": "package a\ntype lockHolder int\n"},
				{"a/a.go": "package a\nvar masterKey int\n"},
				{"a/a.go": "package a\n// f renews the token.\nfunc f() {}\n"},
				{"coord/pgcoord/a.go": "package pgcoord\ntype helpDesk int\n"},
			},
			keeps: map[string]string{
				"a/a.go":                   "package a\n// f gives placeholders.\nfunc f() { println(\"holder\") }\n",
				"sources/redissource/a.go": "package redissource\n// f asks the Sentinels for the master.\nfunc f() {}\n",
			},
		},
		{
			name: "comments say it plainly", check: plainPhrases,
			breaks: []map[string]string{
				{"a/a.go": "package a\n// f returns all that\n// there are.\nfunc f() {}\n"},
				{"a/a.go": "package a\n// f sees to it.\nfunc f() {}\n"},
				{"a/a.go": "package a\n// f says that it is over.\nfunc f() {}\n"},
			},
			keeps: map[string]string{"a/a.go": "package a\n// f reports that it is over.\nfunc f() { println(\"says that\") }\n"},
		},
		{
			name: "a package is named for what it provides", check: packageNames,
			breaks: []map[string]string{{"a/util/doc.go": "package util\n"}, {"a/common/doc.go": "package common\n"}, {"a/types/doc.go": "package types\n"}},
			keeps:  map[string]string{"a/format/doc.go": "package format\n"},
		},
	}
}

// banned are words that mean too many things here; CONVENTIONS say which to use instead.
// Where a protocol or another program has the word, it is the right one. Texts are not
// looked at: they quote servers.
func banned() []bannedWord {
	return []bannedWord{
		{"holder", "owner", nil},
		{"master", "owner, leader or primary", []string{
			"coord/rediscoord", "sources/redissource", "sources", // Redis's and Sentinel's own word, and a role that Redis names
			"internal/localserver", // the name of Postgres's first process
			"ui", "internal/app",   // the program's end of a terminal, in tests
		}},
		{"token", "nonce, permit or fence", []string{
			"internal/lint", "internal/config", "ui/filter", "internal/ground/mask", // of a parser
			"coord/ydbcoord", "sources/ydbsource", "internal/emulator/*", "internal/app", "internal/app/backends", // what YDB calls a login
			"coord/dflockwire", "coord/dflockcoord", // and dflockd its shared secret, --auth-token
			"coord", // and its client a nonce: the table in coord/doc.go
		}},
		// Words that were names in coord and its drivers and that nobody would search for.
		{"desk", "observer", []string{"internal/app", "internal/ground/legible", "internal/ground/mask", "internal/operate"}}, // what people sit at
		{"ghost", "candidate or leftover", nil},
		{"glitch", "transient error", nil},
		{"knock", "check", nil},
		{"teller", "notifier", nil},
		// And in sources.
		{"foresee", "complete", nil},
		{"darken", "begin dark", nil},
		{"lighten", "end dark", nil},
		{"obscure", "begin unknown", nil},
		{"waver", "differ", nil},
		{"ears", "notifications", nil},
		{"rouse", "wake", nil},
	}
}

type bannedWord struct {
	word, instead string
	dirs          []string // where it may be used
}

var (
	letters = regexp.MustCompile(`[A-Za-z]+`)
	humps   = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)
)

func plainWords(files []file) []string {
	var wrong []string
	for _, f := range files {
		bad := func(n ast.Node, words []string) {
			for _, b := range banned() {
				if (slices.Contains(words, b.word) || slices.Contains(words, b.word+"s")) && !matchesAny(b.dirs, f.dir) {
					wrong = append(wrong, fmt.Sprintf("%s says %s: write %s", f.at(n), b.word, b.instead))
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				bad(n, humps.FindAllString(lowerHumps(n.Name), -1))
			case *ast.Comment:
				bad(n, letters.FindAllString(strings.ToLower(n.Text), -1))
			}
			return true
		})
	}
	return wrong
}

// phrases are turns of speech in comments, and what says the same plainly.
func phrases() map[string]string {
	return map[string]string{
		"that there is":  "name the thing: \"no primitive of this name exists\"",
		"that there are": "name the things: \"all columns\"",
		"sees to it":     "say what it does: \"makes sure\", \"wakes the publisher\"",
		"says that":      "\"reports that\"",
	}
}

func plainPhrases(files []file) []string {
	var wrong []string
	for _, f := range files {
		for _, c := range f.ast.Comments {
			text := strings.ToLower(strings.Join(strings.Fields(c.Text()), " "))
			for phrase, instead := range phrases() {
				if strings.Contains(text, phrase) {
					wrong = append(wrong, fmt.Sprintf("%s says %q: %s", f.at(c), phrase, instead))
				}
			}
		}
	}
	return wrong
}

// lowerHumps writes lastSeen as "last seen".
func lowerHumps(name string) string {
	return strings.ToLower(strings.Join(humps.FindAllString(name, -1), " "))
}

func packageNames(files []file) []string {
	var wrong []string
	vague := []string{"util", "utils", "common", "types", "models", "helpers", "misc"}
	seen := map[string]bool{}
	for _, f := range files {
		if !seen[f.dir] && (slices.Contains(vague, f.ast.Name.Name) || slices.Contains(vague, path.Base(f.dir))) {
			wrong = append(wrong, fmt.Sprintf("the package in %q is named for nothing that it provides", f.dir))
		}
		seen[f.dir] = true
	}
	return wrong
}
