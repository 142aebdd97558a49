//go:build !race

package lint_test

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

func callRules() []rule {
	return []rule{
		{
			name: "no package starts itself", check: noInit,
			breaks: []map[string]string{{"a/a.go": "package a\nfunc init() {}\n"}},
			keeps:  map[string]string{"a/a.go": "package a\ntype t int\nfunc (t) init() {}\n"},
		},
		{
			name: "nothing sleeps outside the demo and bubbles", check: noSleep,
			breaks: []map[string]string{
				{"a/a.go": "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"},
				{"a/a_test.go": "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n"},
				{"a/a.go": "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", "a/a_test.go": "package a\nimport _ \"testing/synctest\"\n"},
			},
			keeps: map[string]string{
				"a/a_test.go": "package a\nimport _ \"testing/synctest\"\n", "a/b_test.go": "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }\n",
				"internal/demo/a.go": "package demo\nimport \"time\"\nfunc f() { time.Sleep(1) }\n",
			},
		},
		{
			name: "package sources takes the time from its clock", check: sourcesTakeTheTime,
			breaks: []map[string]string{{"sources/a.go": "package sources\nimport \"time\"\nvar now = time.Now()\n"}},
			keeps: map[string]string{
				"sources/clock.go": "package sources\nimport \"time\"\nvar now = time.Now()\n", "sources/pgsource/a.go": "package pgsource\nimport \"time\"\nvar now = time.Now()\n",
			},
		},
		{
			name: "regular expressions are compiled when they are needed", check: compileLate,
			breaks: []map[string]string{{"a/a.go": "package a\nimport \"regexp\"\nvar x = regexp.MustCompile(`x`)\n"}},
			keeps: map[string]string{
				"a/a_test.go": "package a\nimport \"regexp\"\nvar x = regexp.MustCompile(`x`)\n", "internal/ground/lazy/a.go": "package lazy\nimport \"regexp\"\nvar x = regexp.MustCompile(`x`)\n",
			},
		},
		{
			name: "a test that runs alone says so itself", check: aloneInTests,
			breaks: []map[string]string{{"a/a_test.go": "package a\nimport (\n\"coordtop/internal/ground/raced\"\n\"testing\"\n)\nfunc start(t *testing.T) { raced.Alone(t, \"\") }\n"}},
			keeps:  map[string]string{"a/a_test.go": "package a\nimport (\n\"coordtop/internal/ground/raced\"\n\"testing\"\n)\nfunc TestA(t *testing.T) { raced.Alone(t, \"\") }\n"},
		},
		{
			name: "a context comes first", check: contextFirst,
			breaks: []map[string]string{
				{"a/a.go": "package a\nimport \"context\"\nfunc f(n int, ctx context.Context) {}\n"},
				{"a/a.go": "package a\nimport \"context\"\ntype t interface { f(n int, ctx context.Context) }\n"},
			},
			keeps: map[string]string{"a/a.go": "package a\nimport (\n\"context\"\n\"testing\"\n)\n" +
				"func f(ctx, life context.Context, n int) {}\nfunc g(t testing.TB, ctx context.Context) {}\n"},
		},
	}
}

func noInit(files []file) []string {
	var wrong []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				wrong = append(wrong, f.path+" has an init function")
			}
		}
	}
	return wrong
}

// noSleep cannot see whether a line runs in a bubble: it takes that for granted in the
// tests of a package that makes bubbles, and in a file of test helpers that does.
func noSleep(files []file) []string {
	bubbles := map[string]bool{}
	for _, f := range files {
		if f.test && slices.Contains(f.imports(), "testing/synctest") {
			bubbles[f.dir] = true
		}
	}
	var wrong []string
	for _, f := range files {
		if f.dir == "internal/demo" || f.test && bubbles[f.dir] || slices.Contains(f.imports(), "testing/synctest") {
			continue
		}
		for _, c := range f.calls("time", "Sleep") {
			wrong = append(wrong, fmt.Sprintf("%s sleeps: wait for the event, or with backoff.Sleep", f.at(c)))
		}
	}
	return wrong
}

// sourcesTakeTheTime keeps a Hub such that the same inputs make the same states.
func sourcesTakeTheTime(files []file) []string {
	var wrong []string
	for _, f := range files {
		if f.test || f.dir != "sources" || f.path == "sources/clock.go" {
			continue
		}
		for _, c := range f.calls("time", "Now", "Since", "Until") {
			wrong = append(wrong, fmt.Sprintf("%s calls time.%s: a replay would read another time; ask the Hub's Clock", f.at(c), c.Sel.Name))
		}
	}
	return wrong
}

// compileLate keeps the start of the program short.
func compileLate(files []file) []string {
	var wrong []string
	for _, f := range files {
		if f.test || f.dir == "internal/ground/lazy" {
			continue
		}
		for _, c := range f.calls("regexp", "MustCompile") {
			wrong = append(wrong, f.at(c)+" compiles an expression at the start, or each time: use lazy.Regexp")
		}
	}
	return wrong
}

func contextFirst(files []file) []string {
	var wrong []string
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			fn, ok := n.(*ast.FuncType)
			if !ok {
				return true
			}
			first := true
			for _, p := range fn.Params.List {
				switch pkg, name := qualified(p.Type); {
				case pkg == "testing":
				case pkg == "context" && name == "Context":
					if !first {
						wrong = append(wrong, fmt.Sprintf("%s: a context is not the first parameter", f.at(fn)))
					}
				default:
					first = false
				}
			}
			return true
		})
	}
	return wrong
}

// qualified takes pkg.Name, or a pointer to it, apart.
func qualified(e ast.Expr) (pkg, name string) {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if x, ok := sel.X.(*ast.Ident); ok {
			return x.Name, sel.Sel.Name
		}
	}
	return "", ""
}

// aloneInTests finds calls of raced.Alone outside of the function of a test: make test finds the names of those that it
// runs without the race detector by these calls.
func aloneInTests(files []file) []string {
	var wrong []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				s, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || s.Sel.Name != "Alone" {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "raced" {
					wrong = append(wrong, fmt.Sprintf("%s: %s calls raced.Alone; the Test functions that call it must", f.path, fn.Name.Name))
				}
				return true
			})
		}
	}
	return wrong
}
